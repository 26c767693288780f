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
	texts,
	type Given,
	type Values,
} from './door.cts';

const url = 'https://media.example/a.png';
const openapi = describeModel({
	image_url: link,
	image_urls: links,
	mask: text,
	images: { anyOf: [text, texts] },
	single: { ...links, maxItems: 1, description: 'URL of a photo' },
	encoded: { type: 'string', description: 'URL of an image, or Base64' },
	layers: { type: 'array', items: { type: 'object', properties: { photo: link } } },
	style: text,
	subject: text,
	sound: { type: 'string', description: 'A link to the sound' },
});

/** Files by name, each a picture. */
const pictures = (...names: string[]) => Object.fromEntries(names.map((name) => [name, PNG]));

/** Gives values in fields, in JSON, and as columns. */
const ways = [inFields, inJson, inColumns] as const;
const inAnyWay = async (values: Values, more: Partial<Given>) =>
	await Promise.all(
		ways.map(async (give) => await readInput({ ...give(values), openapi, ...more })),
	);

describe('a link', () => {
	it.each<[Values, Values]>([
		[{ image_url: ` ${url}\n` }, { image_url: url }],
		[{ image_url: `\u00a0${url}\r\n` }, { image_url: url }],
		[
			{ image_url: 'https://a.example/my photo.png?x=1' },
			{ image_url: 'https://a.example/my%20photo.png?x=1' },
		],
		[
			{ image_url: 'HTTPS://A.example:443/../a.png' },
			{ image_url: 'HTTPS://A.example:443/../a.png' },
		],
		[
			{ image_urls: [`${url} `, '\thttps://b.example/ü'] },
			{ image_urls: [url, 'https://b.example/ü'] },
		],
		[{ image_url: [url] }, { image_url: url }],
		[{ image_url: `["${url}"]` }, { image_url: url }],
		[{ layers: [{ photo: `${url}\r\n` }] }, { layers: [{ photo: url }] }],
	])('is sent as the user wrote it, without blanks around it: %j', async (values, input) => {
		expect(await inAnyWay(values, {})).toEqual([input, input, input]);
	});

	it.each([
		`${url} ${url}`,
		`${url}\n${url}`,
		'https://a.example/a\nb.png',
		`${url}\u00a0http://b.example`,
		`${url},${url}`,
	])('is none where another or a line break is inside: %j', async (image_url) => {
		for (const give of ways)
			await expect(readInput({ ...give({ image_url }), openapi })).rejects.toThrow(
				"'Image URL' is \"",
			);
	});

	it.each<[object]>([
		[{ signedUrl: url, url: 'https://old.example/b' }],
		[{ title: 'a.png', mimetype: 'image/png', url }],
		[{ src: url, alt: 'A fox' }],
		[{ name: 'a', type: 'file', file: { url, expiry_time: '1' } }],
		[{ type: 'external', external: { url } }],
		[{ url: 'attachments/5', signedUrl: 'none', src: url }],
	])('is the first of an attachment of a table: %j', async (attachment) => {
		for (const image_url of [attachment, [attachment], JSON.stringify(attachment)])
			expect(await inAnyWay({ image_url }, {})).toEqual(ways.map(() => ({ image_url: url })));
		expect(
			await readInput({ ...inFields({ image_urls: [attachment, attachment] }), openapi }),
		).toEqual({
			image_urls: [url, url],
		});
	});

	it('is not taken from an attachment where the model takes objects, or several for one are given', async () => {
		const attachments = [{ url }, { url: `${url}2` }];
		const objects = describeModel({ photo: { type: ['object', 'string'] } });
		expect(await readInput({ ...inFields({ photo: attachments[0] }), openapi: objects })).toEqual({
			photo: attachments[0],
		});
		for (const name of ['image_url', 'single'])
			await expect(readInput({ ...inFields({ [name]: attachments }), openapi })).rejects.toThrow(
				/takes one file, but is given 2: "https/,
			);
	});
});

