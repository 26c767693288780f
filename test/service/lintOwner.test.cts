import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { listPlaceholders, PLACES } from '../../dev/lintOwner.cts';
import { root } from '../../dev/pack.cts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-owned-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

it('names each file in which a placeholder stands, until all are replaced', () => {
	for (const place of PLACES)
		fs.cpSync(path.join(root, place), path.join(folder, place), { recursive: true });
	const files = new Set(listPlaceholders(folder).map((found) => String(found.split(':')[0])));
	expect([...files].sort()).toEqual([
		'LICENSE',
		'SECURITY.md',
		'credentials/MediaGenerationApi.credentials.ts',
		'nodes/MediaGeneration/MediaGeneration.node.json',
		'nodes/MediaGeneration/MediaGenerationTrigger.node.json',
		'package.json',
	]);
	for (const name of files) {
		const file = path.join(folder, name);
		const text = fs
			.readFileSync(file, 'utf8')
			.replaceAll('github.com/n8n-nodes-media-generation/', 'github.com/acme/')
			.replaceAll('n8n-nodes-media-generation contributors', 'ACME')
			.replaceAll('@n8n-nodes-media-generation.example', '@acme.com');
		fs.writeFileSync(file, text);
	}
	expect(listPlaceholders(folder)).toEqual([]);
	fs.appendFileSync(path.join(folder, 'LICENSE'), 'n8n-nodes-media-generation contributors\n');
	expect(listPlaceholders(folder)).toEqual([expect.stringMatching(/^LICENSE:\d+: n8n-nodes/)]);
});
