import path from 'node:path';
import { expect } from '@jest/globals';
import execa from 'execa';
import fs from 'node:fs';
import { provideN8n } from '../../dev/n8n/provide.cts';
import { openFolder, root } from '../../dev/pack.cts';

/** Settings of this run, which the other package reads under other names. */
const OURS = /^MEDIA_GENERATION_/;

it('a package made for a named service builds, has an owner, and runs a task from start to callback', async () => {
	using folder = openFolder();
	const out = path.join(folder.path, 'n8n-nodes-acme-media');
	const inherited = Object.entries(process.env).filter(([name]) => !OURS.test(name));
	const run = async (cwd: string, command: string, args: string[], env: NodeJS.ProcessEnv = {}) => {
		const options = { cwd, extendEnv: false, preferLocal: true, localDir: root, all: true };
		const { all } = await execa(command, args, {
			...options,
			env: { ...Object.fromEntries(inherited), ...env },
		});
		return String(all);
	};
	const example = path.join('dev', 'brand', 'brand.example.json');
	const made = await run(root, 'npm', ['run', 'brand', '--', example, '--out', out]);
	expect(made).toContain(`n8n-nodes-acme-media is in ${out}`);
	fs.symlinkSync(path.join(root, 'node_modules'), path.join(out, 'node_modules'), 'junction');

	await run(out, 'npm', ['run', 'build']);
	await run(out, 'npm', ['run', 'lint:owner']);
	// The n8n of this run, in `node_modules/n8n/bin/n8n`.
	const { bin } = await provideN8n();
	const n8n = path.resolve(bin, '../../../..');
	const check = ['--require', 'tsx/cjs', 'dev/start.cts', '--check'];
	const said = await run(out, 'node', check, { ACME_MEDIA_N8N: n8n });
	expect(said).toMatch(/"status": "completed"/);
	expect(said).toContain('One task went round');
});
