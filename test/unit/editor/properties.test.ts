import { operationProperties } from '../../../nodes/MediaGeneration/editor/properties';

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