describe('a data URI', () => {
	const uri = `data:image/png;base64,${PNG.toString('base64')}`;

	it.each([
		[uri],
		[` ${uri}\n`],
		[uri.toUpperCase().replace(/,.*/, `,${PNG.toString('base64')}`)],
		[`data:image/png;name=a.png;base64,${encodeURIComponent(PNG.toString('base64'))}`],
		['data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E'],
	])('is uploaded like a file of the item: %j', async (image_url) => {
		expect(await inAnyWay({ image_url }, {})).toEqual(
			ways.map(() => ({ image_url: 'file: data URI' })),
		);
		const parameters = { model: 'beta2/image-edit', image: image_url };
		expect(await readInput({ parameters })).toMatchObject({ image_url: 'file: data URI' });
	});

	it('is sent as it is where the description takes Base64, and so is bare Base64', async () => {
		const bare = PNG.toString('base64').repeat(3);
		for (const encoded of [uri, bare])
			expect(await inAnyWay({ encoded }, {})).toEqual(ways.map(() => ({ encoded })));
		await expect(readInput({ ...inFields({ image_url: bare }), openapi })).rejects.toThrow(
			"'Image URL' is",
		);
	});

	it.each(['data:image/png;base64,', 'data:', 'data:image/svg+xml,%E0%A4%A', 'data:;base64,!'])(
		'that has no data is refused: %j',
		async (image_url) => {
			await expect(readInput({ ...inFields({ image_url }), openapi })).rejects.toThrow(
				'a data URI that has no data which can be read',
			);
		},
	);

	it('is held to the limits of a model', async () => {
		const parameters = { model: 'alpha-3.0/motion-control', image: uri, video: url };
		await expect(readInput({ parameters })).rejects.toThrow(
			"'Image' can't be used: the file in \"data URI\"",
		);
	});
});

