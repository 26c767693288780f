import { DownloadError, type DownloadedFile } from './fetchFile';

/** Pauses before the last tries, in milliseconds. */
const PAUSES = [2_000, 6_000, 12_000];

/** What became of a download: the file, or why there is none. */
export type Download = DownloadedFile | Error;

/** Finds a fresh link to a file; undefined if there is none. */
export type GetLink = () => Promise<string | undefined>;

const findRepeat = (download: Download) =>
	download instanceof DownloadError ? download.repeat : 'never';

/** Whether a fresh link may help. */
export const isRepeatable = (download: Download): boolean => findRepeat(download) !== 'never';

/** A download that failed, and how to repeat it. */
interface Failed {
	url: string;
	getLinks: GetLink[];
	/** The file is so new that its host may not have it yet. Otherwise, a refused link has expired. */
	isNew: boolean;
	fetch: (url: string) => Promise<Download>;
	rest: (milliseconds: number) => Promise<void>;
}

/**
 * Tries a download again: at once by fresh links, then after pauses by the last link whose failure
 * may pass.
 */
export async function downloadAgain(
	first: Download,
	{ url, getLinks, isNew, fetch, rest }: Failed,
): Promise<Download> {
	const mayPass = (download: Download) =>
		isNew ? isRepeatable(download) : findRepeat(download) === 'always';
	let last = first;
	let link = mayPass(last) && url;
	for (const getLink of getLinks) {
		const fresh = await getLink().catch(() => undefined);
		if (fresh === undefined || fresh === url) continue;
		last = await fetch(fresh);
		if (!isRepeatable(last)) return last;
		if (mayPass(last)) link = fresh;
	}
	for (const length of PAUSES) {
		if (!link) break;
		await rest(length);
		last = await fetch(link);
		if (!mayPass(last)) break;
	}
	return last;
}
