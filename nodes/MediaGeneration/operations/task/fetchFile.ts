import type { IBinaryData, IHttpRequestOptions } from 'n8n-workflow';
import { extensionOf, formatOfExtension, formatOfType } from '../../media/formats';
import { disconnectionOf } from '../../service/connection';
import { OperationError, type Item } from '../operation';
import { isInternalUrl } from './reachable';

const MAX_REDIRECTS = 5;

/** Answers of a host that does not give a file out (any more). */
const REFUSED = new Set([401, 403, 404, 410]);

export interface FetchedFile {
	url: string;
	name: string;
	mimeType: string;
	/** In bytes. */
	size: number;
	binary: IBinaryData;
}

/** What this file uses of a stream of Node's. */
interface Incoming extends AsyncIterable<Uint8Array> {
	destroy(): void;
	constructor: { from(chunks: AsyncIterable<Uint8Array>): Incoming };
}

interface Answer {
	statusCode: number;
	headers: Record<string, string | undefined>;
	body: Incoming;
}

/**
 * Fetches a result file into n8n's storage, streamed. Result hosts are not the service: they are sent no token.
 * Redirects are followed, but not from the internet into a network that only this machine can reach.
 * @param file its name is given without an extension
 * @returns undefined when the host refuses the link, as it does when it has expired
 * @throws {OperationError} when the file can't be had, or is larger than it may be
 */
export async function fetchFile(
	{ context, settings }: Item,
	{ url, name, maxBytes }: { url: string; name: string; maxBytes: number },
): Promise<FetchedFile | undefined> {
	const get = async (address: string): Promise<Answer> => {
		const request: IHttpRequestOptions = {
			url: address,
			encoding: 'stream',
			timeout: settings.timeoutSeconds * 1000,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
		};
		try {
			return (await context.helpers.httpRequest(request)) as Answer;
		} catch (error) {
			throw hostFailure(name, address, disconnectionOf(error, settings.timeoutSeconds).what);
		}
	};
	const { statusCode, headers, body } = await followed(get, url, name);
	if (statusCode !== 200) body.destroy();
	if (REFUSED.has(statusCode)) return undefined;
	if (statusCode !== 200) throw hostFailure(name, url, `answered ${statusCode}`);

	const tooLarge = (size: string) =>
		new OperationError(
			`The file ${name} is ${size}, and Maximum File Size in Options allows ${maxBytes / 1024 / 1024} MB`,
			'Raise the limit if this n8n has room for the file, then run the node again.',
		);
	const declared = Number(headers['content-length']);
	if (declared > maxBytes) {
		body.destroy();
		throw tooLarge(`${Math.ceil(declared / 1024 / 1024)} MB`);
	}
	let size = 0;
	async function* counted() {
		for await (const chunk of body) {
			size += chunk.length;
			if (size > maxBytes) throw tooLarge('larger than its host said');
			yield chunk;
		}
	}
	const mimeType = typeOf(headers['content-type'], url);
	const fileName = `${name}.${extensionFor(mimeType, url)}`;
	try {
		const stream = body.constructor.from(counted()) as never;
		const binary = await context.helpers.prepareBinaryData(stream, fileName, mimeType);
		return { url, name: fileName, mimeType, size, binary };
	} catch (error) {
		throw interrupted(error, name, url);
	}
}

async function followed(
	get: (url: string) => Promise<Answer>,
	url: string,
	name: string,
): Promise<Answer> {
	for (let redirects = 0, at = url; ; redirects++) {
		const answer = await get(at);
		const { location } = answer.headers;
		if (answer.statusCode < 300 || answer.statusCode >= 400 || !location) return answer;
		answer.body.destroy();
		const next = new URL(location, at);
		if (!/^https?:$/.test(next.protocol) || (isInternalUrl(next.href) && !isInternalUrl(at)))
			throw new OperationError(
				`The file ${name} can not be had: its host ${new URL(at).host} sent the request on to ${next.origin}, an address inside this network`,
				'Such a redirect is not followed. Ask the service about the link.',
			);
		if (redirects === MAX_REDIRECTS)
			throw new OperationError(
				`The file ${name} can not be had: its host sent the request on more than ${MAX_REDIRECTS} times`,
				'Ask the service about the link.',
			);
		at = next.href;
	}
}

/** What ended a file before its last byte: its size, or its host. */
const interrupted = (error: unknown, name: string, url: string): OperationError =>
	error instanceof OperationError
		? error
		: hostFailure(name, url, 'broke off before the file was complete');

const hostFailure = (name: string, url: string, what: string): OperationError =>
	new OperationError(
		`The file ${name} can not be had: its host ${new URL(url).host} ${what}`,
		'Run the node again later; the task and its files stay with the service for a while.',
	);

const pathExtension = (url: string): string | undefined =>
	/\.([a-z\d]{1,5})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase();

/** What the host calls the file, or what its name says where the host only says that it is one. */
function typeOf(contentType: string | undefined, url: string): string {
	const type = contentType?.split(';')[0]?.trim().toLowerCase();
	if (type && type !== 'application/octet-stream' && type !== 'binary/octet-stream') return type;
	return formatOfExtension(pathExtension(url))?.mimeType ?? 'application/octet-stream';
}

const extensionFor = (mimeType: string, url: string): string => {
	const format = formatOfType(mimeType);
	return format ? extensionOf(format) : (pathExtension(url) ?? 'bin');
};
