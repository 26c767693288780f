import { uploadFiles } from '../../../../nodes/MediaGeneration/run/input/inputFile';
import { measureCpu } from '../../cpuTime.cts';
import {
	describeModel,
	inColumns,
	inFields,
	inJson,
	link,
	links,
	PNG,
	prepare,
	readInput,
	text,
	type ItemSetup,
	type Values,
} from './prepareInput.cts';

const url = 'https://media.example/a.png';
const openapi = describeModel({
	image_url: link,
	image_urls: links,
	mask: text,
	single: { ...links, maxItems: 1, description: 'URL of a photo' },
	encoded: { type: 'string', description: 'URL of an image, or Base64' },
	layers: { type: 'array', items: { type: 'object', properties: { photo: link } } },
	style: text,
	sound: { type: 'string', description: 'A link to the sound' },
});

/** Files by name, each a picture. */
const pictures = (...names: string[]) => Object.fromEntries(names.map((name) => [name, PNG]));

const read = async (setup: ItemSetup) => await readInput({ openapi, ...setup });

/** Gives values in fields, in JSON, and as columns. @returns what is sent, the same each time */
async function readInAnyWay(values: Values, files?: ItemSetup['files']) {
	const input = await read({ ...inFields(values), files });
	for (const give of [inJson, inColumns])
		expect(await read({ ...give(values), files })).toEqual(input);
	return input;
}

const NO_FILE = 'but there is no file named so in this item';

describe('a link', () => {
	it.each<[Values, Values]>([
		[{ image_url: `\u00a0${url}\r\n` }, { image_url: url }],
		[
			{ image_url: 'HTTPS://A.example:443/../my photo.png?x=1' },
			{ image_url: 'HTTPS://A.example:443/../my%20photo.png?x=1' },
		],
		[
			{ image_urls: [`${url} `, '\thttps://b.example/ü'] },
			{ image_urls: [url, 'https://b.example/ü'] },
		],
		[{ image_url: `["${url}"]` }, { image_url: url }],
		[{ layers: [{ photo: `${url}\r\n` }] }, { layers: [{ photo: url }] }],
	])('is sent as the user wrote it, without blanks around it: %j', async (values, input) => {
		expect(await readInAnyWay(values)).toEqual(input);
	});

	it.each([`${url} ${url}`, 'https://a.example/a\nb.png', `${url},${url}`])(
		'is none where another link or a line break is inside: %j',
		async (image_url) => {
			for (const give of [inFields, inJson, inColumns])
				await expect(read(give({ image_url }))).rejects.toThrow(NO_FILE);
		},
	);

	it.each<[object]>([
		[{ signedUrl: url, url: 'https://old.example/b' }],
		[{ name: 'a', type: 'file', file: { url } }],
		[{ type: 'external', external: { url } }],
		[{ url: 'attachments/5', signedUrl: 'none', src: url }],
	])('is the first of an attachment of a table: %j', async (attachment) => {
		for (const image_url of [attachment, [attachment], JSON.stringify(attachment)])
			expect(await readInAnyWay({ image_url })).toEqual({ image_url: url });
		const image_urls = [attachment, attachment];
		expect(await read(inFields({ image_urls }))).toEqual({ image_urls: [url, url] });
	});

	it('is not taken from an attachment where the model takes objects, or several for one are given', async () => {
		const photo = { url };
		const objects = describeModel({ photo: { type: ['object', 'string'] } });
		expect(await read({ ...inFields({ photo }), openapi: objects })).toEqual({ photo });
		for (const name of ['image_url', 'single'])
			await expect(read(inFields({ [name]: [photo, { url: `${url}2` }] }))).rejects.toThrow(
				/takes one file, but is given 2: "https/,
			);
	});
});

