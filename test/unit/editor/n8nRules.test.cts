import { MediaGenerationApi } from '../../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import node from '../../../nodes/MediaGeneration/MediaGeneration.node.json';
import { MediaGenerationTrigger } from '../../../nodes/MediaGeneration/MediaGenerationTrigger.node';
import trigger from '../../../nodes/MediaGeneration/MediaGenerationTrigger.node.json';

/** What the linter in n8n's repository wants beyond the pinned one (November 2026). */

// `valid-node-categories`: of community nodes, this is one.
it.each([node, trigger])(
	'$node has a category of community nodes, and no subcategories',
	(codex) => {
		expect(codex.categories).toEqual(['Marketing & Content']);
		expect(codex).not.toHaveProperty('subcategories');
	},
);

/** Lists the hints of all fields, however deep. */
function listHints(value: unknown): string[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, part]) =>
		key === 'hint' && typeof part === 'string' ? [part] : listHints(part),
	);
}

it('no hint is longer than 120 characters, by `hint-max-length`', () => {
	const nodes = [new MediaGeneration().description, new MediaGenerationTrigger().description];
	const hints = listHints([...nodes, new MediaGenerationApi()]);
	expect(hints.length).toBeGreaterThan(5);
	expect(hints.filter(({ length }) => length > 120)).toEqual([]);
});
