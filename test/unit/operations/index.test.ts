import { operations } from '../../../nodes/MediaGeneration/operations';

const tasks = operations.filter(({ resource }) => resource === 'task');

it('the operations of a resource are sorted by their names', () => {
	const names = tasks.map(({ name }) => name);
	expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
});
