import { describeModel, inJson, prepare, text, type Values } from './prepareInput.cts';

const openapi = describeModel({ prompt: text, seed: {}, style: text });
const choices = describeModel({
	size: { enum: ['1K', 4] },
	sizes: { type: 'array', items: { enum: ['a b'] } },
});
const input = { prompt: 'A fox' };
const model = 'brand/any';
const callBackUrl = 'https://a.example';

/** The service has no catalogue. */
const NONE = new Error('Not found');

const send = async (anyInput: unknown, more: Values = {}, document: unknown = openapi) =>
	await prepare({ ...inJson(anyInput, more), openapi: document });

describe('a body is taken for its input', () => {
	it.each<[string, Values]>([
		['with blanks around its model', { model: ' brand/any ', input }],
		['with its input as JSON text', { model, input: JSON.stringify(input) }],
		['without a model', { model: null, input }],
		['with a callback URL', { callBackUrl, input }],
		['flat, with its fields beside its model', { model, ...input }],
		['flat, with a callback URL', { model: 'brand/any\n', callBackUrl, ...input }],
	])('if it comes %s', async (_, body) => {
		const json = JSON.stringify(body);
		for (const document of [openapi, NONE])
			for (const written of [body, json, `\`\`\`json\n${json}\n\`\`\``])
				expect(await send(written, {}, document)).toMatchObject({
					model,
					input,
					warning: undefined,
					callBackUrl: body.callBackUrl,
				});
	});

	it.each<[string, Values, Values | undefined]>([
		['has no model and no input', { prompt: 'x', callBackUrl }, undefined],
		['has a text as its input', { model: 'large', input: 'A fox' }, undefined],
		['has a list as its input', { input: [1] }, undefined],
		[
			'has an input, which is a field of the model',
			{ model: 'x', input },
			{ input: {}, model: {} },
		],
		['has a model, which is a field of the model', { model: 'large' }, { model: text }],
	])('but not where it %s', async (_, json, properties) => {
		const request = await send(json, {}, properties ? describeModel(properties) : NONE);
		expect(request).toMatchObject({ input: json });
		expect(request.callBackUrl).toBeUndefined();
	});

	it("and keeps the input's own model, by which families choose their variant", async () => {
		const own = { model: 'large' };
		const request = await send({ model, input: own }, {}, describeModel({ model: text }));
		expect(request).toMatchObject({ input: own, warning: undefined });
	});
});

describe('where Choose Model is blank, the model of a body', () => {
	const body = { model: 'brand/large', input };
	const json = JSON.stringify(body);
	const blank = { __rl: true, mode: 'list', value: '' };
	const sendBody = async (anyInput: unknown, anyModel: unknown = blank, more: object = {}) =>
		await prepare({ ...inJson(anyInput, { anyModel }), openapi, ...more });

	it.each([json, `=${json}`, `\`\`\`json\n${json}\n\`\`\``, JSON.stringify({ ...body, ...input })])(
		'counts if it was pasted: %s',
		async (pasted) => {
			expect(await sendBody(pasted)).toMatchObject({ model: 'brand/large', input });
			expect(await sendBody(pasted, '')).toMatchObject({ model: 'brand/large', input });
		},
	);

	it.each<[string, unknown, unknown?, object?]>([
		['in a tool', json, blank, { isTool: true }],
		['where an expression gives no model', json, { ...blank, value: '={{ $json.none }}' }],
		['of an expression', '={{ $json.body }}', blank, { json: { body } }],
		[
			'in an expression',
			'={"model":"{{ $json.body.model }}","input":{}}',
			blank,
			{ json: { body } },
		],
		['where an expression gives a blank locator', json, '={{ $json.blank }}', { json: { blank } }],
		[
			'that an expression chooses among other texts',
			`={"model":"{{ $json.body.model }}","input":{"prompt":"brand/large"}}`,
			blank,
			{ json: { body } },
		],
		['that has none', JSON.stringify({ input })],
	])('does not count %s', async (_, ...setup) => {
		await expect(sendBody(...setup)).rejects.toThrow("'Choose Model' is required");
	});
});

const OTHER = "The model in 'Input (JSON)' is large, but 'Choose Model' is brand/any";

