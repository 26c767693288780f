import { type IBinaryData, UserError } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { type RequestSettings, USER_AGENT } from '../../api/exchange';
import { findNetworkFailure, SLOW_REMEDY } from '../../api/failure';
import { toMessage } from '../../api/answers';
import type { Call } from '../../host/call';
import { storeFile } from '../../host/http';
import { cutText } from '../../lib/text';
import { joinSignals, settleBy } from '../../lib/timers';
import { isInternalUrl, isWebUrl } from '../../lib/url';
import { readFileType } from '../../media/formats';

const MOST_REDIRECTS = 5;

/** The longest download, in milliseconds. */
const LONGEST_DOWNLOAD = 3_600_000;

/** What a download needs beside the file: the call, its settings, and the service. */
export interface DownloadSetup {
	call: Call;
	settings: RequestSettings;
	/** The service that gave the links. */
	getService: () => Promise<TaskService>;
}

/** A result file to fetch: its name has no extension, its label stands in messages. */
export interface RemoteFile {
	url: string;
	label: string;
	name: string;
	maxBytes: number;
}

/** Why a file could not be downloaded. */
export class DownloadError extends UserError {
	/** The download may succeed some seconds later, or by a fresh link. */
	readonly isTemporary: boolean;

	/** @param remedy absent: try again later */
	constructor({ label }: RemoteFile, why: string, remedy?: string) {
		super(`Could not download ${label}: ${why}`, {
			description:
				remedy ??
				'Try again later. Services keep files for a limited time: download them right behind Generate.',
		});
		this.isTemporary = remedy === undefined;
	}
}

/** Makes the error for a fault of a file's server. @param fault the end of a sentence about the server */
const buildServerError = (file: RemoteFile, url: string, fault: string, remedy?: string) =>
	new DownloadError(file, `its host ${cutText(new URL(url).host)} ${fault}`, remedy);

const ASK_SERVICE = 'Ask the service about the link.';

interface FileAnswer {
	statusCode: number;
	headers: Record<string, string | undefined>;
	/**
	 * The part of Node's streams that is used here. n8n's linter forbids `node:stream`, so `Readable.from`
	 * is taken from the body's class.
	 */
	body: AsyncIterable<Uint8Array> & {
		constructor: { from(chunks: AsyncIterable<Uint8Array>): never };
	};
	/** The URL that answered, after redirects. */
	url: string;
}

/** A file that is downloaded, with its size in bytes. */
export interface DownloadedFile {
	url: string;
	name: string;
	mimeType: string;
	size: number;
	binary: IBinaryData;
}

/**
 * Streams a result file into n8n's storage. The file's server isn't the service, so it gets no token.
 * @throws {DownloadError} when the file can't be downloaded, is empty, too large or too slow
 */
export async function fetchFile(setup: DownloadSetup, file: RemoteFile): Promise<DownloadedFile> {
	const { timeoutSeconds } = setup.settings;
	const end = new AbortController();
	try {
		const opening = openLink(setup, file, end.signal);
		// n8n's timeout has no effect on a server that sends headers byte by byte, or redirects often.
		const answer = await settleBy(Date.now() + timeoutSeconds * 1000, opening);
		if (answer) return await storeAnswer(setup, file, answer);
		throw buildServerError(
			file,
			file.url,
			`gave no answer within ${timeoutSeconds} s`,
			SLOW_REMEDY,
		);
	} finally {
		// Destroying a body that nobody has read leaves its connection open.
		end.abort();
	}
}

async function storeAnswer(
	{ call, settings }: DownloadSetup,
	file: RemoteFile,
	answer: FileAnswer,
) {
	const received = { size: 0 };
	try {
		const claims = { contentType: answer.headers['content-type'], url: file.url };
		const body = receiveBody(file, answer, settings.timeoutSeconds, received);
		const { mimeType, extension, chunks } = await readFileType(body, claims);
		const name = `${file.name}.${extension}`;
		const stream = answer.body.constructor.from(chunks);
		const binary = await storeFile(call.context.helpers, stream, name, mimeType);
		return { url: file.url, name, mimeType: binary.mimeType, ...received, binary };
	} catch (error) {
		const why = `n8n can't store it: ${toMessage((error as Error).message)}`;
		const remedy = "Check the room and the limits of n8n's storage for files.";
		throw error instanceof UserError ? error : new DownloadError(file, why, remedy);
	}
}

/** Reads a body to its end. The timeout of n8n's helper covers only the headers. */
async function* receiveBody(
	file: RemoteFile,
	{ body, url }: FileAnswer,
	timeoutSeconds: number,
	received: { size: number },
) {
	const completeBy = Date.now() + LONGEST_DOWNLOAD;
	const chunks = body[Symbol.asyncIterator]();
	for (;;) {
		const next = await settleBy(Date.now() + timeoutSeconds * 1000, chunks.next()).catch(() => {
			throw buildServerError(file, url, 'broke off before the file was complete');
		});
		if (!next)
			throw buildServerError(file, url, `sent nothing for ${timeoutSeconds} s`, SLOW_REMEDY);
		if (next.done && received.size) return;
		if (next.done) throw buildServerError(file, url, 'sent no bytes');
		if (Date.now() >= completeBy)
			throw buildServerError(file, url, 'took more than an hour', ASK_SERVICE);
		received.size += next.value.length;
		if (received.size > file.maxBytes) {
			const limit = `'Maximum File Size' in Options allows ${file.maxBytes / 1024 / 1024} MB`;
			throw new DownloadError(file, `it is too large: ${limit}`, 'Raise the limit.');
		}
		yield next.value;
	}
}

/** Opens a link and follows redirects, but not from the internet into this network. */
async function openLink(
	{ call, getService, settings: { timeoutSeconds } }: DownloadSetup,
	file: RemoteFile,
	end: AbortSignal,
): Promise<FileAnswer> {
	const request = {
		headers: { 'Accept-Encoding': 'identity', 'User-Agent': USER_AGENT },
		encoding: 'stream' as const,
		timeout: timeoutSeconds * 1000,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: joinSignals(end, call.signal),
	};
	let { url } = file;
	let from: string | undefined;
	for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
		if (!isWebUrl(url))
			throw new DownloadError(file, 'its link leads to what is not a web address', ASK_SERVICE);
		if (isInternalUrl(url) && !isInternalUrl(from ?? (await getService()).credentials.baseUrl))
			throw buildServerError(file, url, 'is inside this network', ASK_SERVICE);
		const asking = call.context.helpers.httpRequest({ ...request, url });
		const answer = (await asking.catch((error: unknown) => {
			const { detail, remedy } = findNetworkFailure(error, timeoutSeconds);
			// With a remedy, the download isn't repeated: without a change of settings it would fail again.
			throw buildServerError(file, url, detail, remedy);
		})) as FileAnswer;
		const {
			statusCode,
			headers: { location },
		} = answer;
		if (statusCode === 200) return { ...answer, url };
		if (statusCode < 300 || statusCode >= 400 || !location)
			throw buildServerError(file, url, `answered ${statusCode}`);
		from = url;
		url = URL.canParse(location, url) ? new URL(location, url).href : location;
	}
	throw buildServerError(file, url, `redirected more than ${MOST_REDIRECTS} times`, ASK_SERVICE);
}
