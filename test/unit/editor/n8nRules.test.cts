import fs from 'node:fs';
import path from 'node:path';
import { MediaGenerationApi } from '../../../credentials/MediaGenerationApi.credentials';
import { root } from '../../../dev/pack.cts';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../../nodes/MediaGeneration/MediaGenerationTrigger.node';

/** What the linter in n8n's repository wants beyond the pinned one (November 2026). */

/** `valid-node-categories`: the categories of community nodes. */
const CATEGORIES = [
	...['Analytics', 'Communication', 'Data & Storage', 'Development', 'Finance & Accounting'],
	...['Marketing & Content', 'Miscellaneous', 'Productivity', 'Sales', 'Utility'],
];

/** `hint-max-length` */
const LONGEST_HINT = 120;

const folder = path.join(root, 'nodes', 'MediaGeneration');
const codexFiles = fs.readdirSync(folder).filter((file) => file.endsWith('.node.json'));

it.each(codexFiles)('%s has a category of community nodes, and no subcategories', (file) => {
	const codex = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')) as {
		categories: string[];
	};
	expect(codex.categories).toEqual(['Marketing & Content']);
	expect(CATEGORIES).toEqual(expect.arrayContaining(codex.categories));
	expect(codex).not.toHaveProperty('subcategories');
});

it('each node has a codex file', () => expect(codexFiles).toHaveLength(2));

/** Lists the hints of all fields, however deep. */
function listHints(value: unknown): string[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, part]) =>
		key === 'hint' && typeof part === 'string' ? [part] : listHints(part),
	);
}

it('no hint is longer than 120 characters', () => {
	const hints = listHints([
		new MediaGeneration().description.properties,
		new MediaGenerationTrigger().description,
		new MediaGenerationApi().properties,
	]);
	expect(hints.length).toBeGreaterThan(5);
	expect(hints.filter(({ length }) => length > LONGEST_HINT)).toEqual([]);
});
