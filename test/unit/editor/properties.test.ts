import { subtitle } from '../../../nodes/MediaGeneration/editor/properties';
import { evaluate } from '../expression';

const titled = { value: {}, schema: [{ id: '$schema', model: 'v/m', title: 'A Model' }] };

it.each([
	[{ operation: 'generate', model: 'beta2/image-edit' }, 'Beta2 Image Edit'],
	[{ model: 'any', anyModel: { value: 'vendor/model' } }, 'vendor/model'],
	[{ model: 'any', anyModel: 'vendor/model' }, 'vendor/model'],
	[{ model: 'any', anyModel: 'v/m', anyFields: titled }, 'A Model'],
	[{ model: 'any', anyModel: { value: 'v/m' }, anyFields: titled }, 'A Model'],
	[{ model: 'any', anyModel: 'v/other', anyFields: titled }, 'v/other'],
	[{ model: 'any', anyModel: 'v/m', anyFields: { value: {}, schema: [] } }, 'v/m'],
	[{ model: 'any', anyModel: { mode: 'list', value: '' } }, 'All Models of Your Service'],
	[{ operation: 'getFiles' }, 'Get Files'],
])('the text below the node %j is %s', (parameters, expected) => {
	const expression = subtitle.replaceAll('$parameter', `(${JSON.stringify(parameters, null, 1)})`);
	expect(evaluate(expression)).toBe(expected);
});
