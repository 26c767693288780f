import {
	operationProperties,
	operations,
	subtitle,
} from '../../../nodes/MediaGeneration/operations';
import { evaluate } from '../expression';

const tasks = operations.filter(({ resource }) => resource === 'task');

it('the operations of a resource are sorted by their names', () => {
	const names = tasks.map(({ name }) => name);
	expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
});

it('a field that operations share appears once, for each of them', () => {
	const shown = operationProperties.filter(({ name }) => name === 'taskId');
	expect(shown.map(({ displayOptions }) => displayOptions?.show)).toEqual([
		{ resource: ['task'], operation: ['get', 'download'] },
	]);
});

it('the choice of an operation is that of its resource, with its default', () => {
	const choices = operationProperties.filter(({ name }) => name === 'operation');
	expect(
		choices.map(({ displayOptions, default: first }) => [displayOptions?.show?.resource, first]),
	).toEqual([
		[['task'], 'createAndWait'],
		[['file'], 'upload'],
		[['account'], 'getCredits'],
	]);
});

it.each([
	[{ operation: 'createAndWait', model: 'beta2/image-edit' }, 'Beta2 Image Edit'],
	[{ model: 'custom', customModel: { value: 'vendor/model' } }, 'vendor/model'],
	[{ model: 'custom', customModel: 'vendor/model' }, 'vendor/model'],
	[{ operation: 'download' }, 'Get Files'],
])('the text below the node %j is %s', (parameters, expected) => {
	const expression = subtitle.replaceAll('$parameter', `(${JSON.stringify(parameters, null, 1)})`);
	expect(evaluate(expression)).toBe(expected);
});
