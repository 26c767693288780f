import fc from 'fast-check';
import type { IExecuteFunctions } from 'n8n-workflow';
import { uploadInputFile, type InputFile } from '../../nodes/MediaGeneration/operations/inputFile';
import type { Item } from '../../nodes/MediaGeneration/operations/operation';
import type { MediaFacts } from '../../nodes/MediaGeneration/media/formats';
import type { TaskService } from '../../nodes/MediaGeneration/api/client';
import { MultipartBody, type UploadFile } from '../../nodes/MediaGeneration/api/multipart';

/** A body as it goes over the wire. */
async function sent(body: MultipartBody): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of body.stream() as unknown as AsyncIterable<Uint8Array>)
		chunks.push(chunk);
	return Buffer.concat(chunks);
}

describe('MultipartBody', () => {
	it('is read back by a multipart parser, byte for byte, and is as long as it says', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 5 }),
				fc.string(),
				async (chunks, text) => {
					const content = Buffer.concat(chunks);
					const body = new MultipartBody({ uploadPath: text }, 'photo-1.png', {
						size: content.length,
						mimeType: 'image/png',
						chunks,
					});
					const bytes = await sent(body);
					expect(bytes.length).toBe(body.size);
					const form = await new Response(bytes as BodyInit, {
						headers: { 'content-type': body.type },
					}).formData();
					const file = form.get('file') as File;
					expect([file.name, file.type]).toEqual(['photo-1.png', 'image/png']);
					expect(Buffer.from(await file.arrayBuffer())).toEqual(content);
					expect(form.get('uploadPath')).toBe(text);
				},
			),
		);
	});

	it('lets no file name add a header', async () => {
		const file: UploadFile = { size: 0, mimeType: 'image/png', chunks: [] };
		const bytes = await sent(new MultipartBody({}, 'a"\r\nX-Evil: 1\r\n.png', file));
		expect(bytes.toString()).toContain('filename="a%22%0D%0AX-Evil: 1%0D%0A.png"');
	});
});

describe('the MIME type of a part', () => {
	it.each([
		['image/png', 'image/png'],
		['text/plain; charset=utf-8', 'text/plain'],
		['image/png\r\nX-Evil: 1', 'application/octet-stream'],
		['image/png\nX-Evil: 1', 'application/octet-stream'],
		['', 'application/octet-stream'],
		['not a type', 'application/octet-stream'],
	])('%j is sent as %s', async (mimeType, type) => {
		const bytes = await sent(new MultipartBody({}, 'a.png', { size: 0, mimeType, chunks: [] }));
		expect(bytes.toString()).toContain(`\r\nContent-Type: ${type}\r\n\r\n`);
		expect(bytes.toString()).not.toContain('X-Evil');
	});
});

describe('uploadInputFile', () => {
	/** Uploads a file of n8n's, and shows what the service was given and what the user was shown. */
	async function upload(file: Partial<InputFile>, chunks: Uint8Array[] = []) {
		const shown: string[] = [];
		let given: { name: string; mimeType: string } | undefined;
		const service = {
			async upload(name: string, { mimeType, chunks: streamed }: UploadFile) {
				given = { name, mimeType };
				for await (const chunk of streamed) void chunk;
				return { url: 'https://up.example/x' };
			},
		} as unknown as TaskService;
		const context = {
			sendMessageToUI: (message: string) => shown.push(message),
		} as unknown as IExecuteFunctions;
		const whole: InputFile = {
			name: 'photo.bin',
			mimeType: 'text/csv',
			extension: 'csv',
			size: chunks.reduce((sum, { length }) => sum + length, 0),
			open: async () => chunks,
			inspect: async () => undefined,
			...file,
		};
		await uploadInputFile({ context, service, settings: { timeoutSeconds: 1 } } as Item, whole);
		return { given, shown };
	}

	const png: MediaFacts = { format: 'png', mimeType: 'image/png', kind: 'image' };

	it.each<[string, MediaFacts | undefined, string, RegExp]>([
		['by what the content is', png, 'image/png', /^photo-.*\.png$/],
		['as n8n has them where the content tells nothing', undefined, 'text/csv', /\.csv$/],
		[
			'as n8n has them where the content is no media',
			{ ...png, kind: 'other' },
			'text/csv',
			/\.csv$/,
		],
	])('gives type and extension %s', async (_, facts, mimeType, name) => {
		const { given } = await upload({ inspect: async () => facts });
		expect(given).toEqual({ mimeType, name: expect.stringMatching(name) });
	});

	it('shows the progress of a long upload, and of no short one', async () => {
		const megabytes = (count: number) => new Array<Buffer>(count).fill(Buffer.alloc(1024 * 1024));
		const { shown } = await upload({ name: 'film.mp4' }, megabytes(20));
		const tenths = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
		expect(shown).toEqual(tenths.map((percent) => `Uploading film.mp4: ${percent} %`));
		expect((await upload({}, megabytes(5))).shown).toEqual([]);
	});
});
