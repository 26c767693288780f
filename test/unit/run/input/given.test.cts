import {
	describeModel,
	inFields,
	inJson,
	link,
	prepare,
	readInput,
	text,
	type Given,
	type Values,
} from './door.cts';

const openapi = describeModel(
	{ prompt: text, image_url: link, style: text, size: text, seed: { type: 'integer' } },
	['size'],
);
const edit = { model: 'beta2/image-edit', image: 'https://media.example/a.png' };
const motion = {
	model: 'delta/reference-to-video',
	referenceImages: ['https://media.example/a.png'],
};
const size = { size: 'x' };

/** Every place where an expression may lose its value, by the name that the error has. */
const places: Array<[label: string, (expression: string) => Given]> = [
	['Prompt', (prompt) => ({ parameters: { ...edit, prompt } })],
	['Prompt', (prompt) => inFields(size, { prompt })],
	['Prompt', (prompt) => inJson('{"size":"x"}', { prompt })],
	['Prompt', (prompt) => inJson(`={"size":"x","prompt":"${prompt.trim().slice(1)}"}`)],
	['Choose Model', (value) => inFields(size, { anyModel: { __rl: true, mode: 'id', value } })],
	['Choose Model', (anyModel) => inFields(size, { anyModel })],
	['Extra Fields (JSON)', (extraFields) => inFields(size, { options: { extraFields } })],
	['Input (JSON)', (anyInput) => inJson(anyInput)],
	['Size', (lost) => inFields({ size: lost })],
	['Size', (lost) => inJson(`={"size":"${lost.trim().slice(1)}"}`)],
	['Image URL', (image_url) => inFields({ ...size, image_url })],
	['Image URL', (lost) => inJson(`={"size":"x","image_url":"${lost.trim().slice(1)}"}`)],
	[
		'Image URL',
		(lost) =>
			inJson('{"size":"x"}', {
				options: { extraFields: `={"image_url":"${lost.trim().slice(1)}"}` },
			}),
	],
	['Image', (image) => ({ parameters: { ...edit, image } })],
	[
		'Reference Images',
		(lost) => ({ parameters: { ...motion, referenceImages: ['https://a.example/1.png', lost] } }),
	],
	[
		'Image',
		(image) => ({
			parameters: {
				model: 'gamma-v6/reference-to-video',
				imageReferences: { reference: [{ image }] },
			},
		}),
	],
];

const lost = [
	'={{ $json.promt }}',
	'={{ $json.promt }}\n',
	'={{ $json.style }} {{ $json.promt }}',
	'={{ $json.none.other }}',
];
const rows = places.flatMap(([label, give]) =>
	lost.map((expression) => [label, expression, give] as const),
);

it.each(rows)(
	'%s that has lost its value by %j is refused before anything is sent',
	async (label, expression, give) => {
		const json = { style: ' ', listed: [] };
		await expect(prepare({ ...give(expression), json, openapi })).rejects.toMatchObject({
			message: expect.stringMatching(
				new RegExp(
					`^'${label.replace(/[()]/g, '.')}' is required, but its expression .*(promt|none\\.other).* gives nothing for this item$`,
				),
			) as string,
		});
	},
);

it.each(["={{ $json.promt ?? '' }}", '={{ null }}', '={{ $json.blank }}', '={{ $json.blank }}\n'])(
	'%j is blank on purpose',
	async (prompt) => {
		const json = { blank: null };
		for (const given of [
			{ parameters: { ...edit, prompt } },
			inFields({ ...size, image_url: prompt }, { prompt, options: { extraFields: prompt } }),
			inJson({ size: 'x' }, { prompt }),
		])
			expect((await prepare({ ...given, json, openapi })).warning).toBeUndefined();
	},
);

it('a prompt that Prompt fills in may be lost in JSON', async () => {
	const given = inJson('={"size":"x","prompt":"{{ $json.promt }}"}', { prompt: 'A fox' });
	expect(await readInput({ ...given, openapi })).toEqual({ size: 'x', prompt: 'A fox' });
});

it.each<[string, Given, object]>([
	['left out of fields', inFields({ ...size, style: '={{ $json.styl }}' }), size],
	[
		'sent blank in JSON',
		inJson('={"size":"x","style":"{{ $json.styl }}"}'),
		{ ...size, style: '' },
	],
	[
		'sent blank in a list of JSON',
		inJson('={"size":"x","seed":["{{ $json.styl }}"]}'),
		{ ...size, seed: '' },
	],
	[
		"left out of the node's own fields",
		{ parameters: { ...edit, seed: '={{ $json.styl }}' } },
		{ prompt: '', image_url: edit.image },
	],
])(
	'any other lost field is %s, and named in the warning, but not for a tool',
	async (_, given, input) => {
		const request = await prepare({ ...given, openapi });
		expect(request.input).toEqual(input);
		expect(request.warning).toMatch(
			/^'(Style|Seed)' was(n't sent| sent blank), because \{\{ \$json\.styl \}\} gives nothing/,
		);
		expect((await prepare({ ...given, openapi, isTool: true })).warning).toBeUndefined();
	},
);

it("a tool's model reads that the field is required, and no expression", async () => {
	const given = { ...inFields({ size: '={{ $json.promt }}' }), openapi, isTool: true };
	await expect(prepare(given)).rejects.toThrow(/^'Size' is required$/);
});

it('a long expression is cut', async () => {
	const given = inFields({ size: `={{ $json.${'x'.repeat(900)} }}` });
	const error = await prepare({ ...given, openapi }).catch((refused: Error) => refused);
	expect(String((error as Error).message).length).toBeLessThan(150);
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
		for (const given of [
			{ parameters: { ...edit, prompt } },
			inFields(size, { prompt }),
			inJson('{"size":"x"}', { prompt }),
		])
			expect(await readInput({ ...given, json, openapi })).toMatchObject({ prompt: sent });
	});

	it.each<[string, Given]>([
		['Prompt', { parameters: { ...edit, prompt: '=A film of {{ $json.parts }}' } }],
		['Prompt', inFields(size, { prompt: '={{ $json.list }}: {{ $json.words }}' })],
		['Style', inFields({ ...size, style: '={{ $json.words }}{{ $json.parts }}' })],
		['Input (JSON)', inJson('={"size":"x","style":"a {{ $json.parts }}"}')],
	])('beside text in %s is refused, by the value of its expression', async (label, given) => {
		await expect(prepare({ ...given, json, openapi })).rejects.toMatchObject({
			message: expect.stringContaining(`'${label}' has text around {{ $json.`) as string,
			description: expect.stringContaining('clear the field first') as string,
		});
	});
});

describe('an expression in a text that nobody switched to one', () => {
	it.each<[string, Values]>([
		['Input (JSON)', inJson('{ "prompt": "{{ $json.prompt }}" }').parameters],
		['Prompt', { ...edit, prompt: '{{ $json.prompt }}' }],
	])('in %s is refused', async (label, parameters) => {
		await expect(prepare({ parameters })).rejects.toThrow(
			`'${label}' is a fixed text with {{ $json.prompt }}`,
		);
	});
});
