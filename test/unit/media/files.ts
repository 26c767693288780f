/** An MP4 box with a 32-bit size, from the parts of its content. */
export function box(type: string, ...parts: Uint8Array[]): Buffer {
	const content = Buffer.concat(parts);
	return Buffer.concat([numbers(4, 8 + content.length), Buffer.from(type, 'latin1'), content]);
}

const toHex = (length: number, value: number): string =>
	BigInt.asUintN(8 * length, BigInt(value))
		.toString(16)
		.padStart(2 * length, '0');

/** Big-endian numbers of this many bytes each; -1 has all bits set. */
export const numbers = (length: number, ...values: number[]): Buffer =>
	Buffer.from(values.map((value) => toHex(length, value)).join(''), 'hex');

/** Cuts a file into chunks of this many bytes. */
export function* cut(bytes: Buffer, length: number) {
	for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Serves a file whose end, if it is given, repeats without end; and counts what is read. */
export function serve(chunks: Iterable<Buffer>, end?: Buffer) {
	const state = { read: 0, closed: false };
	function* file() {
		try {
			for (const chunk of chunks) {
				state.read += chunk.length;
				yield chunk;
			}
			// No reader may come this far, and none would stop.
			for (let count = 0; end && count < 100_000; count++) {
				state.read += end.length;
				yield end;
			}
		} finally {
			state.closed = true;
		}
	}
	return { state, file: file() };
}
