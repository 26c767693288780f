import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { n8n } from '../../package.json';
import { root } from '../../dev/pack.cts';

/** Loads a compiled file in a process of its own, as n8n does at its start, and counts our files that came with it. */
function countLoaded(file: string) {
	const dist = path.join(root, 'dist', path.sep);
	const code = `
		require(${JSON.stringify(path.join(root, file))});
		console.log(Object.keys(require.cache).filter((name) => name.startsWith(${JSON.stringify(dist)})).length);`;
	return Number(execFileSync(process.execPath, ['-e', code]));
}

// n8n loads all nodes and credentials at its start, whether a workflow uses them or not: what runs is imported when it runs.
it.each([
	['the action node', n8n.nodes[0], 57],
	['the trigger', n8n.nodes[1], 15],
	['the credential', n8n.credentials[0], 5],
])('%s (%s) loads at most %d files at the start of n8n', (_, file = '', most) => {
	const count = countLoaded(file);
	expect(count).toBeGreaterThan(1);
	expect(count).toBeLessThanOrEqual(most);
});
