import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { Call } from '../../../nodes/MediaGeneration/host/call';
import { prepareRequest } from '../../../nodes/MediaGeneration/run/request';
import type { Item } from '../../../nodes/MediaGeneration/run/item';
import { fake } from '../n8n';

type Values = Record<string, unknown>;

/** Prepares the request of a node with these parameters, for a service that describes a model so. */
async function prepare(
	parameters: Values,
	options: Values = {},
	openapi?: object,
	fields: string[] = [],
	...choose: [chooseCallbackUrl?: (pasted: unknown) => string | undefined]
) {
	const binary = Object.fromEntries(fields.map((name) => [name, { data: 'AAE=', mimeType: 'x' }]));
	const assertBinaryData = (_: number, name: string) => {
		if (!Object.hasOwn(binary, name)) throw new Error('n8n finds none');
		return binary[name];
	};
	const hints: string[] = [];
	const service = { credentials: {}, getModelSchema: async () => openapi ?? Promise.reject() };
	const context = fake<IExecuteFunctions>({
		addExecutionHints: ({ message }: { message: string }) => hints.push(message),
		getNode: () => ({ parameters }),
		getInputData: () => Array(4).fill({ json: {}, binary }),
		helpers: { assertBinaryData },
		additionalData: { webhookWaitingBaseUrl: 'https://n8n.example/webhook-waiting' },
	});
	const item: Item = {
		index: 3,
		call: fake<Call>({ context, isTool: false }),
		service: service as unknown as TaskService,
		read: (name: string) => parameters[name],
		option: (name: string) => options[name],
		settings: { timeoutSeconds: 1 },
	};
	return { request: await prepareRequest(item, ...choose), hints };
}

const edit = { model: 'beta2/image-edit', image: 'https://media.example/a.png', prompt: 'Snow' };

it('Extra Fields are merged over the input of the model', async () => {
	const { request } = await prepare(edit, { extraFields: '{"prompt":"Rain","nsfw":false}' });
	const input = { image_url: edit.image, prompt: 'Rain', nsfw: false };
	expect(request).toEqual({ model: edit.model, input });
});

it('a number in Extra Fields that lost digits is refused, and a date is sent as text', async () => {
	const seed = prepare(edit, { extraFields: '{"seed":9007199254740993}' });
	await expect(seed).rejects.toThrow("'Seed' must be between -9007199254740991 and");
	const at = new Date('2026-11-02T10:00:00Z');
	const { request } = await prepare(edit, { extraFields: { at, nested: [{ at }] } });
	const text = '2026-11-02T10:00:00.000Z';
	expect(request.input).toMatchObject({ at: text, nested: [{ at: text }] });
});

const properties = {
	shots: { type: 'array', items: { type: 'object' } },
	at: { type: 'string', maxLength: 24 },
};
const content = { 'application/json': { schema: { properties: { input: { properties } } } } };
const openapi = { paths: { '/jobs/createTask': { post: { requestBody: { content } } } } };
const any = { model: 'any', anyModel: 'request-test/any' };

/** Prepares the request of a model that has these properties. */
const prepareAny = (parameters: Values) => prepare({ ...any, ...parameters }, {}, openapi);

it.each([
	{ inputMode: 'json', anyInput: '{"shots":[{"seed":9007199254740993}]}' },
	{ anyFields: { value: { shots: '[{"seed":9007199254740993}]' } } },
])('a number of any model that lost digits is refused, in %j', async (parameters) => {
	await expect(prepareAny(parameters)).rejects.toThrow("'Shots 1 › Seed' must be between");
});

it('a date in a field of any model is sent as text, before its schema checks it', async () => {
	const at = new Date('2026-11-02T10:00:00Z');
	const { request } = await prepareAny({ anyFields: { value: { at } } });
	expect(request.input).toEqual({ at: '2026-11-02T10:00:00.000Z' });
});

it('an expression in a text that nobody switched to one is refused, by the name of its field', async () => {
	const anyInput = '{ "prompt": "{{ $json.prompt }}" }';
	const json = prepareAny({ inputMode: 'json', anyInput });
	await expect(json).rejects.toThrow("'Input (JSON)' is a fixed text with {{ $json.prompt }}");
	const named = prepare({ ...edit, prompt: '{{ $json.prompt }}' });
	await expect(named).rejects.toThrow("'Prompt' is a fixed text");
});

