import { BlobBody } from '../../../nodes/MediaGeneration/host/blobBody';

it('a body has the type and length that it is given, streams its chunks, and has keys of its own', async () => {
	const chunks = (async function* () {
		yield await Promise.resolve(Uint8Array.of(1, 2));
		yield Uint8Array.of(3);
	})();
	const body = new BlobBody('multipart/form-data', 3, chunks);
	expect([body.type, body.size]).toEqual(['multipart/form-data', 3]);
	expect(body).toBeInstanceOf(Blob);
	expect(Object.keys(body)).not.toEqual([]);
	const bytes: number[] = [];
	const stream = body.stream() as unknown as AsyncIterable<Uint8Array>;
	for await (const chunk of stream) bytes.push(...chunk);
	expect(bytes).toEqual([1, 2, 3]);
});
