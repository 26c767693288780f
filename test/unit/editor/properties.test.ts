import { subtitle } from '../../../nodes/MediaGeneration/editor/properties';
import { evaluate } from '../expression';

it.each([
	[{ operation: 'createAndWait', model: 'beta2/image-edit' }, 'Beta2 Image Edit'],
	[{ model: 'custom', customModel: { value: 'vendor/model' } }, 'vendor/model'],
	[{ model: 'custom', customModel: 'vendor/model' }, 'vendor/model'],
	[{ operation: 'download' }, 'Get Files'],
])('the text below the node %j is %s', (parameters, expected) => {
	const expression = subtitle.replaceAll('$parameter', `(${JSON.stringify(parameters, null, 1)})`);
	expect(evaluate(expression)).toBe(expected);
});