describe('a data URI', () => {
	const base64 = PNG.toString('base64');
	const uri = `data:image/png;base64,${base64}`;

	it.each([
		[` ${uri}\n`],
		[`data:image/png;name=a.png;base64,${encodeURIComponent(base64)}`],
		['data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E'],
	])('is uploaded like a file of the item: %j', async (image_url) => {
		expect(await readInAnyWay({ image_url })).toEqual({ image_url: 'file: data URI' });
	});

	it('is sent as it is where the description takes Base64, and so is bare Base64', async () => {
		const bare = base64.repeat(3);
		for (const encoded of [uri, bare]) expect(await readInAnyWay({ encoded })).toEqual({ encoded });
		await expect(read(inFields({ image_url: bare }))).rejects.toThrow(NO_FILE);
	});

	it.each(['data:image/png;base64,', 'data:image/svg+xml,%E0%A4%A', 'data:;base64,!'])(
		'that has no data is an error: %j',
		async (image_url) => {
			await expect(read(inFields({ image_url }))).rejects.toThrow(
				'a data URI that has no data which can be read',
			);
		},
	);

	it('is held to the limits of a model', async () => {
		const parameters = { model: 'alpha-3.0/motion-control', image: uri, video: url };
		await expect(read({ parameters })).rejects.toThrow(
			"'Image' can't be used: the file in \"data URI\"",
		);
	});
});

describe('the name of a file', () => {
	it.each<[name: string, files: string[], isOfOne: boolean, count: number]>([
		[' data\r\n', ['data'], true, 1],
		['Photo:', ['Photo_'], true, 1],
		['Photo (jpg, png)', ['Photo__jpg__png_'], true, 1],
		['Größe #1', ['Gr__e__1'], true, 1],
		['my.photo, 2', ['my.photo, 2'], true, 1],
		['My photo', ['My photo', 'My_photo', 'My_photo_0'], true, 1],
		['images', ['images0'], true, 1],
		['images', ['images1', 'images2', 'images4'], false, 2],
		['Side views', ['Side_views_0', 'Side_views_1'], false, 2],
		['data', ['data', 'data_1', 'data_2'], true, 3],
		['data', ['data', 'data_2'], true, 1],
	])('counts as people write it: %j in an item with %j', async (name, names, isOfOne, count) => {
		const files = pictures(...names);
		const meant = names.slice(0, count);
		const all = meant.map((field) => `file: ${field}`);
		const ofOne = read({ ...inFields({ image_url: name }), files });
		if (isOfOne) expect(await ofOne).toEqual({ image_url: all[0] });
		else await expect(ofOne).rejects.toThrow(`but is given ${count}: ${meant.join(', ')}`);
		const image_urls = name;
		expect(await readInAnyWay({ image_urls }, files)).toEqual({ image_urls: all });
		const inExtra = inFields({}, { options: { extraFields: { image_urls } } });
		expect(await read({ ...inExtra, files })).toEqual({ image_urls: all });
	});

	it.each<[value: unknown, files: string[], sent: unknown]>([
		[['data'], ['data', 'data_1'], ['file: data']],
		['["data"]', ['data', 'data_1'], ['file: data']],
		[`Views, ${url}`, ['Views_0', 'Views_1'], ['file: Views_0', 'file: Views_1', url]],
		[
			[url, ['a'], 'b'],
			['a', 'b0', 'b1'],
			[url, 'file: a', 'file: b0', 'file: b1'],
		],
		['a\nb', ['a', 'b'], ['file: a', 'file: b']],
	])('may stand in a list: %j in an item with %j', async (image_urls, files, sent) => {
		const setup = { ...inFields({ image_urls }), files: pictures(...files) };
		expect(await read(setup)).toEqual({ image_urls: sent });
	});

	it('counts where a field means a file, in every mode', async () => {
		const files = pictures('data');
		const named = { mask: 'data', layers: [{ photo: 'data' }], style: 'data' };
		const found = { mask: 'file: data', layers: [{ photo: 'file: data' }], style: 'data' };
		const sent = { ...found, single: ['file: data'], sound: 'file: data' };
		expect(await readInAnyWay({ ...named, single: 'data', sound: 'data' }, files)).toEqual(sent);
		expect(await read({ ...inJson(named), openapi: undefined, files })).toEqual(found);
	});

	const [photo, film] = ['写真', '動画'];
	const FORM = { filename: 'a.png', mimetype: 'image/png', size: 1 };

	it.each<[json: object, names: string[], both: string]>([
		[{ [photo]: FORM, [film]: [FORM] }, ['__'], '写真 and 動画'],
		[{ [photo]: null, [film]: FORM }, [photo], '動画 and 写真'],
		[{}, [photo, film], '写真 and 動画'],
		[{ 'Your photo': FORM, Your_photo: FORM }, ['Your photo'], 'Your photo and Your_photo'],
		[{ Your_photo: FORM, 'Your-photo': [FORM] }, ['Your_photo'], 'Your_photo and Your-photo'],
	])('that two labels of a form share is an error: in %j, %j', async (json, names, both) => {
		const setup = {
			...inFields({ image_urls: names }),
			files: pictures('__', 'Your_photo'),
			json: json as never,
		};
		await expect(read(setup)).rejects.toThrow(`n8n stores the files of ${both} under one name`);
	});

	it.each<[json: object, names: string[], found: string[]]>([
		[{ [photo]: FORM, Name: 'Ann' }, [photo, photo], ['__', '__']],
		[{ 'Your photo': FORM }, ['Your photo', 'Your_photo'], ['Your_photo', 'Your_photo']],
		[{ Your_photo: FORM }, ['Your photo'], ['Your_photo']],
	])('that one label has is found: in %j, %j', async (json, names, found) => {
		const files = pictures('__', 'Your_photo');
		const setup = { ...inFields({ image_urls: names }), files, json: json as never };
		expect(await read(setup)).toEqual({ image_urls: found.map((name) => `file: ${name}`) });
	});
});

