/** An MP4 box with a 32-bit size, from the parts of its content. */
export function box(type: string, ...parts: Uint8Array[]): Buffer {
	const content = Buffer.concat(parts);
	return Buffer.concat([numbers(4, 8 + content.length), Buffer.from(type, 'latin1'), content]);
}

/** Big-endian numbers of this many bytes each. */
export function numbers(length: number, ...values: number[]): Buffer {
	return Buffer.concat(
		values.map((value) => {
			const bytes = Buffer.alloc(length);
			if (length === 8) bytes.writeBigUInt64BE(BigInt(value));
			else bytes.writeUIntBE(value, 0, length);
			return bytes;
		}),
	);
}

export const ftyp = box('ftyp', Buffer.from('isom'), numbers(4, 512), Buffer.from('isom'));

/** `mvhd` or `mdhd`, version 0. */
export const header = (type: string, timescale: number, duration: number): Buffer =>
	box(type, numbers(4, 0, 0, 0, timescale, duration), Buffer.alloc(80));

/** A track with the boxes that count; a duration that is left out is unknown, all bits set. */
export function trak({
	handler = 'vide',
	/** In units of the movie. */
	shown = 0xffffffff,
	/** In units of 1/1000 s. */
	media = 0xffffffff,
	width = 640,
	/** The track's header comes after its media. */
	reversed = false,
} = {}): Buffer {
	const entry = box('avc1', Buffer.alloc(24), numbers(2, width, 480), Buffer.alloc(50));
	const parts = [
		box('tkhd', numbers(4, 0, 0, 0, 1, 0, shown), Buffer.alloc(60)),
		box(
			'mdia',
			header('mdhd', 1000, media),
			box('hdlr', numbers(4, 0, 0), Buffer.from(handler), Buffer.alloc(13)),
			box(
				'minf',
				box('hdlr', numbers(4, 0), Buffer.from('dhlralis'), Buffer.alloc(13)),
				box('stbl', box('stsd', numbers(4, 0, 1), entry)),
			),
		),
	];
	return box('trak', ...(reversed ? parts.reverse() : parts));
}
