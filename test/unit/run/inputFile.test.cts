import { isBinaryValue, type IBinaryData } from 'n8n-workflow';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { UploadFile } from '../../../nodes/MediaGeneration/api/multipart';
import { Media } from '../../../nodes/MediaGeneration/models/media';
import {
	expandLists,
	findFiles,
	findInputFile,
	listBinaryFields,
	InputFile,
} from '../../../nodes/MediaGeneration/run/inputFile';
import type { Item } from '../../../nodes/MediaGeneration/run/item';
import { readMedia } from '../../media/corpus.cts';

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
		['as n8n has them where it is no media', readMedia('words.txt'), 'text/csv', /\.csv$/],
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
		const item = { index: 0, call: { context } } as unknown as Item;
		await expect(findInputFile(item, field, 'Image')).rejects.toThrow(
			`'Image' is "${field}", but there is no file named so`,
		);
	},
);

describe('the name of a binary field that the item lacks', () => {
	const FILE = { data: 'filesystem-v2', id: 'filesystem-v2:1', mimeType: 'image/png' };

	/** Lists what a name stands for in an item with these binary fields. */
	const list = (name: string, ...fields: string[]) => {
		const binary = Object.fromEntries(fields.map((field) => [field, { data: '', mimeType: 'x' }]));
		const assertBinaryData = (_: number, field: string) => {
			if (!Object.hasOwn(binary, field)) throw new Error('n8n finds none');
			return binary[field];
		};
		const item = {
			index: 0,
			call: { context: { helpers: { assertBinaryData } } },
		} as unknown as Item;
		return listBinaryFields(item, name);
	};

	it.each<[json: object, name: string, found: string[]]>([
		[{ _files: { data: FILE } }, 'data', ['data']],
		[{ _files: { 'my."photo"': FILE } }, 'my."photo"', ['my."photo"']],
		[{ _files: { Photos_0: FILE, Photos_1: FILE } }, 'Photos', ['Photos_0', 'Photos_1']],
		[{ 'Photo 1.5': FILE }, 'Photo 1.5', ['Photo 1.5']],
		[{ 'More. views': [FILE, FILE] }, 'More. views', ['["More. views"][0]', '["More. views"][1]']],
		[{ body: { data: FILE } }, 'data', []],
		[{ _files: { data: 'x' } }, 'data', []],
	])('stands for a file within the JSON %j: %s', (json, name, found) => {
		// As n8n does it where binaryMode is combined.
		const assertBinaryData = (_: number, path: string) => {
			const steps = path.match(/\[.+?\](?=\[|$)|[^[]+/g) ?? [];
			const keys = Object.hasOwn(json, path)
				? [path]
				: steps.map((step) => (step.startsWith('[') ? (JSON.parse(step) as string[])[0] : step));
			const file = keys.reduce<unknown>(
				(value, key = '') => (value as Record<string, unknown>)?.[key],
				json,
			);
			if (!isBinaryValue(file)) throw new Error('n8n finds none');
			return file;
		};
		const context = { helpers: { assertBinaryData }, getInputData: () => [{ json }] };
		const item = { index: 0, call: { context } } as unknown as Item;
		expect(listBinaryFields(item, name)).toEqual(found);
	});

	it.each<[name: string, fields: string[], found: string[]]>([
		['Product photo', ['Product_photo'], ['Product_photo']],
		['Photo (front)', ['Photo__front_'], ['Photo__front_']],
		['Größe', ['Gr__e'], ['Gr__e']],
		['Photos', ['Photos_0', 'Photos_1', 'Photos_2'], ['Photos_0', 'Photos_1', 'Photos_2']],
		['My photos', ['My_photos_0', 'My_photos_1'], ['My_photos_0', 'My_photos_1']],
		['Photos', ['Photos_0', 'Photos_2'], ['Photos_0']],
		['My photo', ['My photo', 'My_photo', 'My_photo_0'], ['My photo']],
		['My photo', ['My_photo', 'My_photo_0'], ['My_photo']],
		['My photo', ['my_photo', 'My_photo_1'], []],
	])('%j stands for the label of a form, in an item with %j', (name, fields, found) => {
		expect(list(name, ...fields)).toEqual(found);
	});
});

it('the content of a file in place of its name is not all in the error', async () => {
	const context = {
		helpers: { assertBinaryData: () => ({}) },
		getInputData: () => [{ json: {} }],
	};
	const found = findInputFile(
		{ index: 0, call: { context } } as unknown as Item,
		'A'.repeat(1e6),
		'Image',
	);
	await expect(found).rejects.toThrow(/^'Image' is "A{100}", but there is no file/);
});

describe('the label of a field of a form', () => {
	const FILE = { filename: 'a.png', mimetype: 'image/png', size: 1 };

	/** Finds the files of names, in an item of a form whose fields are these. */
	async function find(names: string[], json: object, ...fields: string[]) {
		const binary = Object.fromEntries(
			fields.map((name) => [name, { data: 'AA==', mimeType: 'x' }]),
		);
		const assertBinaryData = (_: number, name: string) => {
			if (!Object.hasOwn(binary, name)) throw new Error('n8n finds none');
			return binary[name];
		};
		const context = { helpers: { assertBinaryData }, getInputData: () => [{ json, binary }] };
		const item = { index: 0, call: { context } } as unknown as Item;
		const media = names.map((name) => Object.assign(new Media(name), { label: 'Image' }));
		const input = await findFiles(item, await expandLists(item, { media }));
		return (input.media as InputFile[]).map(({ field }) => field);
	}

	const [photo, film, name] = ['写真', '動画', '名前'];

	it.each<[object, string[], string[], string[]]>([
		[{ [photo]: FILE, [name]: 'Ann' }, [photo], ['__'], ['__']],
		[{ [photo]: FILE, [film]: null }, [photo], ['__'], ['__']],
		[{}, [photo], ['__'], ['__']],
		[{}, [photo, photo], ['__'], ['__', '__']],
		[
			{ 'Your photo': FILE },
			['Your photo', 'Your_photo'],
			['Your_photo'],
			['Your_photo', 'Your_photo'],
		],
		[{ Your_photo: FILE }, ['Your photo'], ['Your_photo'], ['Your_photo']],
		[{ 'a b': FILE, 'a-b': FILE }, ['a b'], ['a b'], ['a b']],
	])('in %j, %j stands for a file of %j', async (json, names, fields, found) => {
		await expect(find(names, json, ...fields)).resolves.toEqual(found);
	});

	it.each<[object, string[], string, string[]]>([
		[{ [photo]: FILE, [film]: FILE }, [photo], '写真 and 動画', ['__']],
		[{ [photo]: FILE, [film]: [FILE] }, [film], '写真 and 動画', ['__', '___0']],
		[{ [photo]: FILE, [film]: FILE }, ['__'], '写真 and 動画', ['__']],
		[{ [photo]: null, [film]: FILE }, [photo], '動画 and 写真', ['__']],
		[{ 'Your photo': FILE, Your_photo: FILE }, ['Your_photo'], 'Your photo and', ['Your_photo']],
		[{}, [photo, film], '写真 and 動画', ['__']],
	])('in %j, %j is refused: %s', async (json, names, both, fields) => {
		await expect(find(names, json, ...fields)).rejects.toMatchObject({
			message: expect.stringContaining(`n8n stores the files of ${both}`) as string,
			description: expect.stringContaining(
				`in these fields: ${fields.join(', ')}. In the`,
			) as string,
		});
	});
});
