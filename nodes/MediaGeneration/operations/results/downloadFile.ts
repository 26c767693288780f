import {
	sleep,
	UserError,
	type IBinaryData,
	type IExecuteFunctions,
	type IHttpRequestOptions,
} from 'n8n-workflow';
import { describeNetworkFailure } from '../../api/networkFailure';
import { findFormatByExtension, findFormatByType, getExtension } from '../../media/formats';
import type { RequestSettings } from '../../api/exchange';
import { toMessage } from '../../api/schemas';
import { isInternalUrl } from '../../lib/isInternalUrl';
import { isWebUrl } from '../../lib/isWebUrl';

const MAX_REDIRECTS = 5;

/** Statuses of a host that refuses a file, or no longer has it. */
const REFUSED = new Set([401, 403, 404, 410]);

/** The parts of n8n that a download needs. An execution has them, and a webhook too. */
export interface DownloadContext {
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest' | 'prepareBinaryData'>;
	settings: RequestSettings;
	/** Ends downloads when the execution is stopped. */
	signal?: AbortSignal;
}

export interface DownloadedFile {
	url: string;
	name: string;
	mimeType: string;
	/** In bytes. */
	size: number;
	/** The duration of the download. */
	seconds: number;
	binary: IBinaryData;
}

/** The part of Node's streams that is used here. */
interface Incoming extends AsyncIterable<Uint8Array> {
	destroy(): void;
	constructor: { from(chunks: AsyncIterable<Uint8Array>): Incoming };
}

interface Answer {
	statusCode: number;
	headers: Record<string, string | undefined>;
	body: Incoming;
}

/** A result file to fetch. */
interface RemoteFile {
	url: string;
	/** In messages. */
	label: string;
	/** Has no extension. */
	name: string;
	maxBytes: number;
	/** The base URL of the service that returned the link. */
	baseUrl: string;
}

/**
 * Downloads a result file into n8n's storage, streamed. Hosts of results get no token, because they are not the service. Links and
 * redirects are followed, but not from the internet to an address inside this network. The first hop begins at the service's base
 * URL.
 * @returns undefined when the host refuses the link, usually because it has expired
 * @throws {UserError} when the file can't be downloaded, or is too large
 */
export async function downloadFile(
	{ helpers, settings: { timeoutSeconds }, signal: stopped }: DownloadContext,
	{ url, label, name, maxBytes, baseUrl }: RemoteFile,
): Promise<DownloadedFile | undefined> {
	const stalled = new AbortController();
	const begun = Date.now();
	const abortSignal = stopped ? AbortSignal.any([stalled.signal, stopped]) : stalled.signal;
	const get = async (address: string): Promise<Answer> => {
		const request: IHttpRequestOptions = {
			url: address,
			headers: { 'Accept-Encoding': 'identity' },
			encoding: 'stream',
			timeout: timeoutSeconds * 1000,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			abortSignal,
		};
		try {
			return (await helpers.httpRequest(request)) as Answer;
		} catch (error) {
			const { reason, hint } = describeNetworkFailure(error, timeoutSeconds);
			throw buildHostError(label, address, reason, hint);
		}
	};
	checkLink(label, url, baseUrl);
	const { statusCode, headers, body } = await followRedirects(get, url, label);
	if (statusCode !== 200) body.destroy();
	if (REFUSED.has(statusCode)) return undefined;
	if (statusCode !== 200) throw buildHostError(label, url, `answered ${statusCode}`);

	const buildSizeError = (size: string) =>
		new UserError(
			`The file ${label} is ${size}, and 'Maximum File Size' in Options allows ${maxBytes / 1024 / 1024} MB`,
			{
				description: 'Raise the limit if this n8n has room for the file, then run the node again.',
			},
		);
	const announced = Number(headers['content-length']);
	if (announced > getLongestForm(maxBytes)) {
		body.destroy();
		throw buildSizeError(`${Math.ceil(announced / 1024 / 1024)} MB`);
	}
	let size = 0;
	async function* countBytes() {
		for await (const chunk of body) {
			size += chunk.length;
			if (size > maxBytes) throw buildSizeError('too large');
			yield chunk;
		}
	}
	const isDone = new AbortController();
	void abortWhenStalled(stalled, () => size, timeoutSeconds * 1000, isDone.signal);
	const mimeType = readType(headers['content-type'], url);
	const fileName = `${name}.${chooseExtension(mimeType, url)}`;
	try {
		const stream = body.constructor.from(countBytes()) as never;
		const binary = await helpers.prepareBinaryData(stream, fileName, mimeType);
		return { url, name: fileName, mimeType, size, seconds: (Date.now() - begun) / 1000, binary };
	} catch (error) {
		const what = stalled.signal.aborted
			? `sent nothing for ${timeoutSeconds} s before the file was complete`
			: 'broke off before the file was complete';
		throw error instanceof UserError ? error : buildHostError(label, url, what);
	} finally {
		isDone.abort();
	}
}

