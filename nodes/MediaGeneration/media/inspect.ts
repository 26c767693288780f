import type { MediaFacts } from './facts';
import { formatOf, MAGIC_LENGTH } from './formats';
import { jpegFacts } from './jpeg';
import { mp4Facts } from './mp4';
import { pngFacts } from './png';
import { Reader, type Chunks } from './reader';

const readers: Record<string, (reader: Reader) => Promise<Partial<MediaFacts> | undefined>> = {
	jpeg: jpegFacts,
	png: pngFacts,
	mp4: mp4Facts,
	quicktime: mp4Facts,
};

/**
 * Reads facts about a media file from its bytes, for as long as they are unknown, then closes the stream. At most
 * 256 MiB pass by, of which a chunk is in memory at a time.
 * @returns undefined when the bytes are of no known format
 * @throws only what the stream throws, never for what the file contains
 */
export async function inspect(file: Chunks): Promise<MediaFacts | undefined> {
	const reader = new Reader(file);
	try {
		const head = await reader.peek(MAGIC_LENGTH);
		const found = formatOf(head);
		if (!found) return undefined;
		const [format, { mimeType, kind }] = found;
		const more = await readers[format]?.(reader);
		if (format === 'quicktime' && !more && !head.includes('ftyp')) return undefined;
		return { format, mimeType, kind, ...more };
	} finally {
		await reader.close();
	}
}
