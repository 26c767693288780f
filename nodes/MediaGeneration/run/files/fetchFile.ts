import { type IBinaryData, type IExecuteFunctions, UserError } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { type RequestSettings, USER_AGENT } from '../../api/exchange';
import { findNetworkFailure, SLOW_HINT } from '../../api/failure';
import { toMessage, toQuote } from '../../api/schemas';
import { storeFile } from '../../host/http';
import { cutText } from '../../lib/text';
import { joinSignals, settleBy } from '../../lib/timers';
import { isInternalUrl, isWebUrl } from '../../lib/url';
import { readFileType } from '../../media/formats';

const MAX_REDIRECTS = 5;

/** Statuses of a host that refuses a file, does not have it yet, or no longer. */
const REFUSED = new Set([401, 403, 404, 410]);

/** The longest download, in milliseconds. */
export const LONGEST_DOWNLOAD = 3_600_000;

/** The service that gave the links, and the parts of n8n, also in a webhook. */
export interface FileSource {
	getService: () => Promise<TaskService>;
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest' | 'prepareBinaryData'>;
	settings: RequestSettings;
	/** Ends downloads when the execution is stopped. */
	signal?: AbortSignal;
	/** Until when there is time for files, in milliseconds since 1970; absent: no limit. */
	filesBy?: number;
}

/** Why a file could not be downloaded. */
export class DownloadError extends UserError {
	constructor(
		message: string,
		description: string,
		/** The same may succeed some seconds later, or by a fresh link. */
		readonly passes = false,
	) {
		super(message, { description });
	}
}

/** A file that is downloaded, with its size in bytes. */
export interface DownloadedFile {
	url: string;
	name: string;
	mimeType: string;
	size: number;
	binary: IBinaryData;
}

/** A result file to fetch: its name has no extension, its label stands in messages. */
export interface RemoteFile {
	url: string;
	label: string;
	name: string;
	maxBytes: number;
}

interface FileAnswer {
	statusCode: number;
	headers: Record<string, string | undefined>;
	/** The part of Node's streams that is used here. */
	body: AsyncIterable<Uint8Array> & {
		constructor: { from(chunks: AsyncIterable<Uint8Array>): never };
	};
	/** Who answered, after redirects. */
	host: string;
}

/**
 * Streams a result file into n8n's storage. Its host is not the service, so it gets no token.
 * @throws {DownloadError} when the file can't be downloaded, is empty, too large or too slow
 */
export async function fetchFile(source: FileSource, file: RemoteFile): Promise<DownloadedFile> {
	const { timeoutSeconds } = source.settings;
	const until = Date.now() + timeoutSeconds * 1000;
	const over = new AbortController();
	try {
		const opening = open(source, file, over.signal);
		// A host may send headers so slowly, or redirect so often, that n8n's timeout has no effect.
		const answer = await settleBy(until, opening);
		if (!answer) throw buildNetworkError(file, file.url, { code: 'ETIMEDOUT' }, timeoutSeconds);
		const { statusCode, host } = answer;
		if (REFUSED.has(statusCode))
			throw new DownloadError(
				`The link to ${file.label} has expired or is refused, also after the service was asked for a fresh one`,
				'Services keep results for a limited time. Download them right behind Generate.',
				true,
			);
		if (statusCode !== 200)
			throw buildError(file, `its host ${host} answered ${statusCode}`, LATER, true);
		return { url: file.url, ...(await store(source, file, answer)) };
	} finally {
		// Destroying a body that nobody has read leaves its connection open.
		over.abort();
	}
}

async function store(
	{ helpers, settings: { timeoutSeconds } }: FileSource,
	file: RemoteFile,
	answer: FileAnswer,
): Promise<Omit<DownloadedFile, 'url'>> {
	let size = 0;
	async function* receive() {
		for await (const chunk of readChunks(file, answer, timeoutSeconds)) {
			size += chunk.length;
			if (size > file.maxBytes) throw buildTooLarge(file);
			yield chunk;
		}
		if (!size) throw buildError(file, `its host ${answer.host} sent no bytes`, LATER, true);
	}
	try {
		const signs = { contentType: answer.headers['content-type'], url: file.url };
		const { mimeType, extension, chunks } = await readFileType(receive(), signs);
		const name = `${file.name}.${extension}`;
		const stream = answer.body.constructor.from(chunks);
		const binary = await storeFile(helpers, stream, name, mimeType);
		return { name, mimeType: binary.mimeType, binary, size };
	} catch (error) {
		const why = `n8n can't store it: ${toMessage((error as Error).message)}`;
		throw error instanceof UserError ? error : buildError(file, why, STORAGE);
	}
}

