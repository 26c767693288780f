import type { IHttpRequestOptions } from 'n8n-workflow';
import { Readable } from 'node:stream';

/** The answer of a host of files. */
export interface Served {
	statusCode?: number;
	headers?: Record<string, string>;
	chunks?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Builds the helpers of n8n that download files, from a host of the test's, and store them. */
export function buildFileHelpers(
	serve: (request: IHttpRequestOptions) => Served | Promise<Served>,
) {
	const asked: IHttpRequestOptions[] = [];
	const bodies: Readable[] = [];
	const helpers = {
		async httpRequest(request: IHttpRequestOptions) {
			asked.push(request);
			const { statusCode = 200, headers = {}, chunks = [] } = await serve(request);
			const body = Readable.from(chunks);
			bodies.push(body);
			return { statusCode, headers, body };
		},
		async prepareBinaryData(stream: Readable, fileName: string, mimeType: string) {
			return { fileName, mimeType, data: (await stream.toArray()).join('') };
		},
	};
	return { helpers, asked, bodies };
}
