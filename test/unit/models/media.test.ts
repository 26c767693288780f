import { Media, media, replaceEach } from '../../../nodes/MediaGeneration/models/media';

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
