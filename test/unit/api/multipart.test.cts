import fc from 'fast-check';
import { buffer } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';
import { buildForm } from '../../../nodes/MediaGeneration/api/client';

/** Reads a body as it goes over the wire. */
const read = async (body: Blob) => await buffer(body.stream() as ReadableStream);

describe('buildForm', () => {
	it('is read back by a multipart parser, byte for byte, and is as long as it says', async () => {
		const files = fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 5 });
		await fc.assert(
			fc.asyncProperty(files, fc.string(), async (chunks, uploadPath) => {
				const content = Buffer.concat(chunks);
				const file = { size: content.length, mimeType: 'image/png', chunks };
				const body = buildForm({ uploadPath, fileName: 'photo-1.png' }, file);
				const bytes = await read(body);
				expect(bytes.length).toBe(body.size);
				const headers = { 'content-type': body.type };
				const form = await new Response(new Uint8Array(bytes), { headers }).formData();
				const received = form.get('file') as File;
				expect([received.name, received.type]).toEqual(['photo-1.png', 'image/png']);
				expect(Buffer.from(await received.arrayBuffer())).toEqual(content);
				expect(form.get('uploadPath')).toBe(uploadPath);
			}),
		);
	});

	it.each([
		['text/plain; charset=utf-8', 'text/plain'],
		['image/png\r\nX-Evil: 1', 'application/octet-stream'],
		['not a/type', 'application/octet-stream'],
	])('sends the type %j as %s, and lets no file name add a header', async (mimeType, type) => {
		const fileName = 'a"\r\nX-Evil: 1\r\n.png';
		const file = { size: 0, mimeType, chunks: [] };
		const text = String(await read(buildForm({ uploadPath: '', fileName }, file)));
		expect(text).toContain('filename="a%22%0D%0AX-Evil: 1%0D%0A.png"');
		expect(text).toContain(`\r\nContent-Type: ${type}\r\n\r\n`);
		expect(text.split('name="fileName"')[1]?.split('name="file"')[1]).not.toContain('\nX-Evil');
	});
});