describe("n8n's own object of a file", () => {
	const form = (filename: string) => ({ filename, mimetype: 'image/png', size: 5 });
	const ofForm = {
		'My photo:': form('a.png'),
		Views: [form('b.png'), form('c.png')],
		Old: form('gone.png'),
	};
	/** What `$binary` has of a file, and what n8n stores. */
	const binaryObject = { mimeType: 'image/png', fileName: 'd.png', id: 'filesystem-v2:1' };
	const stored = { ...binaryObject, data: 'filesystem-v2' };
	const inMemory = { mimeType: 'image/png', fileName: 'e.png', bytes: 5 };
	const twin = { ...inMemory, bytes: 7 };
	const files = {
		My_photo_: PNG,
		Views_0: PNG,
		Views_1: PNG,
		other: stored,
		copy: stored,
		kept: { ...inMemory, data: 'AAAA' },
		one: { ...twin, data: 'AAAA' },
		like: { ...twin, data: 'BBBB' },
	};
	const item = { json: ofForm as never, files };

	it.each<[Values, Values]>([
		[{ image_url: ofForm['My photo:'] }, { image_url: 'file: My_photo_' }],
		[{ image_urls: ofForm.Views }, { image_urls: ['file: Views_0', 'file: Views_1'] }],
		[{ image_url: JSON.stringify(ofForm.Views[1]) }, { image_url: 'file: Views_1' }],
		[{ image_urls: [binaryObject, url] }, { image_urls: ['file: other', url] }],
		[{ mask: inMemory }, { mask: 'file: kept' }],
	])('stands for that file: %j', async (values, input) => {
		for (const give of [inFields, inJson])
			expect(await read({ ...give(values), ...item })).toEqual(input);
	});

	it.each<[Values]>([
		[{ image_url: ofForm.Old }],
		[{ image_url: { ...binaryObject, id: 'filesystem-v2:9' } }],
		[{ mask: twin }],
	])('is an error where the item has no such file: %j', async (values) => {
		for (const give of [inFields, inJson])
			await expect(read({ ...give(values), ...item })).rejects.toThrow(NO_FILE);
	});
});

