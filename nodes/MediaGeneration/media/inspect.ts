import { formatOf, MAGIC_LENGTH } from './formats';
import { jpegFacts } from './jpeg';
import { mp4Facts } from './mp4';
import { pngFacts } from './png';
import { Reader, type Chunks } from './reader';

/** In px, as a viewer sees them: after a camera's rotation, before pixel aspect. */
export interface Dimensions {
	width?: number;
	height?: number;
}

/** What a media file's own bytes say of it; what is absent could not be read. */
export interface MediaFacts extends Dimensions {
	/** A key of `formats`: jpeg, png, mp4 and quicktime are read, others only recognised. */
	format: string;
	mimeType: string;
	/** `other` also for an MP4 or QuickTime file that has tracks, but none of them video. */
	kind: 'image' | 'video' | 'other';
	/** Of the longest video track. */
	durationSeconds?: number;
}

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