describe('the name of a file', () => {
	it.each<[name: string, files: string[], one: string | undefined, several: string[]]>([
		['data', ['data'], 'data', ['data']],
		[' data\r\n', ['data'], 'data', ['data']],
		['Photo:', ['Photo_'], 'Photo_', ['Photo_']],
		['Photo (jpg, png)', ['Photo__jpg__png_'], 'Photo__jpg__png_', ['Photo__jpg__png_']],
		['Größe #1', ['Gr__e__1'], 'Gr__e__1', ['Gr__e__1']],
		['my.photo, 2', ['my.photo, 2'], 'my.photo, 2', ['my.photo, 2']],
		['My photo', ['My photo', 'My_photo', 'My_photo_0'], 'My photo', ['My photo']],
		['images', ['images0', 'images1'], undefined, ['images0', 'images1']],
		['images', ['images0'], 'images0', ['images0']],
		['file', ['file1', 'file2', 'file4'], undefined, ['file1', 'file2']],
		['Views', ['Views_0', 'Views_1'], undefined, ['Views_0', 'Views_1']],
		['Side views', ['Side_views_0', 'Side_views_1'], undefined, ['Side_views_0', 'Side_views_1']],
		['data', ['data', 'data_1', 'data_2'], 'data', ['data', 'data_1', 'data_2']],
		['data', ['data0'], 'data0', ['data0']],
		['data', ['data', 'data_2'], 'data', ['data']],
	])('%j in an item with %j', async (name, files, one, several) => {
		const item = { openapi, files: pictures(...files) };
		const ofOne = readInput({ ...inFields({ image_url: name }), ...item });
		if (one) expect(await ofOne).toEqual({ image_url: `file: ${one}` });
		else
			await expect(ofOne).rejects.toThrow(`but is given ${several.length}: ${several.join(', ')}`);
		const all = several.map((field) => `file: ${field}`);
		for (const give of [inFields, inColumns])
			expect(await readInput({ ...give({ image_urls: name }), ...item })).toEqual({
				image_urls: all,
			});
		expect(await readInput({ ...inJson({ image_urls: name }), ...item })).toEqual({
			image_urls: all,
		});
		const options = { extraFields: { image_urls: name } };
		expect(await readInput({ ...inFields({}, { options }), ...item })).toEqual({ image_urls: all });
	});

	it.each<[given: unknown, files: string[], sent: unknown]>([
		[['data'], ['data', 'data_1'], ['file: data']],
		['["data"]', ['data', 'data_1'], ['file: data']],
		[`Views, ${url}`, ['Views_0', 'Views_1'], ['file: Views_0', 'file: Views_1', url]],
		['a, b', ['a', 'b'], ['file: a', 'file: b']],
		['a\nb', ['a', 'b'], ['file: a', 'file: b']],
		[
			[['a'], 'b'],
			['a', 'b'],
			['file: a', 'file: b'],
		],
		[
			[url, 'Views'],
			['Views0', 'Views1'],
			[url, 'file: Views0', 'file: Views1'],
		],
	])('in a list, %j of %j', async (image_urls, files, sent) => {
		const given = { ...inFields({ image_urls }), openapi, files: pictures(...files) };
		expect(await readInput(given)).toEqual({ image_urls: sent });
	});

	it.each<[Values, Values]>([
		[{ mask: 'data' }, { mask: 'file: data' }],
		[{ images: 'data' }, { images: 'file: data' }],
		[{ single: 'data' }, { single: ['file: data'] }],
		[{ sound: 'data' }, { sound: 'file: data' }],
		[{ layers: [{ photo: 'data' }] }, { layers: [{ photo: 'file: data' }] }],
		[
			{ style: 'data', subject: 'data' },
			{ style: 'data', subject: 'data' },
		],
	])('counts where a field means a file, in every mode: %j', async (values, input) => {
		expect(await inAnyWay(values, { files: pictures('data') })).toEqual([input, input, input]);
		const undescribed = { ...inJson(values), files: pictures('data') };
		const isPlain = (name: string) => name !== 'single' && name !== 'sound';
		if (Object.keys(input).some(isPlain)) expect(await readInput(undescribed)).toEqual(input);
	});

	it.each(['constructor', '__proto__', 'toString'])(
		'that every object of JavaScript has is none: %s',
		async (image_url) => {
			const sent = readInput({ ...inFields({ image_url }), openapi, files: pictures('data') });
			await expect(sent).rejects.toMatchObject({
				message: `'Image URL' is "${image_url}", but there is no file named so in this item, and a URL begins with http:// or https://`,
				description: expect.stringContaining('Enter a file of this item: data.') as string,
			});
		},
	);

	const [photo, film] = ['写真', '動画'];
	const FORM = { filename: 'a.png', mimetype: 'image/png', size: 1 };

	it.each<[json: object, names: string[], both: string]>([
		[{ [photo]: FORM, [film]: FORM }, [photo], '写真 and 動画'],
		[{ [photo]: FORM, [film]: [FORM] }, ['__'], '写真 and 動画'],
		[{ [photo]: null, [film]: FORM }, [photo], '動画 and 写真'],
		[{ 'Your photo': FORM, Your_photo: FORM }, ['Your_photo'], 'Your photo and Your_photo'],
		[{}, [photo, film], '写真 and 動画'],
	])('that two labels of a form share is refused: in %j, %j', async (json, names, both) => {
		const files = pictures('__', 'Your_photo');
		const given = { ...inFields({ image_urls: names }), openapi, files, json: json as never };
		await expect(readInput(given)).rejects.toThrow(
			`n8n stores the files of ${both} under one name`,
		);
	});

	it.each<[json: object, names: string[], found: string[]]>([
		[{ [photo]: FORM, Name: 'Ann' }, [photo], ['__']],
		[{}, [photo, photo], ['__', '__']],
		[{ 'Your photo': FORM }, ['Your photo', 'Your_photo'], ['Your_photo', 'Your_photo']],
		[{ Your_photo: FORM }, ['Your photo'], ['Your_photo']],
	])('that one label has is found: in %j, %j', async (json, names, found) => {
		const files = pictures('__', 'Your_photo');
		const given = { ...inFields({ image_urls: names }), openapi, files, json: json as never };
		expect(await readInput(given)).toEqual({ image_urls: found.map((name) => `file: ${name}`) });
	});
});

