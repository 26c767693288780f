import type { IBinaryData } from 'n8n-workflow';
import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import type { UploadFile } from '../../../../nodes/MediaGeneration/api/multipart';
import {
	findInputFile,
	InputFile,
} from '../../../../nodes/MediaGeneration/operations/create/inputFile';
import type { Item } from '../../../../nodes/MediaGeneration/operations/operation';
import { readMedia } from '../../../media/corpus.cts';

describe('an input file', () => {
	/** Uploads a file of n8n's, and shows what the service was given. */
	async function upload(fileName: string, chunks: Uint8Array[]) {
		let opened = 0;
		let given: { name: string; mimeType: string } | undefined;
		const service = {
			async upload(name: string, { mimeType, chunks: streamed }: UploadFile) {
				given = { name, mimeType };
				for await (const chunk of streamed) void chunk;
				return { url: 'https://up.example/x' };
			},
		} as unknown as TaskService;
		const size = chunks.reduce((sum, { length }) => sum + length, 0);
		const stored = { fileName, mimeType: 'text/csv', fileExtension: 'csv' };
		const file = new InputFile('photo', stored, size, async () => {
			opened++;
			return chunks;
		});
		const facts = await file.inspect();
		for (const item of [0, 1])
			await file.upload({ index: item, service, settings: { timeoutSeconds: 1 } } as Item);
		return { given, facts, opened };
	}

	it.each([
		['by what the content is', readMedia('plain.png'), 'image/png', /^photo-.*\.png$/],
		['as n8n has them where the content tells nothing', Buffer.from([0, 1]), 'text/csv', /\.csv$/],
		['as n8n has them where it is no media', readMedia('document.pdf'), 'text/csv', /\.csv$/],
	])('gives type and extension %s', async (_, content, mimeType, name) => {
		const { given } = await upload('photo.bin', [content]);
		expect(given).toEqual({ mimeType, name: expect.stringMatching(name) as string });
	});

	it('is opened once for its facts, and once for its upload, wherever it is used', async () => {
		const { facts, opened } = await upload('photo.bin', [readMedia('plain.png')]);
		expect({ format: facts?.format, opened }).toEqual({ format: 'png', opened: 2 });
	});
});

it.each(['constructor', '__proto__', 'toString', 'photo'])(
	'a name that only each object of JavaScript has is no binary field: %s',
	async (field) => {
		// As n8n's own `assertBinaryData` finds a field.
		const binary: Record<string, IBinaryData> = {};
		const assertBinaryData = (_: number, name: string) => {
			if (binary[name] === undefined) throw new Error('n8n finds none');
			return binary[name];
		};
		const context = { helpers: { assertBinaryData }, getInputData: () => [{ json: {} }] };
		const item = { index: 0, context } as unknown as Item;
		await expect(findInputFile(item, field, 'Image')).rejects.toThrow(
			`'Image' is "${field}", which is neither a URL`,
		);
	},
);