describe("the label of a form's field", () => {
	const fields = ['Product_photo', 'Views_0', 'Views_1'];
	const link = 'https://media.example/a.png';

	/** Prepares a request whose item has the fields of a form. @returns the files and URLs in its input */
	const readFiles = async (parameters: Values, openapi?: object) => {
		const { request } = await prepare(parameters, {}, openapi, fields);
		return JSON.parse(JSON.stringify(request.input)) as Values;
	};
	const list = { type: 'array', items: { type: 'string' } };
	const describeAny = (image_urls: object) => {
		const schema = { properties: { input: { properties: { image_urls, image: {} } } } };
		const post = { requestBody: { content: { 'application/json': { schema } } } };
		return { paths: { '/jobs/createTask': { post } } };
	};
	let models = 0;
	const readAny = async (value: Values, image_urls: object = list) => {
		const parameters = { model: 'any', anyModel: `form/${models++}`, anyFields: { value } };
		return await readFiles(parameters, describeAny(image_urls));
	};

	it('stands for its file', async () => {
		expect(await readFiles({ ...edit, image: 'Product photo' })).toMatchObject({
			image_url: 'Product_photo',
		});
		expect(await readAny({ image: 'Product photo' })).toEqual({ image: 'Product_photo' });
	});

	it('stands for the first of several files where one is taken', async () => {
		expect(await readFiles({ ...edit, image: 'Views' })).toMatchObject({ image_url: 'Views_0' });
		expect(await readAny({ image: 'Views' })).toEqual({ image: 'Views_0' });
		const single = { image_urls: 'Views' };
		expect(await readAny(single, { ...list, maxItems: 1 })).toEqual({ image_urls: ['Views_0'] });
	});

	it('stands for all of them in a list, beside others', async () => {
		const model = 'delta-1-1/reference-to-video';
		const reference_image = ['Product_photo', 'Views_0', 'Views_1', link];
		const referenceImages = ['Product photo', 'Views', link];
		expect(await readFiles({ model, referenceImages })).toMatchObject({ reference_image });
		const image_urls = ['Views_0', 'Views_1', link];
		expect(await readAny({ image_urls: `Views, ${link}` })).toEqual({ image_urls });
		expect(await readAny({ image_urls: ['Views', link] })).toEqual({ image_urls });
	});

	it('counts as many entries where a list is limited', async () => {
		const two = readAny({ image_urls: `Views, ${link}` }, { ...list, maxItems: 2 });
		await expect(two).rejects.toThrow("'Image URLs' may have at most 2 entries");
	});

	it('that no field has is refused as it was typed, and the error lists the fields there are', async () => {
		await expect(readAny({ image_urls: 'Nothing such' })).rejects.toMatchObject({
			message: expect.stringContaining('is "Nothing such", but') as string,
			description: expect.stringContaining('Product_photo, Views_0, Views_1') as string,
		});
	});
});

