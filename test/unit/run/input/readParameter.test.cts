import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { Call } from '../../../../nodes/MediaGeneration/host/call';
import { Nothing } from '../../../../nodes/MediaGeneration/models/values';
import { ParameterReader } from '../../../../nodes/MediaGeneration/run/input/readParameter';
import { evaluate } from '../../expression.ts';
import { expectLinear, fill } from '../../linear.cts';
import { fake } from '../../n8n.ts';

const fields = [
	{ displayName: 'JSON', name: 'json', type: 'json' },
	{ displayName: 'Text', name: 'text', type: 'string' },
	{ displayName: 'Options', name: 'options', type: 'collection' },
] as INodeProperties[];

/** Values that break JSON, or change it. */
const QUOTED = 'He said "hi"\nand left';
const INJECTION = 'x", "image_url": "https://evil.example/a.png';

/** Reads a parameter that the workflow stores, for an item of this JSON. */
function read(stored: unknown, json: IDataObject = {}, name = 'json', more: object = {}): unknown {
	const context = fake<IExecuteFunctions>({
		getNodeParameter: (_name: string, _item: number, _default: unknown, options?: object) =>
			options ? stored : evaluate(stored, json),
		evaluateExpression: (template: string) => evaluate(`=${template}`, json),
		...more,
	});
	return new ParameterReader(fake<Call>({ context, isTool: false }), fields, 0).read(name);
}

describe('an expression between the quotes of a JSON text', () => {
	it.each([QUOTED, 'C:\\new', INJECTION, '\t', '\\', '"', '{{ $json.x }}', '', 'plain'])(
		'is sent with the value %j as it is',
		(prompt) => {
			const stored = '={ "prompt": "{{ $json.prompt }}", "duration": "{{ 5 }}" }';
			expect(read(stored, { prompt })).toEqual({ prompt, duration: '5' });
		},
	);

	it.each([
		['nothing', '{{ $json.none }}', new Nothing('{{ $json.none }}', true)],
		[
			'nothing beside a blank',
			' {{ $json.none }}{{ $json.list[5] }}',
			new Nothing('{{ $json.none }}', true),
		],
		['nothing beside text', 'a {{ $json.none }}', 'a '],
		['null', '{{ null }}', ''],
		['not a number', '{{ 1 * "x" }}', ''],
		['0', '{{ 0 }}', '0'],
		['false', '{{ false }}', 'false'],
		['a list', '{{ $json.list }}', 'a,"b"'],
		['a comment', '{{ /* "all" }\\}} */ $json.prompt // its "text"\n }}', QUOTED],
		['a ternary', `{{ $json.none ? "an \\"a\\"" : 'no "b"' }}`, 'no "b"'],
		['an object in braces', '{{ ({ a: { b: $json.prompt } }).a.b }}', QUOTED],
		['a function of n8n', '{{ $json.prompt.trim() }}', QUOTED],
		['a semicolon', '{{ $json.prompt; }}', QUOTED],
		['two', '{{ $json.prompt }}{{ $json.prompt }}', QUOTED + QUOTED],
		['a quoted one', 'a \\"{{ $json.prompt }}\\" fox', `a "${QUOTED}" fox`],
		['braces without an end', '}} {{ $json.prompt }}', `}} ${QUOTED}`],
		['two backslashes that n8n makes one of', 'a\\\\n{{ $json.prompt }}', `a\n${QUOTED}`],
		['a function that is no way out', '{{ $json.prompt.replaceSpecialChars() }}', QUOTED],
	])('is what n8n writes, made safe: %s', (_what, expression, value) => {
		const json = { prompt: QUOTED, list: ['a', '"b"'] };
		const stored = `={ "prompt": "${expression}", "other": "{{ 1 }}" }`;
		expect(read(stored, json)).toEqual({ prompt: value, other: '1' });
	});

	it.each([
		['as a name, and in a list', '{ "{{ $json.a }}": ["{{ $json.a }}"] }', { [QUOTED]: [QUOTED] }],
		[
			'beside JSON of expressions',
			'{ "b": {{ [$json.a].toJsonString() }}, "a": "{{ $json.a }}" }',
			{ b: [QUOTED], a: QUOTED },
		],
		['in a code fence', '```json\n{ "a": "{{ $json.a }}" }\n```', { a: QUOTED }],
	])('is made safe %s', (_what, template, value) => {
		expect(read(`=${template}`, { a: QUOTED })).toEqual(value);
	});

	it('in Extra Fields too, beside other options', () => {
		const stored = { extraFields: '={ "a": "{{ $json.a }}" }', concurrency: 2 };
		expect(read(stored, { a: QUOTED }, 'options')).toEqual({
			extraFields: { a: QUOTED },
			concurrency: 2,
		});
	});
});

