import fs from 'node:fs';
import path from 'node:path';
import { root } from '../../../dev/pack.cts';

const guide = fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');
const house = path.join(root, 'nodes', 'MediaGeneration');

const FILE = /`((?:[\w.-]+\/)+[\w.-]+\.[a-z]+)`/g;
const listFiles = (text: string) => [...text.matchAll(FILE)].map(([, file = '']) => file);

/** What examples add: the line before its code names its file. Its schema and its test are called the same. */
const nameOf = (file: string) => path.basename(file).split('.')[0];
const added = [...guide.matchAll(/(.*)\n\n *```ts\n/g)].flatMap(([, line = '']) =>
	listFiles(line).map(nameOf),
);

it('each file that CONTRIBUTING.md names exists, but what its examples add', () => {
	const named = new Set(listFiles(guide));
	expect(named.size).toBeGreaterThan(30);
	const isThere = (file: string) =>
		[house, root].some((folder) => fs.existsSync(path.join(folder, file)));
	expect([...named].filter((file) => !isThere(file) && !added.includes(nameOf(file)))).toEqual([]);
});
