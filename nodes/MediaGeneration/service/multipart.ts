import { randomUUID } from 'crypto';

/** A file on its way to the service. */
export interface UploadFile {
	/** In bytes, exactly: the request's length is sent ahead. */
	size: number;
	mimeType: string;
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const quoted = (text: string): string =>
	text.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));

/**
 * A multipart/form-data body with one file, which is streamed and never held in memory as a whole. n8n's HTTP helper
 * streams what is a Blob, so this is one whose bytes come as they are sent.
 */
export class MultipartBody extends Blob {
	/** n8n drops a body that is an object without keys of its own. */
	readonly isMultipart = true;
	private readonly boundary = `n8n-media-generation-${randomUUID()}`;
	private readonly head: Buffer;
	private readonly tail: Buffer;

	constructor(
		fields: Record<string, string>,
		fileName: string,
		private readonly file: UploadFile,
	) {
		super();
		const part = (name: string, more = '') =>
			`--${this.boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
		const texts = Object.entries(fields).map(([name, text]) => `${part(name)}\r\n${text}\r\n`);
		const file_ = `${part('file', `; filename="${quoted(fileName)}"`)}Content-Type: ${file.mimeType}\r\n\r\n`;
		this.head = Buffer.from(texts.join('') + file_);
		this.tail = Buffer.from(`\r\n--${this.boundary}--\r\n`);
	}

	override get type(): string {
		return `multipart/form-data; boundary=${this.boundary}`;
	}

	override get size(): number {
		return this.head.length + this.file.size + this.tail.length;
	}

	/** The body's chunks; n8n only iterates over them. */
	override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
		return this.chunks() as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
	}

	private async *chunks(): AsyncGenerator<Uint8Array> {
		yield this.head;
		yield* this.file.chunks;
		yield this.tail;
	}
}
