import { UserError, type INodeParameters } from 'n8n-workflow';
import { refuseFixedExpressions } from '../../../../nodes/MediaGeneration/run/input/fixedText';

const PROMPT = {
	displayName: 'What to Make',
	name: 'prompt',
	type: 'string',
	default: '',
} as const;

/** Checks the parameters of a node. @returns the error, if there is one */
function refuse(parameters: INodeParameters): UserError | undefined {
	try {
		refuseFixedExpressions(parameters, [PROMPT]);
		return undefined;
	} catch (error) {
		expect(error).toBeInstanceOf(UserError);
		return error as UserError;
	}
}

const mapper = (value: INodeParameters, schema: INodeParameters[] = []): INodeParameters => ({
	mappingMode: 'defineBelow',
	value,
	schema,
});

describe('a fixed text with an expression is refused', () => {
	it.each([
		'{{ $json.prompt }}',
		'A {{$json["prompt"]}} in snow',
		"{{ $('Set').item.json.prompt }}",
		'{{ $(name).first() }}',
		'{{ JSON.stringify($json) }}',
		'{{ x }} {{ $now }}',
		'{{ {{ $json.x }} }}',
		'{{ $json.x {{ y }}',
		'{{\n$json.x\n}}',
		' ={{ $json.x }}',
	])('as %j', (prompt) => {
		expect(refuse({ prompt })?.message).toMatch(/^'What to Make' is a fixed text with \{\{/);
	});

	it.each<[where: string, parameters: INodeParameters, name: string]>([
		['JSON', { anyInput: '{ "prompt": "{{ $json.prompt }}" }' }, 'Any Input'],
		['Options', { options: { extraFields: '{{ $json }}' } }, 'Extra Fields'],
		['a list', { referenceImages: ['data', '{{ $json.url }}'] }, 'Reference Images'],
		['a row', { imageReferences: { reference: [{ image: '{{ $json.url }}' }] } }, 'Image'],
		['a field of the mapper', { anyFields: mapper({ image_url: '{{ $json.url }}' }) }, 'Image URL'],
		[
			'a locator',
			{ anyModel: { __rl: true, mode: 'id', value: '{{ $json.model }}' } },
			'Any Model',
		],
	])('in %s, and the error names the field', (_, parameters, name) => {
		expect(refuse(parameters)?.message).toContain(`'${name}' is a fixed text with {{ $json`);
	});

	it('and the error says how to switch the field, and shows the expression in short', () => {
		const error = refuse({ prompt: `{{ $json.${'x'.repeat(500)} }}` });
		expect(error?.description).toMatch(/^Nothing was sent.* 'What to Make'.*Expression/);
		expect(error?.message.length).toBeLessThan(200);
	});
});

it.each<[what: string, parameters: INodeParameters]>([
	['an expression', { prompt: '={{ $json.prompt }}' }],
	['an expression in the mapper', { anyFields: mapper({ prompt: '={{ $json.prompt }}' }) }],
	['a price', { prompt: 'A sign that says $5 {{ now }}' }],
	['braces without a dollar sign', { prompt: '{{ name }}' }],
	['a dollar sign outside of the braces', { prompt: '{{ name }} $json' }],
	['braces that do not close', { prompt: '{{ $json' }],
	['braces that close before they open', { prompt: '$json }} and {{' }],
	['a dollar sign between braces', { prompt: '{{ name }} $json {{ size }}' }],
	['a price in braces', { prompt: '{{ $5 }}' }],
	['single braces', { prompt: '{ $json.x }' }],
	['an entry of our own in the mapper', { anyFields: mapper({ $guide: '{{ $json }}' }) }],
	[
		'what was filled in before Map Automatically',
		{ anyFields: { ...mapper({ x: '{{ $json.x }}' }), mappingMode: 'autoMapInputData' } },
	],
	[
		'what the service says of a field',
		{ anyFields: mapper({}, [{ id: 'x', displayName: '{{ $json }}' }]) },
	],
	[
		'the title of a chosen model',
		{ anyModel: { __rl: true, mode: 'list', value: 'x', cachedResultName: '{{ $json }}' } },
	],
	['numbers, switches and blanks', { seed: 5, sound: true, prompt: '' }],
])('a node may have %s', (_, parameters) => expect(refuse(parameters)).toBeUndefined());