describe("n8n's own object of a file", () => {
	const form = (filename: string) => ({ filename, mimetype: 'image/png', size: 5 });
	const json = {
		'My photo:': form('a.png'),
		Views: [form('b.png'), form('c.png')],
		Old: form('gone.png'),
	};
	/** What `$binary` has of a file, and what n8n stores. */
	const told = { mimeType: 'image/png', fileName: 'd.png', id: 'filesystem-v2:1' };
	const stored = { ...told, data: 'filesystem-v2' };
	const inMemory = { mimeType: 'image/png', fileName: 'e.png', bytes: 5 };
	const files = {
		...{ My_photo_: PNG, Views_0: PNG, Views_1: PNG, other: stored },
		...{ kept: { ...inMemory, data: 'AAAA' }, twin: { ...inMemory, bytes: 6, data: 'BBBB' } },
		...{ one: { ...inMemory, bytes: 7, data: 'A' }, like: { ...inMemory, bytes: 7, data: 'B' } },
	};
	const more = { json: json as never, files, openapi };

	it.each<[Values, Values]>([
		[{ image_url: json['My photo:'] }, { image_url: 'file: My_photo_' }],
		[{ image_urls: json.Views }, { image_urls: ['file: Views_0', 'file: Views_1'] }],
		[{ image_urls: [json.Views[1], url] }, { image_urls: ['file: Views_1', url] }],
		[{ image_url: JSON.stringify(json['My photo:']) }, { image_url: 'file: My_photo_' }],
		[{ mask: stored }, { mask: 'file: other' }],
		[{ image_urls: [told] }, { image_urls: ['file: other'] }],
		[{ mask: inMemory }, { mask: 'file: kept' }],
	])('stands for that file: %j', async (values, input) => {
		expect(await readInput({ ...inFields(values), ...more })).toEqual(input);
		expect(await readInput({ ...inJson(values), ...more })).toEqual(input);
		expect(await readInput({ ...inJson(values), ...more, openapi: undefined })).toEqual(input);
	});

	it('stands for that file where files are within the JSON, alone or in a list', async () => {
		const store = (id: number) => ({ ...stored, id: `filesystem-v2:${id}` });
		const [one, two, three] = [store(1), store(2), store(3)] as const;
		const json = { Views: [one, two], 'My photo:': three } as never;
		const values = { image_urls: [two, three] };
		const settings = { binaryMode: 'combined' } as const;
		expect(await readInput({ ...inFields(values), json, settings, openapi })).toEqual({
			image_urls: ['file: Views_1', 'file: My photo:'],
		});
	});

	it('stands for that file in an expression, as by dragging it into a field', async () => {
		const image = "={{ $json['My photo:'] }}";
		const parameters = { model: 'beta2/image-edit', image };
		expect(await readInput({ ...more, parameters })).toMatchObject({
			image_url: 'file: My_photo_',
		});
		const beside = readInput({ ...more, parameters: { ...parameters, image: `${image} ` } });
		await expect(beside).rejects.toMatchObject({
			description: expect.stringContaining('clear the field first') as string,
		});
	});

	it.each<[Values]>([
		[{ image_url: json.Old }],
		[{ image_url: { ...told, id: 'filesystem-v2:9' } }],
		[{ mask: [form('x.png')] }],
		[{ mask: { ...inMemory, bytes: 7 } }],
	])('is refused where the item has no such file: %j', async (values) => {
		for (const give of [inFields, inJson])
			await expect(readInput({ ...give(values), ...more })).rejects.toThrow(
				'but there is no file named so',
			);
	});
});

