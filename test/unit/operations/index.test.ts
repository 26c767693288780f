import { operationProperties, operations } from '../../../nodes/MediaGeneration/operations';

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
