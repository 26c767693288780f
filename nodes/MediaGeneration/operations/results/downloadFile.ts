import { sleep, UserError, type IBinaryData, type IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { USER_AGENT, type RequestSettings } from '../../api/exchange';
import { describeNetworkFailure } from '../../api/networkFailure';
import { toMessage } from '../../api/schemas';
import { storeFile } from '../../host/storeFile';
import { isInternalUrl, isWebUrl } from '../../lib/url';
import { chooseFileType } from '../../media/formats';

const MAX_REDIRECTS = 5;

/** Statuses of a host that refuses a file, or no longer has it. */
const REFUSED = new Set([401, 403, 404, 410]);

/** The service that gave the links, and the parts of n8n, also in a webhook. */
export interface FileSource {
	service: TaskService;
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest' | 'prepareBinaryData'>;
	settings: RequestSettings;
	/** Ends downloads when the execution is stopped. */
	signal?: AbortSignal;
}

/** A file that is downloaded: its size in bytes, and how long it took. */
export interface DownloadedFile {
	url: string;
	name: string;
	mimeType: string;
	size: number;
	seconds: number;
	binary: IBinaryData;
}

/** A result file to fetch: its name has no extension, its label stands in messages. */
export interface RemoteFile {
	url: string;
	label: string;
	name: string;
	maxBytes: number;
}

interface Answer {
	statusCode: number;
	headers: Record<string, string | undefined>;
	/** The part of Node's streams that is used here. */
	body: AsyncIterable<Uint8Array> & {
		destroy(): void;
		constructor: { from(chunks: AsyncIterable<Uint8Array>): never };
	};
}

/**
 * Streams a result file into n8n's storage. Its host is not the service, so it gets no token.
 * @returns undefined when the host refuses the link, usually because it has expired
 * @throws {UserError} when the file can't be downloaded, or is too large
 */
export async function downloadFile(
	source: FileSource,
	file: RemoteFile,
): Promise<DownloadedFile | undefined> {
	const begun = Date.now();
	const stalled = new AbortController();
	const answer = await open(source, file, stalled.signal);
	const { statusCode, body } = answer;
	if (statusCode === 200) {
		const stored = await store(source, file, answer, stalled);
		return { url: file.url, ...stored, seconds: (Date.now() - begun) / 1000 };
	}
	body.destroy();
	if (REFUSED.has(statusCode)) return undefined;
	throw buildError(file, `its host ${hostOf(file.url)} answered ${statusCode}`);
}

async function store(
	{ helpers, settings: { timeoutSeconds } }: FileSource,
	file: RemoteFile,
	{ headers, body }: Answer,
	stalled: AbortController,
): Promise<Omit<DownloadedFile, 'url' | 'seconds'>> {
	const { mimeType, extension } = chooseFileType(headers['content-type'], file.url);
	const name = `${file.name}.${extension}`;
	let size = 0;
	async function* limitSize() {
		for await (const chunk of body) {
			size += chunk.length;
			if (size > file.maxBytes) throw buildError(file, explainLimit(file), RAISE_LIMIT);
			yield chunk;
		}
	}
	const isDone = new AbortController();
	// The timeout of n8n's helper covers only the headers.
	const watch = async () => {
		for (let before = -1; before < size; await sleep(timeoutSeconds * 1000, isDone.signal))
			before = size;
		stalled.abort();
	};
	void watch().catch(() => undefined);
	try {
		const stream = body.constructor.from(limitSize());
		const binary = await storeFile(helpers, stream, name, mimeType);
		return { name, mimeType: binary.mimeType, binary, size };
	} catch (error) {
		const what = stalled.signal.aborted ? `sent nothing for ${timeoutSeconds} s` : 'broke off';
		const why = `its host ${hostOf(file.url)} ${what} before the file was complete`;
		throw error instanceof UserError ? error : buildError(file, why);
	} finally {
		isDone.abort();
	}
}

/** Opens a link and follows redirects, but not from the internet into this network. */
async function open(
	{ helpers, service, settings: { timeoutSeconds }, signal }: FileSource,
	file: RemoteFile,
	stalled: AbortSignal,
): Promise<Answer> {
	const request = {
		headers: { 'Accept-Encoding': 'identity', 'User-Agent': USER_AGENT },
		encoding: 'stream' as const,
		timeout: timeoutSeconds * 1000,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: signal ? AbortSignal.any([stalled, signal]) : stalled,
	};
	let [from, at, how] = [service.credentials.baseUrl, file.url, 'the service gave a link to'];
	for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
		if (!isWebUrl(at))
			throw buildError(file, `${how} ${quote(at)}, which is not a web address`, ASK);
		if (isInternalUrl(at) && !isInternalUrl(from))
			throw buildError(file, `${how} ${new URL(at).origin}, an address inside this network`, ASK);
		const answer = (await helpers.httpRequest({ ...request, url: at }).catch((error: unknown) => {
			const { reason, hint } = describeNetworkFailure(error, timeoutSeconds);
			throw buildError(file, `its host ${hostOf(at)} ${reason}`, hint);
		})) as Answer;
		const { location } = answer.headers;
		if (answer.statusCode < 300 || answer.statusCode >= 400 || !location) return answer;
		answer.body.destroy();
		how = `its host ${hostOf(at)} redirected to`;
		[from, at] = [at, URL.canParse(location, at) ? new URL(location, at).href : location];
	}
	throw buildError(file, `its host redirected more than ${MAX_REDIRECTS} times`, ASK);
}

const hostOf = (url: string): string => new URL(url).host;

const quote = (link: string): string => toMessage(JSON.stringify(link));

const explainLimit = ({ maxBytes }: RemoteFile): string =>
	`it is too large: 'Maximum File Size' in Options allows ${maxBytes / 1024 / 1024} MB`;

const ASK = 'Ask the service about the link.';
const RAISE_LIMIT = 'Raise the limit if this n8n has room for the file, then run the node again.';
const LATER =
	'Run the node again later. The service usually keeps a task and its files for a while.';

const buildError = ({ label }: RemoteFile, why: string, description = LATER): UserError =>
	new UserError(`Could not download ${label}: ${why}`, { description });