describe('anything else', () => {
	it.each(['asset:1', 'oss+x-2://b/3', 'media:clip/7'])(
		"of a service's own scheme is sent: %j",
		async (image_url) => {
			expect(await readInAnyWay({ image_url })).toEqual({ image_url });
		},
	);

	it.each([
		...['Photo:', 'photo.png', 'constructor'],
		...['htps://a.example/1', 'http:/a.example', 'https//a'],
		...['file:///a.png', 'blob:a', 'C:/a.png'],
		...['asset: 1', 'media.example:8443/a.png', '/uploads/a'],
	])('in fields is an error that lists the files of the item: %j', async (image_url) => {
		const setup = { ...inFields({ image_url }), openapi, files: pictures('front', 'back') };
		await expect(prepare(setup)).rejects.toMatchObject({
			message: expect.stringContaining(`'Image URL' is "${image_url}", ${NO_FILE}`) as string,
			description: expect.stringContaining('Enter a file of this item: front, back.') as string,
		});
	});

	it.each([false, 7, '={{ $json.none !== undefined && $json.none }}'])(
		'that is no text is an error in fields, unless a file is named so: %j',
		async (photo) => {
			for (const values of [{ image_urls: photo }, { layers: [{ photo }] }])
				await expect(read(inFields(values))).rejects.toThrow(NO_FILE);
			const name = photo === 7 ? '7' : 'false';
			const setup = { ...inFields({ image_url: photo }), files: pictures(name) };
			expect(await read(setup)).toEqual({ image_url: `file: ${name}` });
		},
	);

	it.each<[Values]>([
		[{ image_url: '/uploads/a', image_urls: ['media.example/a.png', '//cdn.example/a', 'a/b'] }],
		[{ image_url: '', image_urls: ['', ' '], layers: [{ photo: null }] }],
	])('that may be an address is sent in JSON: %j', async (input) => {
		const request = await prepare({ ...inJson(input), openapi });
		expect(request).toMatchObject({ input, warning: undefined });
	});

	it.each([
		...[{ image_url: 'data' }, { sound: 'calm' }, { image_url: 'N/A' }],
		...[{ image_url: 'https//a.example/1' }, { image_url: 'http;//a.example/1' }],
		...[{ image_urls: ['front / back'] }, { layers: [{ photo: 'C:/a.png' }] }],
	])('is an error in JSON where the description speaks of a URL: %j', async (input) => {
		await expect(read(inJson(input))).rejects.toThrow(NO_FILE);
	});

	it('is sent from JSON with a warning where only a name means a file, and from Extra Fields without', async () => {
		const warning = expect.stringContaining(`'Mask' is "auto": no URL`) as string;
		const input = { mask: 'auto' };
		expect(await prepare({ ...inJson(input), openapi })).toMatchObject({ input, warning });
		const extraFields = { image_url: 'auto', mask: ' x ' };
		const extra = await prepare({ ...inFields({}, { options: { extraFields } }), openapi });
		expect(extra).toMatchObject({ input: extraFields, warning: undefined });
	});
});

describe('what a stranger writes', () => {
	it.each<[Values]>([
		[{ image_url: `https://a.b/x?sig=sEcret ${url}` }],
		[{ image_url: ['https://me:sEcret@a.b', url] }],
		[{ style: { url: 'https://a.b/x?sig=sEcret' } }],
	])('stands in an error without the query and the login of a URL: %j', async (values) => {
		const result = read(inFields(values));
		await expect(result).rejects.toThrow(/^'(Image URL|Style)' (is|takes|must)/);
		await expect(result).rejects.not.toThrow('sEcret');
	});

	const other = { mimeType: 'image/png', data: 'filesystem-v2', id: 'filesystem-v2:other' };
	const json = {
		_files: { data: other },
		'Photo:': other,
		Views: [other, other],
		body: { file: other },
	};

	it.each<[name: string, found: string[]]>([
		['data', ['data']],
		['Photo:', ['Photo:']],
		['Views', ['Views_0', 'Views_1']],
		['body.file', []],
		['_files.data', []],
		['Views[0]', []],
	])('in the JSON is a file only where n8n keeps files there: %s', async (image_urls, found) => {
		const setup = { ...inFields({ image_urls }), json: json as never };
		await expect(read(setup)).rejects.toThrow(NO_FILE);
		const combined = read({ ...setup, settings: { binaryMode: 'combined' } });
		if (found.length)
			expect(await combined).toEqual({ image_urls: found.map((field) => `file: ${field}`) });
		else await expect(combined).rejects.toThrow(NO_FILE);
	});

	it.each<[what: string, image_urls: unknown]>([
		['a data URI without data', `data:${'a'.repeat(400_000)}`],
		[
			"files of n8n's form",
			Array.from({ length: 10_000 }, (_, index) => ({ filename: index, mimetype: 'x', url })),
		],
		['many links', Array.from({ length: 200_000 }, () => url)],
		['lists in lists', JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)],
	])('takes no time: %s', async (_, image_urls) => {
		const setup = inFields({ image_urls: '={{ $json.image_urls }}' });
		let error: unknown;
		const cpu = await measureCpu(async () => {
			const ended = read({ ...setup, json: { image_urls } as never });
			error = await ended.catch((thrown: Error) => thrown);
		});
		expect(cpu).toBeLessThan(10_000);
		expect(error).not.toBeInstanceOf(RangeError);
	});
});

