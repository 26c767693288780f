import type { IDataObject } from 'n8n-workflow';
import { inFields, inJson, prepare, readInput, type Values } from './prepareInput.cts';

/** Values that break JSON, or change it. */
const QUOTED = 'He said "hi"\nand left';
const INJECTION = 'x", "image_url": "https://evil.example/a.png';

/** Sends Input (JSON) as the workflow stores it, for an item of this JSON. */
const send = async (stored: unknown, json: IDataObject = {}) =>
	await readInput({ ...inJson(stored), json });

describe('an expression between the quotes of a JSON text', () => {
	it.each([QUOTED, 'C:\\new', INJECTION, '{{ $json.x }}'])(
		'is sent with the value %j as it is',
		async (prompt) => {
			const stored = '={ "prompt": "{{ $json.prompt }}", "duration": "{{ 5 }}" }';
			expect(await send(stored, { prompt })).toEqual({ prompt, duration: '5' });
		},
	);

	it.each([
		['nothing beside text', 'a {{ $json.none }}', 'a '],
		['not a number', '{{ 1 * "x" }}', ''],
		['0', '{{ 0 }}', '0'],
		['false', '{{ false }}', 'false'],
		['a list', '{{ $json.list }}', 'a,"b"'],
		['a comment', '{{ /* "all" \\}} */ $json.prompt // its "text"\n }}', QUOTED],
		['an object in braces', '{{ ({ a: { b: $json.prompt } }).a.b }}', QUOTED],
		['two', '{{ $json.prompt }}{{ $json.prompt }}', QUOTED + QUOTED],
		['two backslashes that n8n makes one of', 'a\\\\n{{ $json.prompt }}', `a\n${QUOTED}`],
		['a function that is no way out', '{{ $json.prompt.replaceSpecialChars() }}', QUOTED],
	])('is what n8n writes, made safe: %s', async (_what, expression, text) => {
		const json = { prompt: QUOTED, list: ['a', '"b"'] };
		const stored = `={ "text": "${expression}", "other": "{{ 1 }}" }`;
		expect(await send(stored, json)).toEqual({ text, other: '1' });
	});

	it.each([
		['as a name, and in a list', '{ "{{ $json.a }}": ["{{ $json.a }}"] }', { [QUOTED]: [QUOTED] }],
		[
			'beside JSON of expressions',
			'{ "b": {{ [$json.a].toJsonString() }}, "a": "{{ $json.a }}" }',
			{ b: [QUOTED], a: QUOTED },
		],
		['in a code fence', '```json\n{ "a": "{{ $json.a }}" }\n```', { a: QUOTED }],
	])('is made safe %s', async (_what, template, input) => {
		expect(await send(`=${template}`, { a: QUOTED })).toEqual(input);
		const options = { extraFields: `=${template}` };
		expect(await readInput({ ...inFields({}, { options }), json: { a: QUOTED } })).toEqual(input);
	});
});

describe('a text that is made for JSON stays as it is', () => {
	it.each<[what: string, template: string, value: unknown]>([
		['by JSON.stringify', '"{{ JSON.stringify($json.a).slice(1, -1) }}"', QUOTED],
		['by toJsonString', '"{{ $json.a.toJsonString().slice(1, -1) }}"', QUOTED],
		['by replacing', `"{{ $json.a.replace(/"/g, '\\\\"').replaceAll('\\n', '\\\\n') }}"`, QUOTED],
		['as a list, in single quotes', `["{{ ['a', 'b'].join('", "') }}"]`, ['a', 'b']],
		['as a list, in double quotes', `["{{ ['a', 'b'].join("\\",\\"") }}"]`, ['a', 'b']],
	])('if it is made %s', async (_what, template, a) => {
		expect(await send(`={ "a": ${template} }`, { a: QUOTED })).toEqual({ a });
	});

	it.each<[what: string, template: string, value: unknown]>([
		['replaces line breaks', `"{{ $json.b.replace(/\\n/g, ' ') }}"`, INJECTION],
		['is stringified beside it', `"{{ JSON.stringify(1) + $json.b }}"`, `1${INJECTION}`],
		['joins a list', `["{{ [$json.b].join('", "') }}"]`, [INJECTION]],
		['joins more than texts', `["{{ 'x", {"y": 1}, "z' || ['", "'] }}"]`, ['x", {"y": 1}, "z']],
		['ends the quotes for a name', `"b{{ $json.b ? '" , "c": "d' : '' }}"`, 'b" , "c": "d'],
	])('but a stranger sets no other field where the expression %s', async (_what, template, a) => {
		expect(await send(`={ "a": ${template} }`, { b: INJECTION })).toEqual({ a });
	});
});

