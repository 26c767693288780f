/** The most bytes that are read of a file. The limits of all models are smaller. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

/** A file's bytes in order: a stream from n8n, or a list with a single buffer. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Reads a file once, from start to end. In memory are only the current chunk and peeked bytes. */
export class Reader {
	private readonly chunks: AsyncIterator<Uint8Array>;
	private ahead: Buffer = Buffer.alloc(0);
	/** How many bytes were skipped so far. */
	private position = 0;

	constructor(file: Chunks) {
		this.chunks = (async function* () {
			yield* file;
		})();
	}

	/** Peeks at the next bytes without consuming them. At the end there may be fewer. */
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

	/** Skips bytes; false if the file, or the part that may be read, ends first. */
	async skip(length: number): Promise<boolean> {
		this.position += length;
		if (this.position > MAX_READ_BYTES) return false;
		let rest = length;
		while (rest > this.ahead.length) {
			rest -= this.ahead.length;
			const chunk = await this.pull();
			if (!chunk) return false;
			this.ahead = chunk;
		}
		this.ahead = this.ahead.subarray(rest);
		return true;
	}

	/** Reads what is left, to the end of the file. */
	async *rest(): AsyncGenerator<Uint8Array> {
		if (this.ahead.length) yield this.ahead;
		for (let chunk = await this.pull(); chunk; chunk = await this.pull()) yield chunk;
	}

	/** Closes the stream, whether or not it was read to the end. */
	async close(): Promise<void> {
		await this.chunks.return?.();
	}

	private async pull(): Promise<Buffer | undefined> {
		const { done, value } = await this.chunks.next();
		return done ? undefined : Buffer.from(value.buffer, value.byteOffset, value.length);
	}
}
