import {
	Media,
	media,
	mediaList,
	replaceEach,
	splitQuoted,
} from '../../../nodes/MediaGeneration/models/media';
import { expectLinear, fill } from '../linear.cts';

describe('media', () => {
	it.each([
		['https://media.example/a.png', true],
		[' http://media.example/a.png ', true],
		['data', false],
		['my photo.png', false],
		['photo (a:b).png', false],
	])('takes %j', (text, isUrl) => {
		const value = media().parse(text) as Media;
		expect(value).toMatchObject({ source: text.trim(), isUrl });
	});

	const url = 'https://media.example/a.png';

	it.each([
		{ url },
		[
			{
				id: 'att1',
				url,
				filename: 'a.png',
				type: 'image/png',
				thumbnails: { small: { url: 'x' } },
			},
		],
		{ url, mimetype: 'image/png', title: 'a.png' },
		JSON.stringify([{ url }]),
	])('takes the URL of %j', (object) => {
		expect(media().parse(object)).toMatchObject({ source: url, isUrl: true });
	});

	it.each([
		{ mimeType: 'image/png', data: 'filesystem-v2', id: 'filesystem-v2:1', fileName: 'a.png' },
		{ filename: 'a.png', mimetype: 'image/png', size: 1 },
	])("keeps n8n's own object of a file for the error that knows the item: %j", (object) => {
		const { source, isUrl } = media().parse(object) as Media;
		expect([JSON.parse(source), isUrl]).toEqual([object, false]);
	});

	it('keeps the first of several such objects', () => {
		const [first, second] = ['a', 'b'].map((filename) => ({ filename, mimetype: 'image/png' }));
		expect(media().parse([first, second])).toMatchObject({ source: JSON.stringify(first) });
	});

	it.each([{ a: 1 }, [{ url }, { url }], { url: 1 }, []])('refuses %j', (object) => {
		expect(media().safeParse(object).error?.issues[0]?.message).toBe('must be text');
	});

	it.each([
		['"https://a.example/1,2", "data"', ['https://a.example/1,2', 'data']],
		['"https://a.example/1",\n\'data\',\n', ['https://a.example/1', 'data']],
		['["https://a.example/1", “data”]', ['https://a.example/1', 'data']],
		['„https://a.example/1“, «data», ‘photo’,', ['https://a.example/1', 'data', 'photo']],
		['”https://a.example/1”, „data”', ['https://a.example/1', 'data']],
		['- "https://a.example/1"\n- "data"', ['- "https://a.example/1"\n- "data"']],
		['the "big", one', ['the "big", one']],
		['my photo, front', ['my photo, front']],
	])('takes from %j a list, if it has quotes', (pasted, sources) => {
		const list = mediaList().parse([pasted]) as Media[];
		expect(list.map(({ source }) => source)).toEqual(sources);
	});

	it('splits what was pasted in linear time', () => {
		for (const text of ['"', '"a', "'", '“', '„', '”', '‘', '«', '",', '[', ' "\'', '"a" '])
			expectLinear(() => splitQuoted(fill(text, 1e6)));
	});

	it.each([
		'ftp://media.example/a.png',
		'file:///etc/passwd',
		'https://',
		'data:image/png;base64,AA',
	])('refuses %j, which is a URL of another kind', (text) => {
		expect(media().safeParse(text).error?.issues[0]?.message).toContain(
			'must be a URL that begins',
		);
	});
});

describe('a request with media in it', () => {
	const input = {
		prompt: 'x',
		nothing: null,
		at: new Date(0),
		urls: [new Media('a')],
		items: [{ image_url: new Media('b'), n: 1 }],
	};

	it('has them replaced in a copy, one after the other', async () => {
		let open = 0;
		const upload = async ({ source }: Media) => {
			expect(++open).toBe(1);
			await Promise.resolve();
			open--;
			return `https://up.example/${source}`;
		};
		expect(await replaceEach(input, Media, upload)).toEqual({
			prompt: 'x',
			nothing: null,
			at: new Date(0),
			urls: ['https://up.example/a'],
			items: [{ image_url: 'https://up.example/b', n: 1 }],
		});
		expect(JSON.stringify([input.urls, input.items])).toBe('[["a"],[{"image_url":"b","n":1}]]');
	});
});
