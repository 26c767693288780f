import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { listPlaceholders, PLACES } from '../../dev/lintOwner.cts';
import { root } from '../../dev/pack.cts';

let folder: string;

/** Copies what an owner edits, changed as an owner would. */
beforeEach(() => {
	folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-owned-'));
	for (const place of PLACES)
		fs.cpSync(path.join(root, place), path.join(folder, place), { recursive: true });
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

const replaceAll = () => {
	for (const found of listPlaceholders(folder)) {
		const file = path.join(folder, String(found.split(':')[0]));
		const text = fs
			.readFileSync(file, 'utf8')
			.replaceAll('github.com/n8n-nodes-media-generation/', 'github.com/acme/')
			.replaceAll('n8n-nodes-media-generation contributors', 'ACME')
			.replaceAll('@n8n-nodes-media-generation.example', '@acme.com');
		fs.writeFileSync(file, text);
	}
};

it('names each file in which a placeholder stands', () => {
	const files = new Set(listPlaceholders(folder).map((found) => found.split(':')[0]));
	expect([...files].sort()).toEqual([
		'LICENSE',
		'SECURITY.md',
		'credentials/MediaGenerationApi.credentials.ts',
		'nodes/MediaGeneration/MediaGeneration.node.json',
		'nodes/MediaGeneration/MediaGenerationTrigger.node.json',
		'package.json',
	]);
});

it('passes once all are replaced, and fails again for a single one', () => {
	replaceAll();
	expect(listPlaceholders(folder)).toEqual([]);
	fs.appendFileSync(path.join(folder, 'LICENSE'), 'n8n-nodes-media-generation contributors\n');
	expect(listPlaceholders(folder)).toEqual([expect.stringMatching(/^LICENSE:\d+: n8n-nodes/)]);
});
