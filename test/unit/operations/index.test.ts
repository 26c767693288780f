import { operations as rows } from '../../../dev/fixtures/operations.cts';
import { operations } from '../../../nodes/MediaGeneration/operations';

const resources = [...new Set(operations.map(({ resource }) => resource))];

it.each(resources)('the operations of the resource %s are sorted by their names', (resource) => {
	const own = operations.filter((operation) => operation.resource === resource);
	const names = own.map(({ name }) => name);
	expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
});

it('each operation has a row for the tests of all, and each row an operation', () => {
	const listed = operations.map(({ value, resource }) => [value, resource]);
	const named = Object.entries(rows).map(([value, { resource }]) => [value, resource]);
	expect(listed.sort()).toEqual(named.sort());
});