describe('bytes that are no media', () => {
	const login = '<!DOCTYPE html><html><body>Sign in</body></html>';
	it.each<[what: string, bytes: string, message: string]>([
		['nothing', '', 'is empty'],
		['a login page', `\n${login}`, 'is a web page'],
		['a message', 'Access denied: ünknown token', 'is a text file'],
		['JSON', '{"error":"expired"}', 'is a text file'],
	])('are an error before the upload, whatever their type says: %s', async (_, data, message) => {
		const edit = { model: 'beta2/image-edit', image: 'data' };
		for (const setup of [inJson({ mask: 'data' }), { parameters: edit }])
			await expect(read({ ...setup, files: { data } })).rejects.toThrow(message);
	});

	it.each<[what: string, bytes: string | Buffer]>([
		['an SVG', `<?xml version="1.0"?>\n<!-- Made by hand. -->\n<svg width="1"/>`],
		['a playlist', '#EXTM3U\n#EXT-X-VERSION:3\n'],
		['an unknown format', Buffer.from([0, 1, 2, 3, 200])],
	])('are not %s', async (_, data) => {
		const setup = { ...inFields({ image_url: 'data' }), files: { data } };
		expect(await read(setup)).toEqual({ image_url: 'file: data' });
	});

	it.each([
		['image1', true],
		['videoUrl2', true],
		['end_frame', true],
		['document_file', false],
	])('are an error by the words of a name: %s', async (name, isError) => {
		const openapi = describeModel({ [name]: link });
		const sent = read({ ...inFields({ [name]: 'data' }), openapi, files: { data: login } });
		if (isError) await expect(sent).rejects.toThrow('is a web page');
		else expect(await sent).toEqual({ [name]: 'file: data' });
	});
});

it('files are uploaded once each, in their order, as what they are by their bytes', async () => {
	const stored = { fileName: 'a.b', mimeType: 'text/plain', fileExtension: 'txt' };
	const files = {
		photo: { ...stored, data: PNG.toString('base64') },
		other: { ...stored, data: Buffer.from('fLaC').toString('base64') },
		far: { ...stored, data: '', id: 'filesystem-v2:1' },
	};
	const values = { image_urls: 'photo, far, photo', layers: [{ photo: 'photo' }], sound: 'other' };
	const { input } = await prepare({ ...inFields(values), openapi, files });
	const uploads: unknown[] = [];
	const upload = async (name: string, { size, mimeType }: { size: number; mimeType: string }) => {
		uploads.push([name.replace(/-.{36}/, ''), mimeType, size]);
		return { url: `${url}?${uploads.length}` };
	};
	const [photo, far, other] = [1, 2, 3].map((number) => `${url}?${number}`);
	expect(await uploadFiles({ service: { upload } } as never, input)).toEqual({
		image_urls: [photo, far, photo],
		layers: [{ photo }],
		sound: other,
	});
	expect(uploads).toEqual([
		['a.png', 'image/png', PNG.length],
		['a.png', 'image/png', PNG.length],
		['a.txt', 'text/plain', 4],
	]);
});