describe('a text in JSON where a file is meant', () => {
	const url = { type: 'string', format: 'uri' };
	const properties = {
		image_url: { type: 'string', description: 'Url of the image (JPEG or PNG)' },
		image_urls: { type: 'array', items: url },
		frames: { type: 'array', description: 'The URLs of up to two frames' },
		shots: { type: 'array', items: { properties: { first: url } } },
		audio: { type: 'string', description: 'A voice' },
		mask: { type: 'string', description: 'An image URL or its base64' },
		clip_url: {
			type: 'string',
			description: 'The URL of a clip, or the ID of an asset',
			format: 'uri',
		},
		clue: { type: 'string' },
	};
	const schema = { properties: { input: { properties } } };
	const post = { requestBody: { content: { 'application/json': { schema } } } };
	const openapi = { paths: { '/jobs/createTask': { post } } };
	const link = 'https://media.example/a.png';

	const send = async (anyInput: Values, fields: string[] = [], options: Values = {}) => {
		const parameters = { model: 'any', anyModel: 'files/any', inputMode: 'json', anyInput };
		const { request } = await prepare(parameters, options, openapi, fields);
		return { ...request, input: JSON.parse(JSON.stringify(request.input)) as Values };
	};

	it.each<[Values, RegExp]>([
		[{ image_url: 'data' }, /^'Image URL' is "data", but/],
		[{ image_url: 'photo.png' }, /^'Image URL' is "photo\.png", but/],
		[{ image_url: 'C:\\a.png' }, /^'Image URL' is "C:\\a\.png", but/],
		[{ image_url: 'C:/photos/a.png' }, /^'Image URL' is "C:\/photos\/a\.png", but/],
		[{ image_urls: ['front / back'] }, /^'Image URLs' is "front \/ back", but/],
		[{ image_url: 'N/A' }, /^'Image URL' is "N\/A", but/],
		[{ image_url: '[object Object]' }, /^'Image URL' is "\[object Object\]", but/],
		[{ image_urls: [link, 'data'] }, /^'Image URLs' is "data", but/],
		[{ frames: ['data'] }, /^'Frames' is "data", but/],
		[{ shots: [{ first: 'data' }] }, /^'First' is "data", but/],
		[{ model: 'files/any', input: { image_url: 'data' } }, /^'Image URL' is "data", but/],
	])('is refused if the item lacks a file of that name: %j', async (input, message) => {
		await expect(send(input)).rejects.toThrow(message);
		await expect(send(input, ['other'])).rejects.toMatchObject({
			description: expect.stringContaining('Enter a file of this item: other.') as string,
		});
	});

	it.each<[Values, string[], Values]>([
		[{ image_url: 'photo.png' }, ['photo.png'], { image_url: 'photo.png' }],
		[{ image_url: ' photo ' }, ['photo'], { image_url: 'photo' }],
		[{ image_urls: ['a.b', link] }, ['a.b'], { image_urls: ['a.b', link] }],
		[{ image_url: 'My photo' }, ['My_photo'], { image_url: 'My_photo' }],
		[
			{ image_urls: ['Views', link] },
			['Views_0', 'Views_1'],
			{ image_urls: ['Views_0', 'Views_1', link] },
		],
	])('is a file if the item has one of that name: %j', async (given, fields, input) => {
		expect(await send(given, fields)).toMatchObject({ input, warning: undefined });
	});

	it.each<[Values]>([
		[{ image_url: link, image_urls: [link, 'asset:1', 'asset://a', 'data:image/png;base64,AAE='] }],
		[{ image_url: 'media.example/a.png', frames: ['//media.example/a', '/uploads/a', 'a/b'] }],
		[
			{
				image_url: ` ${link}\n`,
				image_urls: ['localhost:3000/a', 'https://a.example/my photo.png'],
			},
		],
		[{ image_url: '', image_urls: ['', ' '], frames: [], shots: [{ first: null }] }],
		[{ clue: 'data' }],
	])('is sent as it is where it may be a URL, or no file is meant: %j', async (input) => {
		expect(await send(input)).toMatchObject({ input, warning: undefined });
	});

	it.each<[Values, RegExp]>([
		[{ audio: 'calm' }, /^'Audio' is "calm": no URL, and no file of the item\./],
		[{ mask: 'AAEC', clip_url: 'clip-1' }, /^'Mask' is "AAEC", 'Clip URL' is "clip-1": no URL/],
		[
			{ model: 'files/any', seed: 1, input: { audio: 'calm' } },
			/^seed beside .* 'Audio' is "calm"/,
		],
	])('is sent with a warning where its name alone means a file: %j', async (given, warning) => {
		const { input = given } = given;
		expect(await send(given)).toMatchObject({
			input,
			warning: expect.stringMatching(warning) as string,
		});
	});

	it('is sent as it is from Extra Fields, whatever the document says', async () => {
		const extraFields = { image_url: 'auto' };
		const { input } = await send({ image_url: 'data' }, [], { extraFields });
		expect(input).toEqual(extraFields);
	});
});

it('a model that the node does not have is refused, and the error leads to all others', async () => {
	const description: unknown = expect.stringContaining('choose All Models of Your Service');
	await expect(prepare({ model: 'no-such' })).rejects.toMatchObject({ description });
});

it('a name that a document lacks is sent, with a warning that goes with the request', async () => {
	const anyInput = { faktor: 1 };
	const { request, hints } = await prepareAny({ inputMode: 'json', anyInput });
	const warning =
		'faktor in Input is no field of request-test/any. Its fields are shots, at. The input was sent as it is.';
	expect(request).toEqual({ model: any.anyModel, input: anyInput, warning });
	expect(hints).toEqual([]);
});

describe('the resume URL as the callBackUrl of a pasted body', () => {
	const anyInput = (callBackUrl: unknown) => ({
		...{ inputMode: 'json', anyInput: { model: any.anyModel, input: {}, callBackUrl } },
	});
	const resumeUrl = 'https://n8n.example/webhook-waiting/5?signature=secret';

	it('is not sent by Generate, which says that the Wait node behind would wait for ever', async () => {
		const { request } = await prepareAny(anyInput(resumeUrl));
		expect(request.callBackUrl).toBeUndefined();
		expect(request.warning).toMatch(/^Generate waits by itself.* Delete the Wait node/);
		expect(request.warning).not.toContain('secret');
	});

	it.each([undefined, '', 5, 'https://n8n.example/webhook/5'])('is not %j', async (url) => {
		expect((await prepareAny(anyInput(url))).request.warning).toBeUndefined();
	});

	it('is what Start Without Waiting reports to, as the old node did', async () => {
		const choose = (pasted: unknown) => pasted as string;
		const parameters = { ...any, ...anyInput(resumeUrl) };
		const { request } = await prepare(parameters, {}, openapi, [], choose);
		expect(request).toMatchObject({ callBackUrl: resumeUrl, warning: undefined });
	});
});