describe('a text that is made for JSON stays as it is', () => {
	it.each<[what: string, template: string, value: unknown]>([
		['by JSON.stringify', '"{{ JSON.stringify($json.a).slice(1, -1) }}"', QUOTED],
		['by toJsonString', '"{{ $json.a.toJsonString().slice(1, -1) }}"', QUOTED],
		['by replacing', `"{{ $json.a.replace(/"/g, '\\\\"').replaceAll('\\n', '\\\\n') }}"`, QUOTED],
		['as a list, in single quotes', `["{{ ['a', 'b'].join('", "') }}"]`, ['a', 'b']],
		['as a list, in double quotes', `["{{ ['a', 'b'].join("\\",\\"") }}"]`, ['a', 'b']],
	])('%s', (_what, template, value) => {
		expect(read(`={ "a": ${template} }`, { a: QUOTED })).toEqual({ a: value });
	});

	it.each<[what: string, template: string, value: unknown]>([
		['replaces line breaks', `"{{ $json.b.replace(/\\n/g, ' ') }}"`, INJECTION],
		['replaces all', `"{{ $json.b.replaceAll('z', ' ') }}"`, INJECTION],
		['is stringified beside it', `"{{ JSON.stringify(1) + $json.b }}"`, `1${INJECTION}`],
		['joins a list', `["{{ [$json.b].join('", "') }}"]`, [INJECTION]],
		['ends the quotes for a name', `"b{{ $json.b ? '" , "c": "d' : '' }}"`, 'b" , "c": "d'],
	])('but a stranger sets no other field where the expression %s', (_what, template, value) => {
		expect(read(`={ "a": ${template} }`, { b: INJECTION })).toEqual({ a: value });
	});
});

it.each([
	['where the template is no JSON', '{ "a": "{{ $json.b }}" "{{ $json.b }}" }'],
	['behind a backslash', '{ "a": "C:\\\\{{ $json.b }}" }'],
])('a stranger makes no JSON of a template that is none: %s', (_what, template) => {
	const b = 'n", "b": "';
	const text = String(read(`=${template}`, { b: `${b}", "c": "` }));
	expect(() => JSON.parse(text) as unknown).toThrow();
});

describe('what n8n made of the expression counts', () => {
	it.each([
		['without quotes around it', '{ "a": {{ JSON.stringify($json.a) }} }'],
		['behind braces that are text', '{ "a": "\\{{ $json.a }}" }'],
	])('%s', (_what, template) => {
		expect(read(`=${template}`, { a: QUOTED })).toEqual(evaluate(`=${template}`, { a: QUOTED }));
	});

	it('as a whole, in a field of text, and in a fixed one', () => {
		expect(read('={{ { a: $json.a } }}', { a: QUOTED })).toEqual({ a: QUOTED });
		const stored = '={ "a": "{{ $json.a }}" }';
		expect(read(stored.slice(1), { a: '"' })).toBe(stored.slice(1));
		expect(read(42)).toBe(42);
	});

	it("but not where the expression can't be evaluated again", () => {
		const more = {
			evaluateExpression: () => {
				throw new Error('no');
			},
		};
		expect(() => read('={ "a": "{{ $json.a }}" }', { a: 'fox' }, 'json', more)).toThrow('no');
	});
});

it.each(['\\', '"', '{', '\\{{', '}}{{', '"{{ 1 }}"'])('takes linear time for many %j', (text) => {
	const stored = `={ "a": "{{ 1 }}${fill(text, 1_000_000)}`;
	const more = { getNodeParameter: () => stored, evaluateExpression: () => 1 };
	expectLinear(() => expect(typeof read(stored, {}, 'json', more)).toBe('string'));
});