describe('anything else', () => {
	it.each(['asset:1', 'oss+x-2://b/3', 'media:clip/7'])(
		"of a service's own scheme is sent: %j",
		async (image_url) => {
			expect(await inAnyWay({ image_url }, {})).toEqual(ways.map(() => ({ image_url })));
		},
	);

	it.each([
		'date',
		'photo.png',
		'Photo:',
		'htps://a.example/1',
		'http:/a.example',
		'https//a',
		'ttp://a.example',
		'file:///a.png',
		'blob:a',
		'C:\\a.png',
		'asset: 1',
		'media.example:8443/a.png',
	])('in fields is refused, with the files of the item: %j', async (image_url) => {
		const files = pictures('front', 'back');
		for (const given of [
			inFields({ image_url }),
			{ parameters: { model: 'beta2/image-edit', image: image_url } },
		])
			await expect(prepare({ ...given, openapi, files })).rejects.toMatchObject({
				message: expect.stringContaining(
					`is ${JSON.stringify(image_url).replaceAll('\\\\', '\\')}, but there is no file`,
				) as string,
				description: expect.stringContaining('front, back') as string,
			});
	});

	it.each([false, true, 7, '={{ $json.none !== undefined && $json.none }}'])(
		'that is no text is refused in fields, unless a file is named so: %j',
		async (image) => {
			for (const give of [
				inFields({ image_url: image }),
				inFields({ image_urls: image }),
				inFields({ layers: [{ photo: image }] }),
				{ parameters: { model: 'beta2/image-edit', image } },
			])
				await expect(prepare({ ...give, openapi })).rejects.toThrow(
					'but there is no file named so',
				);
			const files = pictures(String(image).startsWith('=') ? 'false' : String(image));
			expect(await prepare({ ...inFields({ image_url: image }), openapi, files })).toBeDefined();
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
		{ image_url: 'data' },
		{ image_url: 'htps://a.example/1' },
		{ image_url: 'https//a.example/1' },
		{ image_url: 'http;//a.example/1' },
		{ image_urls: ['front / back'] },
		{ image_url: 'N/A' },
		{ sound: 'calm' },
		{ layers: [{ photo: 'C:/a.png' }] },
	])('that a description says is a URL is refused in JSON: %j', async (input) => {
		await expect(prepare({ ...inJson(input), openapi })).rejects.toThrow(
			'but there is no file named so',
		);
	});

	it('that is blank stays so within an object', async () => {
		const layers = [{ photo: ' ', more: 1 }];
		for (const give of [inFields, inJson])
			expect(await readInput({ ...give({ layers }), openapi })).toEqual({ layers });
	});

	it('is sent from JSON with a warning where only a name means a file, and from Extra Fields without', async () => {
		const request = await prepare({ ...inJson({ mask: 'auto' }), openapi });
		expect(request).toMatchObject({
			input: { mask: 'auto' },
			warning: expect.stringContaining(`'Mask' is "auto": no URL`) as string,
		});
		const options = { extraFields: { image_url: 'auto', mask: ' x ' } };
		const extra = await prepare({ ...inFields({}, { options }), openapi });
		expect(extra).toMatchObject({ input: { image_url: 'auto', mask: ' x ' }, warning: undefined });
	});
});

