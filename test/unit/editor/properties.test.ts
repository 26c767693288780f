import { operationProperties, subtitle } from '../../../nodes/MediaGeneration/editor/properties';
import { evaluate } from '../expression';

it.each([
	[{ operation: 'generate', model: 'beta2/image-edit' }, 'Beta2 Image Edit'],
	[{ model: 'any', anyModel: { value: 'vendor/model' } }, 'vendor/model'],
	[{ model: 'any', anyModel: 'vendor/model' }, 'vendor/model'],
	[{ model: 'any', anyModel: { mode: 'list', value: '' } }, 'Any Model of Your Service'],
	[{ operation: 'getFiles' }, 'Get Files'],
])('the text below the node %j is %s', (parameters, expected) => {
	const expression = subtitle.replaceAll('$parameter', `(${JSON.stringify(parameters, null, 1)})`);
	expect(evaluate(expression)).toBe(expected);
});

it('Options of each operation are in alphabetical order', () => {
	const lists = operationProperties
		.filter(({ name }) => name === 'options')
		.map(({ options = [] }) => options.flatMap((one) => ('type' in one ? one.displayName : [])));
	expect(lists.length).toBeGreaterThan(5);
	expect(lists).toEqual(lists.map((names) => [...names].sort((a, b) => a.localeCompare(b))));
});
