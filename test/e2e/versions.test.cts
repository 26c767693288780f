import { expect } from '@jest/globals';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { provideN8n } from '../../dev/n8n/provide.cts';
import { root } from '../../dev/pack.cts';
import { usePair } from './support.cts';

const pair = usePair();

it('the end-to-end tests run an n8n that README names, unless MEDIA_GENERATION_N8N names another', async () => {
	const { versionCli } = await pair.n8n.request<{ versionCli: string }>('GET', '/rest/settings');
	const named = process.env.MEDIA_GENERATION_N8N;
	if (named && named !== 'oldest') return expect(versionCli).not.toBe('');
	const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
	expect(readme).toContain(`n8n ${versionCli}`);
});

/** Without these names, the package takes documented ways, which cost more, and no error says so. */
it('n8n has the private names by which the package reads a credential and the resume URL', async () => {
	const { bin } = await provideN8n(console.log);
	const core = path.dirname(createRequire(bin).resolve('n8n-core/package.json'));
	const contexts = path.join(core, 'dist', 'execution-engine', 'node-execution-context');
	const text = fs.readFileSync(path.join(contexts, 'node-execution-context.js'), 'utf8');
	expect(text).toMatch(
		/async _getCredentials\(type, executeData, connectionInputData, itemIndex\b/,
	);
	expect(text).toMatch(/get additionalKeys\(\)/);
});
