/** The most bytes to read. All limits of the service are smaller. */
const FURTHEST = 256 * 1024 * 1024;

/** A file's bytes in order: a stream of n8n's, or a list with the one buffer that holds it all. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Reads a file forward, once. It keeps one chunk and the bytes that were asked for. */
export class Reader {
	private readonly chunks: AsyncIterator<Uint8Array>;
	private ahead: Buffer = Buffer.alloc(0);
	/** The number of bytes that were skipped. */
	private position = 0;

	constructor(file: Chunks) {
		this.chunks = (async function* () {
			yield* file;
		})();
	}

	/** Peeks at the next bytes, which stay in memory. At the end there may be fewer. */
	async peek(length: number): Promise<Buffer> {
		const chunks = [this.ahead];
		for (let size = this.ahead.length; size < length; ) {
			const chunk = await this.pull();
			if (!chunk) break;
			chunks.push(chunk);
			size += chunk.length;
		}
		if (chunks.length > 1) this.ahead = Buffer.concat(chunks);
		return this.ahead.subarray(0, length);
	}

	/** The next bytes, all or none: undefined when the file ends before. */
	async take(length: number): Promise<Buffer | undefined> {
		const bytes = await this.peek(length);
		return (await this.skip(length)) ? bytes : undefined;
	}

	/** Skips bytes. False when the file, or what may be read of it, ends before. */
	async skip(length: number): Promise<boolean> {
		this.position += length;
		if (this.position > FURTHEST) return false;
		let left = length;
		while (left > this.ahead.length) {
			left -= this.ahead.length;
			const chunk = await this.pull();
			if (!chunk) return false;
			this.ahead = chunk;
		}
		this.ahead = this.ahead.subarray(left);
		return true;
	}

	/** Closes the stream, at its end or before. */
	async close(): Promise<void> {
		await this.chunks.return?.();
	}

	private async pull(): Promise<Buffer | undefined> {
		const { done, value } = await this.chunks.next();
		return done ? undefined : Buffer.from(value.buffer, value.byteOffset, value.length);
	}
}
