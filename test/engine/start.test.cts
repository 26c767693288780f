import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { n8n } from '../../package.json';
import { root } from '../../dev/pack.cts';

// n8n loads all nodes and credentials at its start, whether a workflow uses them or not: what runs is imported when it runs.
it('n8n loads at most 55 of our files at its start', () => {
	const dist = JSON.stringify(path.join(root, 'dist', path.sep));
	const files = [...n8n.nodes, ...n8n.credentials].map((file) => path.join(root, file));
	const code = `
		for (const file of ${JSON.stringify(files)}) require(file);
		console.log(Object.keys(require.cache).filter((name) => name.startsWith(${dist})).length);`;
	const count = Number(execFileSync(process.execPath, ['-e', code]));
	expect(count).toBeGreaterThan(files.length);
	expect(count).toBeLessThanOrEqual(55);
});