it.each<[stored: unknown, input: Values]>([
	['={ "text{{ $json.none }}": "{{ $json.none }}a" }', { text: 'a' }],
	[{ text: '=A "{{ $json.none }}" fox' }, { text: 'A "" fox' }],
])(
	'of what an expression has lost beside other text, nothing is sent: %j',
	async (stored, input) => {
		expect(await send(stored)).toEqual(input);
	},
);

it('a stranger makes no JSON of a template that is none', async () => {
	const sent = send('={ "a": "{{ $json.b }}" "{{ $json.b }}" }', { b: 'n", "b": "", "c": "' });
	await expect(sent).rejects.toThrow('is not valid JSON');
});

it.each(['{ "a": {{ JSON.stringify($json.a) }} }', '{{ { a: $json.a } }}'])(
	'what n8n made of an expression without quotes around it counts: %s',
	async (template) => {
		expect(await send(`=${template}`, { a: QUOTED })).toEqual({ a: QUOTED });
	},
);

it('in a field of text, JSON is made safe as well', async () => {
	const setup = { ...inFields({ text: '={ "a": "{{ $json.a }}" }' }), json: { a: QUOTED } };
	expect(await readInput(setup)).toEqual({ text: `{ "a": ${JSON.stringify(QUOTED)} }` });
});

describe('a fixed text with an expression', () => {
	it.each([
		'A {{$json["prompt"]}} in snow',
		"{{ $('Set').item.json.prompt }}",
		'{{ JSON.stringify($json) }}',
		'{{ x }} {{ $now }}',
		'{{ {{ $json.x }} }}',
		'{{\n$json.x\n}}',
		' ={{ $json.x }}',
	])('is an error as %j', async (prompt) => {
		await expect(readInput(inJson({}, { prompt }))).rejects.toThrow(
			/^'Prompt' is a fixed text with \{\{/,
		);
	});

	const json = '{{ $json.url }}';
	it.each<[where: string, parameters: Values, name: string]>([
		['JSON', inJson(`{ "prompt": "${json}" }`).parameters, 'Input (JSON)'],
		[
			'Extra Fields',
			inFields({}, { options: { extraFields: json } }).parameters,
			'Extra Fields (JSON)',
		],
		['any option', inFields({}, { options: { reference: json } }).parameters, 'Reference'],
		['a field of the mapper', inFields({ image_url: json }).parameters, 'Image URL'],
		[
			'a locator',
			inFields({}, { anyModel: { __rl: true, mode: 'id', value: json } }).parameters,
			'Choose Model',
		],
		[
			'a row',
			{ model: 'gamma-v6/reference-to-video', imageReferences: { reference: [{ image: json }] } },
			'Image',
		],
	])('is an error in %s, which names the field', async (_, parameters, name) => {
		await expect(prepare({ parameters })).rejects.toMatchObject({
			message: `'${name}' is a fixed text with ${json}, which n8n would send as it stands`,
			description: expect.stringContaining(`Point at '${name}'`) as string,
		});
	});

	it.each([
		'A sign that says $5 {{ now }}',
		'{{ name }} $json {{ size }}',
		'{{ $json',
		'$json }} and {{',
		'{{ $5 }}',
		'{ $json.x }',
	])('is no error as %j, which is text', async (prompt) => {
		expect(await readInput(inJson({}, { prompt }))).toEqual({ prompt });
	});

	it.each<[what: string, parameters: Values]>([
		['a field that the node adds', inFields({ $guide: json, a: 1 }).parameters],
		[
			'a text of the service',
			inFields(
				{},
				{
					anyModel: { __rl: true, value: 'x', cachedResultName: json },
					anyFields: { mappingMode: 'defineBelow', value: { a: 1 }, schema: [{ id: json }] },
				},
			).parameters,
		],
	])('is no error as %s', async (_, parameters) => {
		expect(await readInput({ parameters })).toEqual({ a: 1 });
	});
});
