import { expect } from '@jest/globals';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../../dev/pack.cts';
import { usePair } from './support.cts';

const pair = usePair();

it('the n8n that the end-to-end tests run is one that the README names, unless somebody named another', async () => {
	const { versionCli } = await pair.n8n.request<{ versionCli: string }>('GET', '/rest/settings');
	const named = process.env.MEDIA_GENERATION_N8N;
	if (named && named !== 'oldest') return expect(versionCli).not.toBe('');
	const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
	expect(readme).toContain(`n8n ${versionCli}`);
});
