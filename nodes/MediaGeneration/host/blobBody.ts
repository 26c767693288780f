/**
 * A request's body that n8n's HTTP helper streams, so that a file is never in memory as a whole.
 * The helper hands a Blob to axios, which reads its `type`, `size` and `stream()`
 * (`lib/adapters/http.js`, axios 1.13.5 in n8n 2.14.2 and 1.20.0 in 2.41.1). `engine/files` fails
 * first, then `e2e/results`.
 */
export class BlobBody extends Blob {
	/**
	 * Its fields are keys of its own: n8n drops an object that has none.
	 * @param contentType of the request
	 * @param length in bytes; it is sent before the first chunk, so it must be exact
	 */
	constructor(
		private readonly contentType: string,
		private readonly length: number,
		private readonly chunks: AsyncIterable<Uint8Array>,
	) {
		super();
	}

	override get type(): string {
		return this.contentType;
	}

	override get size(): number {
		return this.length;
	}

	/** The body's chunks; axios only iterates over them. */
	override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
		return this.chunks as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
	}
}
