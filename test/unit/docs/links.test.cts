import fs from 'node:fs';
import path from 'node:path';
import { root } from '../../../dev/pack.cts';

const pages = ['.', 'docs']
	.flatMap((folder) =>
		fs.readdirSync(path.join(root, folder)).map((name) => path.join(folder, name)),
	)
	.filter((page) => page.endsWith('.md'));

const read = (page: string) => fs.readFileSync(path.join(root, page), 'utf8');

/** Lists the anchors of a page's headings as GitHub names them. */
const listAnchors = (page: string) =>
	[...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\d\s_-]/gu, '')
			.replaceAll(' ', '-'),
	);

const links = pages.flatMap((page) =>
	[...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => ({
		page,
		target,
	})),
);

it.each(links)('$page links to $target, which exists', ({ page, target }) => {
	const [file = '', anchor] = target.split('#');
	const linked = file ? path.join(path.dirname(page), file) : page;
	expect(fs.existsSync(path.join(root, linked))).toBe(true);
	if (anchor) expect(listAnchors(linked)).toContain(anchor);
});

const guide = read('CONTRIBUTING.md');
const house = path.join(root, 'nodes', 'MediaGeneration');

const FILE = /`((?:[\w.-]+\/)+[\w.-]+\.[a-z]+)`/g;
const listFiles = (text: string) => [...text.matchAll(FILE)].map(([, file = '']) => file);
const readName = (file: string) => path.basename(file).split('.')[0];

/** The names of the files that the guide's examples add. The line before a file's code has its name. The schema and the test of the file have the same name. */
const added = [...guide.matchAll(/(.*)\n\n *```ts\n/g)].flatMap(([, line = '']) =>
	listFiles(line).map(readName),
);

it('each file that CONTRIBUTING.md names exists, except those that its examples add', () => {
	const named = listFiles(guide);
	expect(named.length).toBeGreaterThan(30);
	const exists = (file: string) =>
		[house, root].some((folder) => fs.existsSync(path.join(folder, file)));
	expect(named.filter((file) => !exists(file) && !added.includes(readName(file)))).toEqual([]);
});

it('CONTRIBUTING.md has the diagrams of the ledger, as the first comment there has them', () => {
	const ledger = fs.readFileSync(path.join(house, 'run', 'ledger', 'ledger.ts'), 'utf8');
	const diagrams = ledger.replace(/^ \* ?/gm, '').match(/^```mermaid\n[^]*?^```$/gm);
	expect(diagrams).toHaveLength(2);
	expect(guide.match(/^```mermaid\n[^]*?^```$/gm)).toEqual(diagrams);
});
