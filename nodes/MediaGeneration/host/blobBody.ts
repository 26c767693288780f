/**
 * A body that n8n's HTTP helper streams, so that no file is in memory as a whole. It hands a Blob
 * to axios, which reads `type`, `size` and `stream()` (2.14.2, 2.41.1). `engine/files` fails first.
 */
export class BlobBody extends Blob {
	/** n8n drops an object without own keys. @param length in bytes, exact: it is sent first */
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

	/** axios only iterates over them. */
	override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
		return this.chunks as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
	}
}