/**
 * Reads a body to its end. The timeout of n8n's helper covers only the headers.
 * @throws {UserError} when nothing comes for a Request Timeout, or the end doesn't come in an hour
 */
async function* readChunks(
	file: RemoteFile,
	{ body, host }: FileAnswer,
	timeoutSeconds: number,
): AsyncGenerator<Uint8Array> {
	const until = Date.now() + LONGEST_DOWNLOAD;
	const fail = (why: string, hint?: string, passes?: boolean) =>
		buildError(file, `its host ${host} ${why}`, hint, passes);
	const chunks = body[Symbol.asyncIterator]();
	for (;;) {
		const patience = Math.min(Date.now() + timeoutSeconds * 1000, until);
		const next = await settleBy(patience, chunks.next()).catch(() => {
			throw fail('broke off before the file was complete', LATER, true);
		});
		if (next?.done) return;
		if (Date.now() >= until)
			throw fail('took more than an hour, which is the longest that a download may take');
		if (!next) throw fail(`sent nothing for ${timeoutSeconds} s`, SLOW_HINT);
		yield next.value;
	}
}

/** Opens a link and follows redirects, but not from the internet into this network. */
async function open(
	{ helpers, getService, settings: { timeoutSeconds }, signal }: FileSource,
	file: RemoteFile,
	over: AbortSignal,
): Promise<FileAnswer> {
	const request = {
		headers: { 'Accept-Encoding': 'identity', 'User-Agent': USER_AGENT },
		encoding: 'stream' as const,
		timeout: timeoutSeconds * 1000,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: joinSignals(over, signal),
	};
	let [at, how] = [file.url, 'the service gave a link to'];
	let from: string | undefined;
	for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
		if (!isWebUrl(at))
			throw buildError(file, `${how} ${toQuote(at)}, which is not a web address`, ASK);
		if (isInternalUrl(at) && !isInternalUrl(from ?? (await getService()).credentials.baseUrl))
			throw buildError(
				file,
				`${how} ${new URL(at).protocol}//${hostOf(at)}, an address inside this network`,
				ASK,
			);
		const answer = (await helpers.httpRequest({ ...request, url: at }).catch((error: unknown) => {
			throw buildNetworkError(file, at, error, timeoutSeconds);
		})) as Omit<FileAnswer, 'host'>;
		const { location } = answer.headers;
		if (answer.statusCode < 300 || answer.statusCode >= 400 || !location)
			return { ...answer, host: hostOf(at) };
		how = `its host ${hostOf(at)} redirected to`;
		[from, at] = [at, URL.canParse(location, at) ? new URL(location, at).href : location];
	}
	throw buildError(file, `its host redirected more than ${MAX_REDIRECTS} times`, ASK);
}

const hostOf = (url: string): string => cutText(new URL(url).host);

const ASK = 'Ask the service about the link.';
const RAISE = 'Raise the limit if this n8n has room for the files.';
const STORAGE = "Check the room and the limits of n8n's storage for files.";
const LATER = 'Try again later: the service usually keeps a task and its files for a while.';

const buildError = (
	{ label }: RemoteFile,
	why: string,
	description = LATER,
	passes?: boolean,
): DownloadError => new DownloadError(`Could not download ${label}: ${why}`, description, passes);

function buildTooLarge(file: RemoteFile): DownloadError {
	const megabytes = file.maxBytes / 1024 / 1024;
	const why = `it is too large: 'Maximum File Size' in Options allows ${megabytes} MB`;
	return buildError(file, why, RAISE);
}

function buildNetworkError(file: RemoteFile, url: string, error: unknown, seconds: number) {
	const { detail, next } = findNetworkFailure(error, seconds);
	// What needs a change of settings would fail again.
	return buildError(file, `its host ${hostOf(url)} ${detail}`, next, next === undefined);
}
