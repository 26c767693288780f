import { DownloadError, type DownloadedFile } from './fetchFile';

/** Pauses before the last tries, in milliseconds. */
const PAUSES = [2_000, 6_000, 12_000];

/** What became of a download: the file, or why there is none. */
export type Download = DownloadedFile | Error;

/** Finds a fresh link to a file; undefined if there is none. */
export type GetLink = () => Promise<string | undefined>;

/** Whether a fresh link, or another try, may help. */
export const mayPass = (download: Download): boolean =>
	download instanceof DownloadError && download.passes;

/** A download that failed, and how to repeat it. */
interface Failed {
	url: string;
	getLinks: GetLink[];
	fetch: (url: string) => Promise<Download>;
	rest: (milliseconds: number) => Promise<void>;
}

/** Tries a download again: at once by fresh links, then after pauses by the last one. */
export async function downloadAgain(
	first: Download,
	{ url, getLinks, fetch, rest }: Failed,
): Promise<Download> {
	let last = first;
	let link = url;
	for (const getLink of getLinks) {
		const fresh = await getLink().catch(() => undefined);
		if (fresh === undefined || fresh === url) continue;
		link = fresh;
		last = await fetch(link);
		if (!mayPass(last)) return last;
	}
	for (const length of PAUSES) {
		await rest(length);
		last = await fetch(link);
		if (!mayPass(last)) break;
	}
	return last;
}
