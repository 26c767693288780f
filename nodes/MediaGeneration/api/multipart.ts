import { randomUUID } from 'crypto';

/** A file on its way to the service. */
export interface UploadFile {
	/** In bytes. It must be exact, because it is sent before the file is read. */
	size: number;
	mimeType: string;
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const escapeQuotes = (text: string): string =>
	text.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));

/** The MIME type without parameters, if it is well-formed: a line break in it would end the header. */
const checkMimeType = (mimeType: string): string =>
	/^[\w.+-]+\/[\w.+-]+(?=\s*(;|$))/.exec(mimeType)?.[0] ?? 'application/octet-stream';

/**
 * A multipart/form-data body with one file. The file is streamed, never held in memory as a whole. n8n's HTTP helper streams a
 * Blob, so this is one. axios reads its `type`, `size` and `stream()` (`lib/adapters/http.js`, axios 1.13.5 in n8n 2.14.2 and
 * 1.20.0 in 2.41.1). If that changes, `engine/files` fails first, and `e2e/results` in a real n8n.
 */
export class MultipartBody extends Blob {
	/** n8n drops an object without keys of its own. */
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
		const startPart = (name: string, more = '') =>
			`--${this.boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
		const texts = Object.entries(fields).map(([name, text]) => `${startPart(name)}\r\n${text}\r\n`);
		const fileHead = `${startPart('file', `; filename="${escapeQuotes(fileName)}"`)}Content-Type: ${checkMimeType(file.mimeType)}\r\n\r\n`;
		this.head = Buffer.from(texts.join('') + fileHead);
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
