import type { IHttpRequestOptions } from 'n8n-workflow';
import { PassThrough, pipeline, Readable } from 'node:stream';

/** The answer of a host of files. */
export interface Served {
	statusCode?: number;
	headers?: Record<string, string>;
	chunks?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/**
 * Builds the helpers of n8n that download files, from a host of the test's, and store them. As in
 * n8n, the signal of a request ends it, and its answer too.
 */
export function buildFileHelpers(
	serve: (request: IHttpRequestOptions) => Served | Promise<Served>,
) {
	const asked: IHttpRequestOptions[] = [];
	const bodies: Readable[] = [];
	const helpers = {
		async httpRequest(request: IHttpRequestOptions) {
			asked.push(request);
			const body = new PassThrough();
			body.on('error', () => undefined);
			const canceled = new Promise<never>((_, reject) => {
				body.on('close', () => reject(new Error('canceled')));
			});
			request.abortSignal?.addEventListener?.('abort', () => body.destroy(new Error('canceled')));
			const answer = async () => await serve(request);
			const answered = await Promise.race([answer(), canceled]);
			const { statusCode = 200, headers = {}, chunks = [] } = answered;
			pipeline(Readable.from(chunks), body, () => undefined);
			bodies.push(body);
			return { statusCode, headers, body };
		},
		async prepareBinaryData(stream: Readable, fileName: string, mimeType: string) {
			return { fileName, mimeType, data: (await stream.toArray()).join('') };
		},
	};
	return { helpers, asked, bodies };
}
