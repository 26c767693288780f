import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { n8n } from '../../package.json';
import { root } from '../../dev/pack.cts';

// At its start, n8n loads all nodes and credentials, whether a workflow uses them or not. So operations are imported when they run.
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