describe('what a stranger writes', () => {
	const secret = 'sEcret';
	it.each<[Values]>([
		[{ image_url: `https://a.b/x?sig=${secret} ${url}` }],
		[{ image_url: `https://me:${secret}@a.b/x ${url}` }],
		[{ image_url: [`https://me:${secret}@a.b`, url] }],
		[{ image_url: { mimetype: 'x', href: `https://a.b/x?sig=${secret}` } }],
		[{ style: { url: `https://a.b/x?sig=${secret}` } }],
	])('stands in an error without the query and the login of a URL: %j', async (values) => {
		const { message } = (await prepare({ ...inFields(values), openapi }).catch(
			(error: Error) => error as Error & { message: string },
		)) as Error;
		expect(message).toMatch(/^'(Image URL|Style)' (is|takes|must)/);
		expect(message).not.toContain(secret);
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
		const given = { ...inFields({ image_urls }), openapi, json: json as never };
		await expect(readInput(given)).rejects.toThrow('but there is no file named so');
		const combined = readInput({ ...given, settings: { binaryMode: 'combined' } });
		if (found.length)
			expect(await combined).toEqual({ image_urls: found.map((field) => `file: ${field}`) });
		else await expect(combined).rejects.toThrow('but there is no file named so');
	});

	it.each<[what: string, given: Given]>([
		['many warnings', inJson({ images: Array.from({ length: 2_000 }, () => 'auto') })],
		['a long name', inJson({ image_url: { ['x'.repeat(1e6)]: 2 ** 60 } })],
		['a long model', inJson({ model: 'x'.repeat(1e6), input: {} })],
	])('makes no long error or warning: %s', async (_, given) => {
		const { message, warning = message } = (await prepare({ ...given, openapi }).catch(
			(error: Error) => error,
		)) as Partial<Error & { warning: string }>;
		expect(warning?.length).toBeGreaterThan(3_000);
		expect(warning?.length).toBeLessThan(5_000);
	});

	it.each([inJson, (json: string) => inFields({}, { options: { extraFields: json } })])(
		'is refused where it is nested too deep',
		async (give) => {
			const json = `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`;
			await expect(prepare({ ...give(json), openapi })).rejects.toThrow(
				'nested less than 64 levels',
			);
		},
	);

	const make = (count: number, entry: (at: number) => unknown) =>
		Array.from({ length: count }, (_, at) => entry(at));
	it.each<[what: string, image_urls: unknown]>([
		['a data URI without data', `data:${'a'.repeat(400_000)}`],
		['addresses', make(20_000, (at) => `asset:${at}`)],
		["files of n8n's form", make(10_000, (at) => ({ filename: at, mimetype: 'x', url }))],
		['lists in lists', JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)],
	])('takes no time: %s', async (_, image_urls) => {
		const json = { image_urls } as never;
		const given = inFields({ image_urls: '={{ $json.image_urls }}' });
		const begin = performance.now();
		const error = await prepare({ ...given, json, openapi }).catch((refused: Error) => refused);
		expect(performance.now() - begin).toBeLessThan(10_000);
		expect(error).not.toBeInstanceOf(RangeError);
	});
});

describe('bytes that are no media', () => {
	const login = '<!DOCTYPE html><html><body>Sign in</body></html>';
	it.each<[what: string, bytes: string | Buffer, message: string]>([
		['nothing', '', 'is empty'],
		['a login page', login, 'is a web page'],
		['a page behind blanks', `\n\n  <html lang="en">`, 'is a web page'],
		['a JSON error', '{"error":{"message":"expired"}}', 'is a text file'],
		['a message', 'Access denied: ünknown token', 'is a text file'],
		['a JSON list', '[1, 2, 3]', 'is a text file'],
	])('are refused before the upload, whatever their type says: %s', async (_, bytes, message) => {
		for (const given of [
			inFields({ mask: 'data' }),
			inJson({ image_url: 'data' }),
			{ parameters: { model: 'beta2/image-edit', image: 'data' } },
		])
			await expect(prepare({ ...given, openapi, files: { data: bytes } })).rejects.toThrow(message);
	});

	it.each<[what: string, bytes: string | Buffer]>([
		['a picture', PNG],
		[
			'an SVG',
			`<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- Made by hand, and told so in a long comment. -->\n<svg width="1"/>`,
		],
		['a playlist', '#EXTM3U\n#EXT-X-VERSION:3\n'],
		['an unknown format', Buffer.from([0, 1, 2, 3, 200])],
	])('are not %s', async (_, bytes) => {
		expect(
			await readInput({ ...inFields({ image_url: 'data' }), openapi, files: { data: bytes } }),
		).toEqual({
			image_url: 'file: data',
		});
	});

	it.each(['image1', 'videoUrl2', 'media_urls', 'end_frame'])(
		'are refused by the words of a name: %s',
		async (name) => {
			const given = { openapi: describeModel({ [name]: link }), files: { data: login } };
			await expect(prepare({ ...inFields({ [name]: 'data' }), ...given })).rejects.toThrow(
				'is a web page',
			);
		},
	);

	it('are looked at only where the name says picture, video or sound', async () => {
		const file = describeModel({ document_file: link });
		const given = { ...inFields({ document_file: 'data' }), openapi: file, files: { data: login } };
		expect(await readInput(given)).toEqual({ document_file: 'file: data' });
	});
});
