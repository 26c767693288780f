import {
	describeModel,
	inFields,
	inJson,
	link,
	prepare,
	readInput,
	text,
	type ItemSetup,
} from './prepareInput.cts';

const openapi = describeModel(
	{ prompt: text, image_url: link, style: text, size: text, seed: { type: 'integer' } },
	['size'],
);
const url = 'https://media.example/a.png';
const edit = { model: 'beta2/image-edit', image: url };
const motion = { model: 'delta/reference-to-video' };
const size = { size: 'x' };

const lose = (lost: string) => lost.trim().slice(1);

/** Every place where an expression may lose its value, by the name that the error has. */
const places: Array<[label: string, (lost: string) => ItemSetup]> = [
	['Prompt', (prompt) => ({ parameters: { ...edit, prompt } })],
	['Prompt', (lost) => inJson(`={"size":"x","prompt":"${lose(lost)}"}`)],
	['Choose Model', (value) => inFields(size, { anyModel: { __rl: true, mode: 'id', value } })],
	['Extra Fields (JSON)', (extraFields) => inFields(size, { options: { extraFields } })],
	['Input (JSON)', (anyInput) => inJson(anyInput)],
	['Size', (lost) => inJson(`={"size":"${lose(lost)}"}`)],
	['Image URL', (image_url) => inFields({ ...size, image_url })],
	['Image URL', (lost) => inJson(`={"size":"x","image_url":"${lose(lost)}"}`)],
	[
		'Image URL',
		(lost) => inFields(size, { options: { extraFields: `={"image_url":"${lose(lost)}"}` } }),
	],
	['Image', (image) => ({ parameters: { ...edit, image } })],
	['Reference Images 2', (lost) => ({ parameters: { ...motion, referenceImages: [url, lost] } })],
	[
		'Reference Images 1 › Image',
		(image) => ({
			parameters: {
				model: 'gamma-v6/reference-to-video',
				imageReferences: { reference: [{ image }] },
			},
		}),
	],
];

const lost = [
	'={{ $json.promt }}\n',
	'={{ $json.style }} {{ $json.promt }}',
	'={{ $json.none.other }}',
];
const rows = places.flatMap(([label, give]) =>
	lost.map((expression) => [label, expression, give] as const),
);

it.each(rows)(
	'%s that has lost its value by %j is an error before anything is sent',
	async (label, expression, give) => {
		const json = { style: ' ' };
		const prepared = prepare({ ...give(expression), json, openapi });
		await expect(prepared).rejects.toThrow(`'${label}' is required, but its expression {{ $json`);
		await expect(prepared).rejects.toThrow(/(promt|other) \}\} gives nothing for this item$/);
	},
);

it.each(["={{ $json.promt ?? '' }}", '={{ null }}', '={{ $json.blank }}\n'])(
	'%j is blank on purpose',
	async (prompt) => {
		const json = { blank: null };
		for (const setup of [
			{ parameters: { ...edit, prompt } },
			inFields({ ...size, image_url: prompt }, { prompt, options: { extraFields: prompt } }),
			inJson({ size: 'x' }, { prompt }),
		])
			expect((await prepare({ ...setup, json, openapi })).warning).toBeUndefined();
	},
);

it('the prompt in JSON may be lost where Prompt has one', async () => {
	const setup = inJson('={"size":"x","prompt":"{{ $json.promt }}"}', { prompt: 'A fox' });
	expect(await readInput({ ...setup, openapi })).toEqual({ size: 'x', prompt: 'A fox' });
});

it.each<[string, ItemSetup, object]>([
	['left out of fields', inFields({ ...size, style: '={{ $json.styl }}' }), size],
	[
		'sent blank in JSON',
		inJson('={"size":"x","style":"{{ $json.styl }}"}'),
		{ ...size, style: '' },
	],
	[
		"left out of the node's own fields",
		{ parameters: { ...edit, seed: '={{ $json.styl }}' } },
		{ prompt: '', image_url: edit.image },
	],
])(
	'any other lost field is %s, and named in the warning, but not for a tool',
	async (_, setup, input) => {
		const request = await prepare({ ...setup, openapi });
		expect(request.input).toEqual(input);
		expect(request.warning).toMatch(
			/^'(Style|Seed)' was(n't sent| sent blank), because \{\{ \$json\.styl \}\} gives nothing/,
		);
		expect((await prepare({ ...setup, openapi, isTool: true })).warning).toBeUndefined();
	},
);

it("a tool's LLM reads that the field is required, and no expression", async () => {
	const setup = { ...inFields({ size: '={{ $json.promt }}' }), openapi, isTool: true };
	await expect(prepare(setup)).rejects.toThrow(/^'Size' is required$/);
});

describe('an object', () => {
	const json = { parts: { scene: 'A fox', n: [1] }, list: [{ a: 1 }], words: ['a', 'b'] };

	it.each<[prompt: string, sent: string]>([
		['={{ $json.parts }}', '{"scene":"A fox","n":[1]}'],
		['={{ $json.words }}', '["a","b"]'],
		['={{ $json.list }}', '[{"a":1}]'],
		['=Say {{ $json.words }}!', 'Say a,b!'],
		['=The text [object Object] {{ $json.parts.scene }}', 'The text [object Object] A fox'],
	])("alone in Prompt is its JSON, a list in text is n8n's: %s", async (prompt, sent) => {
		for (const setup of [
			{ parameters: { ...edit, prompt } },
			inFields(size, { prompt }),
			inJson('{"size":"x"}', { prompt }),
		])
			expect(await readInput({ ...setup, json, openapi })).toMatchObject({ prompt: sent });
	});

	it.each<[string, ItemSetup]>([
		['Prompt', { parameters: { ...edit, prompt: '=A film of {{ $json.parts }}' } }],
		['Prompt', inFields(size, { prompt: '={{ $json.list }}: {{ $json.words }}' })],
		['Style', inFields({ ...size, style: '={{ $json.words }}{{ $json.parts }}' })],
		['Input (JSON)', inJson('={"size":"x","style":"a {{ $json.parts }}"}')],
	])('beside text in %s is an error, by what the expression gives', async (label, setup) => {
		await expect(prepare({ ...setup, json, openapi })).rejects.toMatchObject({
			message: expect.stringContaining(`'${label}' has text around {{ $json.`) as string,
			description: expect.stringContaining('clear the field first') as string,
		});
	});
});