it.each<[Values]>([[{ input }], [{ progressCallBackUrl: callBackUrl, input }], [input]])(
	'a body of another model than the chosen one is an error: %j',
	async (body) => {
		await expect(send({ model: 'large', ...body })).rejects.toThrow(OTHER);
	},
);

it('without a description, the model of a flat body is sent as it stands, with a warning', async () => {
	const body = { model: 'large', ...input };
	const request = await send(body, {}, NONE);
	expect(request).toMatchObject({ model, input: body, warning: `${OTHER}.` });
});

it('what stands beside input is not sent, and the warning names it', async () => {
	const request = await send({ model, seed: 1, callbackUrl: 'x', input });
	const warning = `Beside "input" in 'Input (JSON)', this wasn't sent: seed, callbackUrl.`;
	expect(request).toMatchObject({ input, warning });
	expect(request.callBackUrl).toBeUndefined();
});

it.each([
	[{ model, input: [1] }, "'input in Input (JSON)' must be a JSON object"],
	[{ model, input: 'A fox' }, "'input in Input (JSON)' is not valid JSON"],
	[{ model, input: '' }, "'input in Input (JSON)' is required"],
	['[1]', "'Input (JSON)' must be a JSON object"],
	['```\n"a"\n```', "'Input (JSON)' must be a JSON object"],
	['Here it is:\n```json\n{}\n```', "'Input (JSON)' is not valid JSON"],
	['```json\n{', "'Input (JSON)' is not valid JSON"],
	[
		'={"model":"{{ $json.modl }}","input":{}}',
		"'model in Input (JSON)' is required, but its expression {{ $json.modl",
	],
])('nothing is sent of %j', async (written, message) => {
	await expect(send(written)).rejects.toThrow(message);
});

it.each<[string, unknown, Values]>([
	['is added', { seed: 1 }, { seed: 1 }],
	['counts in place of another', { seed: 1, prompt: 'written' }, { seed: 1 }],
	['counts in the input of a whole body', { model, input: { seed: 1 } }, { seed: 1 }],
	['is all of it where the JSON is blank', ' \n', {}],
])("the node's prompt beside JSON %s", async (_, anyInput, rest) => {
	const request = await send(anyInput, { prompt: 'He said "hi"\n' });
	const sent = { ...rest, prompt: 'He said "hi"\n' };
	expect(request).toMatchObject({ input: sent, warning: undefined });
});

it('JSON has no warning for a name that only the panel leaves out', async () => {
	const request = await send({ $style: 'a' }, {}, describeModel({ prompt: text, $style: text }));
	expect(request).toMatchObject({ input: { $style: 'a' }, warning: undefined });
});

it('JSON is sent as it is, with a warning for names that a document lacks', async () => {
	const request = await send({ prompt: 5, sed: ' a ', seed: '5' }, { prompt: ' ' });
	expect(request).toMatchObject({
		input: { prompt: 5, sed: ' a ', seed: '5' },
		warning: 'sed in Input is no field of brand/any. Its fields are prompt, seed, style.',
	});
});

it.each<[Values, Values]>([
	[{ size: ' 1K\r\n' }, { size: '1K' }],
	[{ sizes: ['\u00a0a b'] }, { sizes: ['a b'] }],
	[{ size: ' 2K ' }, { size: ' 2K ' }],
])('a choice in JSON loses the blanks around it: %j', async (json, sent) => {
	expect((await send(json, {}, choices)).input).toEqual(sent);
});

it('blank JSON is an empty input, unless the document requires a field', async () => {
	expect((await send('')).input).toEqual({});
	const result = send('', {}, describeModel({ prompt: text }, ['prompt']));
	await expect(result).rejects.toThrow("'Prompt' is required");
});

it('the resume URL as the callBackUrl of a body is not for Generate, behind which a Wait node would wait for ever', async () => {
	const own = 'https://n8n.example/webhook-waiting/5?signature=secret';
	const send = async (callBackUrl: string, isGenerate = true) =>
		await prepare({ ...inJson({ input, callBackUrl }), openapi, isGenerate });
	expect(await send(own, false)).toMatchObject({ callBackUrl: own, warning: undefined });
	const { warning, ...request } = await send(own);
	expect(request.callBackUrl).toBeUndefined();
	expect(warning).toMatch(/^Generate waits by itself[^?]* Delete the Wait node/);
	expect((await send('https://n8n.example/webhook/5')).warning).toBeUndefined();
});
