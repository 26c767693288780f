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
