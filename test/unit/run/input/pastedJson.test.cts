import { describeModel, inJson, prepare, readInput, text, type Values } from './door.cts';

const openapi = describeModel({ prompt: text, seed: {}, style: text });
const input = { prompt: 'A fox' };
const model = 'brand/any';
const callBackUrl = 'https://a.example';

/** The service has no catalogue. */
const NONE = new Error('Not found');

const send = async (anyInput: unknown, more: Values = {}, document: unknown = openapi) =>
	await prepare({ ...inJson(anyInput, more), openapi: document });

describe('a body is taken for its input', () => {
	it.each<[string, Values]>([
		['with model and input', { model, input }],
		['with blanks around its model', { model: ' brand/any ', input }],
		['with its input as JSON text', { model, input: JSON.stringify(input) }],
		['without a model', { input }],
		['with a model that an expression left out', { model: null, input }],
		['with a callback URL', { model, callBackUrl, input }],
		['flat, with its fields beside its model', { model, ...input }],
		['flat, with a callback URL', { model: 'brand/any\n', callBackUrl, ...input }],
	])('%s', async (_, body) => {
		for (const document of [openapi, NONE])
			for (const written of [
				body,
				JSON.stringify(body),
				`\`\`\`json\n${JSON.stringify(body)}\n\`\`\``,
			])
				expect(await send(written, {}, document)).toMatchObject({
					...{ model, input, warning: undefined },
					callBackUrl: body.callBackUrl,
				});
	});

	it.each<[string, Values, Values]>([
		['has no model and no input', { prompt: 'x', callBackUrl }, {}],
		['has a text as its input', { model: 'large', input: 'A fox' }, { input: text, model: text }],
		['has a list as its input', { input: [1] }, {}],
		[
			'has an input, which is a field of the model',
			{ model: 'x', input },
			{ input: {}, model: {} },
		],
		[
			'has a model, which is a field of the model',
			{ model: 'large', prompt: 'x' },
			{ model: text, prompt: text },
		],
	])('but not where it %s', async (_, json, properties) => {
		const document = Object.keys(properties).length ? describeModel(properties) : NONE;
		const request = await send(json, {}, document);
		expect(request).toMatchObject({ input: json });
		expect(request.callBackUrl).toBeUndefined();
	});

	it("and keeps the input's own model, by which families choose their variant", async () => {
		const own = { model: 'large', prompt: 'A fox' };
		expect(
			await send({ model, input: own }, {}, describeModel({ model: text, prompt: text })),
		).toMatchObject({ input: own, warning: undefined });
	});
});

it.each<[Values]>([[{ input }], [{ progressCallBackUrl: callBackUrl, input }], [input]])(
	'a body of another model than the chosen one is refused: %j',
	async (body) => {
		const other = { model: 'brand/other', ...body };
		await expect(send(other)).rejects.toThrow(
			"The model in 'Input (JSON)' is brand/other, but 'Choose Model' is brand/any",
		);
	},
);

it('without a description, the model of a flat body is sent as it stands, with a warning', async () => {
	const body = { model: 'large', ...input };
	const request = await send(body, {}, NONE);
	expect(request).toMatchObject({ model, input: body });
	expect(request.warning).toMatch(
		/^The model in 'Input \(JSON\)' is large, but 'Choose Model' is brand\/any\./,
	);
});

