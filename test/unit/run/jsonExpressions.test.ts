import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { readParameter } from '../../../nodes/MediaGeneration/run/jsonExpressions';
import { evaluate } from '../expression';
import { expectLinear, fill } from '../linear.cts';
import { fake } from '../n8n';

const fields = [
	{ name: 'json', type: 'json' },
	{ name: 'text', type: 'string' },
	{ name: 'options', type: 'collection' },
] as INodeProperties[];

/** Values that break JSON, or change it. */
const QUOTED = 'He said "hi"\nand left';
const PATH = 'C:\\new';
const INJECTION = 'x", "image_url": "https://evil.example/a.png';

/** Reads a parameter that the workflow stores, for an item of this JSON. */
function read(stored: unknown, json: IDataObject = {}, name = 'json', more: object = {}): unknown {
	const context = fake<IExecuteFunctions>({
		getNodeParameter: (_name: string, _item: number, _default: unknown, options?: object) =>
			options ? stored : evaluate(stored, json),
		evaluateExpression: (template: string) => evaluate(`=${template}`, json),
		...more,
	});
	return readParameter(context, fields, 0, name);
}

const readJson = (stored: string, json: IDataObject) =>
	JSON.parse(String(read(stored, json))) as unknown;

describe('an expression between the quotes of a JSON text', () => {
	it.each([QUOTED, PATH, INJECTION, '\t', '\\', '"', '{{ $json.x }}', '', 'plain'])(
		'is sent with the value %j as it is',
		(prompt) => {
			const stored = '={ "prompt": "{{ $json.prompt }}", "duration": "{{ 5 }}" }';
			expect(readJson(stored, { prompt })).toEqual({ prompt, duration: '5' });
		},
	);

	it.each([
		['nothing', '{{ $json.none }}', ''],
		['null', '{{ null }}', ''],
		['something of nothing', '{{ $json.none.other }}', ''],
		['not a number', '{{ 1 * "x" }}', ''],
		['0', '{{ 0 }}', '0'],
		['false', '{{ false }}', 'false'],
		['a list', '{{ $json.list }}', 'a,"b"'],
		['an object', '{{ $json.object }}', '[object Object]'],
		['a comment', '{{ /* "all" }\\}} */ $json.prompt // its "text"\n }}', QUOTED],
		['a ternary', `{{ $json.none ? "an \\"a\\"" : 'no "b"' }}`, 'no "b"'],
		['a template', '{{ `<${$json.prompt}>` }}', `<${QUOTED}>`],
		['an object in braces', '{{ ({ a: { b: $json.prompt } }).a.b }}', QUOTED],
		[
			'a function of n8n',
			'{{ $json.prompt.toUpperCase().trim().toTitleCase() }}',
			expect.any(String),
		],
		['a semicolon', '{{ $json.prompt; }}', QUOTED],
		['two', '{{ $json.prompt }}{{ $json.prompt }}', QUOTED + QUOTED],
		['a quoted one', 'a \\"{{ $json.prompt }}\\" fox', `a "${QUOTED}" fox`],
		['braces without an end', '}} {{ $json.prompt }}', `}} ${QUOTED}`],
		['two backslashes that n8n makes one of', 'a\\\\n{{ $json.prompt }}', `a\n${QUOTED}`],
		['three braces', '{{ {a: $json.prompt}["a"] }}', QUOTED],
		['another function of n8n', '{{ $json.prompt.replaceSpecialChars() }}', QUOTED],
		['a field named after one', '{{ $json.replaced }}', QUOTED],
		['a list of texts', `{{ $json.prompt.concat("", 'a', "b", '"') }}`, `${QUOTED}ab"`],
	])('is what n8n writes, made safe: %s', (_what, expression, value) => {
		const json = { prompt: QUOTED, replaced: QUOTED, list: ['a', '"b"'], object: { a: 1 } };
		const stored = `={ "prompt": "${expression}", "other": "{{ 1 }}" }`;
		expect(readJson(stored, json)).toEqual({ prompt: value, other: '1' });
	});

	it.each([
		['beside JSON of expressions', '{{ JSON.stringify($json.list) }}', [QUOTED]],
		['beside a random number', '{{ Math.floor(Math.random() * 9) }}', expect.any(Number)],
		['beside a number that changes', '{{ Date.now() }}', expect.any(Number)],
	])('is made safe %s', (_what, expression, other) => {
		const stored = `={ "other": ${expression}, "none": "{{ $json.none }}", "prompt": "{{ $json.prompt }}" }`;
		const json = { prompt: INJECTION, list: [QUOTED] };
		expect(readJson(stored, json)).toEqual({ other, none: '', prompt: INJECTION });
	});

	it('is made safe as a name, in a list, and in an entry of Options', () => {
		const stored = '={ "{{ $json.a }}": ["{{ $json.a }}"] }';
		expect(readJson(stored, { a: QUOTED })).toEqual({ [QUOTED]: [QUOTED] });
		const extraFields = '={ "a": "{{ $json.a }}" }';
		const options = read({ extraFields, concurrency: 2 }, { a: QUOTED }, 'options');
		const safe = `{ "a": ${JSON.stringify(QUOTED)} }`;
		expect(options).toEqual({ extraFields: safe, concurrency: 2 });
	});
});

describe('what n8n made of the expression counts', () => {
	it.each([
		['where the expression makes JSON by itself', `"{{ JSON.stringify($json.a).slice(1, -1) }}"`],
		[
			'where it replaces quotes by itself',
			`"{{ $json.a.replace(/"/g, '\\\\"').replaceAll('\\n', '\\\\n') }}"`,
		],
		['where it makes more of the JSON', `["{{ ['a', 'b'].join('", "') }}"]`],
		['where it makes more in double quotes', `["{{ ['a', 'b'].join("\\",\\"") }}"]`],
		['where it adds a field', `"b{{ $json.a ? '" , "c": "d' : '' }}"`],
		['without quotes around it', '{{ JSON.stringify($json.a) }}'],
		['as a whole', '{{ { a: $json.a } }}'],
		['where the result is no JSON', '"{{ $json.a }}" "{{ $json.a }}"'],
		['behind a backslash', '"C:\\\\{{ $json.a }}"'],
		['behind braces that are text', '"\\{{ $json.a }}"'],
	])('%s', (_what, text) => {
		const stored = text.startsWith('{{ {') ? `=${text}` : `={ "a": ${text} }`;
		expect(read(stored, { a: QUOTED })).toEqual(evaluate(stored, { a: QUOTED }));
	});

	const stored = '={ "a": "{{ $json.a }}" }';

	it('in a field of text, and in a fixed one', () => {
		expect(read(stored, { a: '"' }, 'text')).toBe('{ "a": """ }');
		expect(read(stored.slice(1), { a: '"' })).toBe(stored.slice(1));
		expect(read(42)).toBe(42);
	});

	it.each([
		[
			'fails',
			{
				evaluateExpression: () => {
					throw new Error('no');
				},
			},
		],
		['is blank now', { evaluateExpression: () => ':' }],
	])('where the expression %s', (_what, more) => {
		expect(read(stored, { a: 'fox' }, 'json', more)).toBe('{ "a": "fox" }');
	});
});

it.each(['\\', '"', '{', '\\{{', '}}{{', '"{{ 1 }}"'])('takes linear time for many %j', (text) => {
	const stored = `={ "a": "{{ 1 }}${fill(text, 1_000_000)}`;
	const more = { getNodeParameter: () => stored, evaluateExpression: () => ':1' };
	expectLinear(() => expect(read(stored, {}, 'json', more)).toBe(stored));
});
