import { operations } from '../../../nodes/MediaGeneration/operations';

const resources = [...new Set(operations.map(({ resource }) => resource))];

it.each(resources)('the operations of the resource %s are sorted by their names', (resource) => {
	const own = operations.filter((operation) => operation.resource === resource);
	const names = own.map(({ name }) => name);
	expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
});
