import { randomUUID } from 'crypto';
import { BlobBody } from '../host/http';

/** A file on its way to the service. */
export interface UploadFile {
	/** In bytes. It must be exact, because it's sent before the file is read. */
	size: number;
	mimeType: string;
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const escapeQuotes = (text: string): string => text.replace(/[\r\n"]/g, encodeURIComponent);

/** A well-formed MIME type without parameters. A line break in it could forge headers. */
const checkMimeType = (mimeType: string): string =>
	/^[\w.+-]+\/[\w.+-]+(?=\s*(;|$))/.exec(mimeType)?.[0] ?? 'application/octet-stream';

/** Builds a multipart/form-data body of text fields and one file, which is streamed. */
export function buildForm(
	fields: Record<string, string>,
	fileName: string,
	{ size, mimeType, chunks }: UploadFile,
): BlobBody {
	const boundary = `n8n-${randomUUID()}`;
	const startPart = (name: string, more = '') =>
		`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
	const texts = Object.entries(fields).map(([name, text]) => `${startPart(name)}\r\n${text}\r\n`);
	const fileHead = `${startPart('file', `; filename="${escapeQuotes(fileName)}"`)}Content-Type: ${checkMimeType(mimeType)}\r\n\r\n`;
	const head = Buffer.from(texts.join('') + fileHead);
	const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
	async function* join() {
		yield head;
		yield* chunks;
		yield tail;
	}
	return new BlobBody(
		`multipart/form-data; boundary=${boundary}`,
		head.length + size + tail.length,
		join(),
	);
}
