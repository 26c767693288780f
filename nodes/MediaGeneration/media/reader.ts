/** Files are read up to here, in bytes: no limit of the service lets a file be as large. */
const FURTHEST = 256 * 1024 * 1024;

/** A file's bytes in order: a stream of n8n's, or a list with the one buffer that holds it all. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Reads a file forward, once. What was passed is dropped, so that the memory it needs is a chunk and what was asked
 * for, however large the file is. Throws only what the stream throws.
 */
export class Reader {
	/** Bytes passed. */
	position = 0;
	private readonly chunks: AsyncIterator<Uint8Array>;
	private ahead: Buffer = Buffer.alloc(0);

	constructor(file: Chunks) {
		this.chunks = (async function* () {
			yield* file;
		})();
	}

	/**
	 * The next bytes, which stay the next ones; fewer at the end of the file.
	 * @param length at most 64 KiB: it is kept in memory
	 */
	async peek(length: number): Promise<Buffer> {
		while (this.ahead.length < length) {
			const chunk = await this.pull();
			if (!chunk) break;
			this.ahead = this.ahead.length === 0 ? chunk : Buffer.concat([this.ahead, chunk]);
		}
		return this.ahead.subarray(0, length);
	}

	/** The next bytes, all or none: undefined when the file ends before. */
	async take(length: number): Promise<Buffer | undefined> {
		const bytes = await this.peek(length);
		return bytes.length === length && (await this.skipTo(this.position + length))
			? bytes
			: undefined;
	}

	/** Passes bytes up to a position, none when it is behind. False when the file ends before or one looks no further. */
	async skipTo(position: number): Promise<boolean> {
		if (position > FURTHEST) return false;
		let left = Math.max(0, position - this.position);
		this.position += left;
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