/**
 * The largest transfer of a file of this size, in bytes. A host may compress it unasked, and n8n's helper doesn't say so.
 * `Content-Length` is then the length of the compressed form, which can be a little longer. A file that ends early needs no check,
 * because Node checks the length.
 */
const getLongestForm = (bytes: number): number => bytes * 1.01 + 1024;

/**
 * Aborts a download that brings nothing within the request timeout. The timeout of n8n's helper covers only the headers. Destroying
 * the stream is not enough, because n8n wraps it.
 */
async function abortWhenStalled(
	stalled: AbortController,
	readSize: () => number,
	timeout: number,
	isDone: AbortSignal,
): Promise<void> {
	for (let before = -1; before < readSize(); ) {
		before = readSize();
		await sleep(timeout, isDone).catch(() => undefined);
		if (isDone.aborted) return;
	}
	stalled.abort();
}

/** @throws {UserError} when a link is no web address, or leads from the internet into this network */
const checkLink = (label: string, link: string, baseUrl: string): void =>
	checkHop(label, 'the service gave a link to', link, baseUrl);

/**
 * @param how how the download got this address, for the message
 * @throws {UserError} when the address can't be fetched, or is inside this network and the one before it is not
 */
function checkHop(label: string, how: string, to: string, from: string): void {
	if (!isWebUrl(to))
		throw new UserError(
			`Could not download ${label}: ${how} ${toMessage(JSON.stringify(to))}, which is not a web address`,
			{ description: 'Ask the service about the link.' },
		);
	if (isInternalUrl(to) && !isInternalUrl(from))
		throw new UserError(
			`Could not download ${label}: ${how} ${new URL(to).origin}, an address inside this network`,
			{
				description:
					"The service is on the internet, so its files can't be inside. Ask the service about the link.",
			},
		);
}

async function followRedirects(
	get: (url: string) => Promise<Answer>,
	url: string,
	label: string,
): Promise<Answer> {
	for (let redirects = 0, at = url; ; redirects++) {
		const answer = await get(at);
		const { location } = answer.headers;
		if (answer.statusCode < 300 || answer.statusCode >= 400 || !location) return answer;
		answer.body.destroy();
		const next = URL.canParse(location, at) ? new URL(location, at).href : location;
		checkHop(label, `its host ${new URL(at).host} redirected to`, next, at);
		if (redirects === MAX_REDIRECTS)
			throw new UserError(
				`Could not download ${label}: its host redirected more than ${MAX_REDIRECTS} times`,
				{ description: 'Ask the service about the link.' },
			);
		at = next;
	}
}

const buildHostError = (
	label: string,
	url: string,
	what: string,
	description = 'Run the node again later. The service usually keeps the task and its files for a while.',
): UserError =>
	new UserError(`Could not download ${label}: its host ${new URL(url).host} ${what}`, {
		description,
	});

const readExtension = (url: string): string | undefined =>
	/\.([a-z\d]{1,5})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase();

const MIME_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/;

/** Uses the type of the file's name if the host only says that it is a file. */
function readType(contentType: string | undefined, url: string): string {
	const type = contentType?.split(';')[0]?.trim().toLowerCase();
	if (type && MIME_TYPE.test(type) && !/^(application|binary)\/octet-stream$/.test(type))
		return type;
	return findFormatByExtension(readExtension(url))?.mimeType ?? 'application/octet-stream';
}

const chooseExtension = (mimeType: string, url: string): string => {
	const format = findFormatByType(mimeType);
	return format ? getExtension(format) : (readExtension(url) ?? 'bin');
};