it.each<[Values, RegExp]>([
	[{ seed: 1 }, /^seed beside "input" .* wasn't sent/],
	[
		{ progressCallBackUrl: callBackUrl, callbackUrl: 'x' },
		/^progressCallBackUrl, callbackUrl beside "input" .* weren't sent/,
	],
])(
	'what stands beside input is not sent, and the warning names it: %j',
	async (beside, warning) => {
		const request = await send({ model, ...beside, input });
		expect(request).toMatchObject({ input, warning: expect.stringMatching(warning) as string });
		expect(request.callBackUrl).toBeUndefined();
	},
);

it.each([
	[[1], "'input in Input (JSON)' must be a JSON object"],
	['A fox', "'input in Input (JSON)' is not valid JSON"],
	['', "'input in Input (JSON)' is required"],
])('a body whose input is %j is refused', async (wrong, message) => {
	await expect(send({ model, input: wrong })).rejects.toThrow(message);
});

it('a body whose model an expression has lost is refused', async () => {
	const body = '={"model":"{{ $json.modl }}","input":{"prompt":"A fox"}}';
	await expect(send(body)).rejects.toThrow(
		/^'model in Input \(JSON\)' is required, but its expression \{\{ \$json\.modl/,
	);
});

describe("the node's prompt beside JSON", () => {
	it.each<[string, unknown, Values]>([
		['is added', { seed: 1 }, { seed: 1 }],
		['counts in place of another', { seed: 1, prompt: 'written' }, { seed: 1 }],
		['counts in the input of a whole body', { model, input: { seed: 1 } }, { seed: 1 }],
		['is all of it where the JSON is blank', ' \n', {}],
	])('%s', async (_, anyInput, rest) => {
		const request = await send(anyInput, { prompt: 'He said "hi"\n' });
		expect(request).toMatchObject({
			input: { ...rest, prompt: 'He said "hi"\n' },
			warning: undefined,
		});
	});

	it('leaves the JSON as it is where it is blank', async () => {
		expect((await send({ prompt: 'written' }, { prompt: ' ' })).input).toEqual({
			prompt: 'written',
		});
	});
});

it('JSON is sent as it is, with a warning for names that a document lacks', async () => {
	const request = await send({ prompt: 5, sed: ' a ', seed: '5', nothing: undefined });
	expect(request.input).toEqual({ prompt: 5, sed: ' a ', seed: '5' });
	expect(request.warning).toBe(
		'sed in Input is no field of brand/any. Its fields are prompt, seed, style. The input was sent as it is.',
	);
});

it('blank JSON is an empty input, unless the document requires a field', async () => {
	expect((await send('')).input).toEqual({});
	await expect(send('', {}, describeModel({ prompt: text }, ['prompt']))).rejects.toThrow(
		"'Prompt' is required",
	);
});

it.each(['[1]', '5', '"a"', '```\n[1]\n```'])(
	'JSON that is no object is refused: %j',
	async (anyInput) => {
		await expect(readInput(inJson(anyInput))).rejects.toThrow(
			"'Input (JSON)' must be a JSON object",
		);
	},
);

it.each(['Here it is:\n```json\n{}\n```', '```json\n{', '``` ```'])(
	'a text around a fence, or half a one, is no JSON: %j',
	async (anyInput) => {
		await expect(readInput(inJson(anyInput))).rejects.toThrow("'Input (JSON)' is not valid JSON");
	},
);

describe('the resume URL as the callBackUrl of a pasted body', () => {
	const resumeUrl = 'https://n8n.example/webhook-waiting/5?signature=secret';

	it('is what Start Without Waiting reports to, as the old node did', async () => {
		expect(await send({ model, input, callBackUrl: resumeUrl })).toMatchObject({
			callBackUrl: resumeUrl,
			warning: undefined,
		});
	});

	it('is not sent by Generate, which says that the Wait node behind would wait for ever', async () => {
		const given = { ...inJson({ model, input, callBackUrl: resumeUrl }), openapi };
		const request = await prepare({ ...given, isGenerate: true });
		expect(request.callBackUrl).toBeUndefined();
		expect(request.warning).toMatch(/^Generate waits by itself.* Delete the Wait node/);
		expect(request.warning).not.toContain('secret');
		const other = inJson({ model, input, callBackUrl: 'https://n8n.example/webhook/5' });
		expect((await prepare({ ...other, openapi, isGenerate: true })).warning).toBeUndefined();
	});
});
