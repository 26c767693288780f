import { subtitle } from '../../../nodes/MediaGeneration/editor/properties';
import { evaluate } from '../expression';

it.each([
	[{ operation: 'generate', model: 'beta2/image-edit' }, 'Beta2 Image Edit'],
	[{ model: 'any', anyModel: { value: 'vendor/model' } }, 'vendor/model'],
	[{ model: 'any', anyModel: 'vendor/model' }, 'vendor/model'],
	[{ model: 'any', anyModel: { mode: 'list', value: '' } }, 'All Models of Your Service'],
	[{ operation: 'getFiles' }, 'Get Files'],
])('the text below the node %j is %s', (parameters, expected) => {
	const expression = subtitle.replaceAll('$parameter', `(${JSON.stringify(parameters, null, 1)})`);
	expect(evaluate(expression)).toBe(expected);
});
