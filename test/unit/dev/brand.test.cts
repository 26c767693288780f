import execa from 'execa';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ICredentialType, INodeType } from 'n8n-workflow';
import { makePackage, parseBrand } from '../../../dev/brand.cts';
import { openFolder, root } from '../../../dev/pack.cts';

const brand = parseBrand({
	service: 'Acme 3D.ai',
	package: '@acme/n8n-nodes-acme',
	baseUrl: 'https://api.acme.example',
	author: 'Acme Inc. <developers@acme.example> (https://github.com/acme)',
	searchWords: ['acme'],
});

it('a package with the name of a service builds, and has nothing of the old name but its copyright', async () => {
	using folder = openFolder();
	const acme = path.join(folder.path, 'acme');
	makePackage(brand, acme);
	const read = (...names: string[]) => fs.readFileSync(path.join(acme, ...names), 'latin1');
	const files = fs.readdirSync(acme, { recursive: true, encoding: 'utf8' });
	const lines = files
		.filter((name) => fs.statSync(path.join(acme, name)).isFile())
		.flatMap((name) => [name, ...read(name).split('\n')]);
	expect(lines.filter((line) => /media[\s_-]?generation/i.test(line))).toEqual([
		'Copyright (c) 2026 n8n-nodes-media-generation contributors',
	]);
	expect(read('LICENSE')).toContain('contributors\nCopyright (c) 20');
	expect(lines).toContain('icons/acme-3d-ai.dark.svg');
	expect(lines.join('\n')).toContain('ACME_3D_AI_N8N');

	fs.symlinkSync(path.join(root, 'node_modules'), path.join(acme, 'node_modules'), 'junction');
	await execa('npm', ['run', 'build'], { cwd: acme });
	const { name, author, repository, n8n } = JSON.parse(read('package.json')) as {
		name: string;
		author: object;
		repository: { url: string };
		n8n: { nodes: string[]; credentials: string[] };
	};
	expect({ name, author, url: repository.url }).toEqual({
		name: brand.package,
		author: { name: 'Acme Inc.', email: 'developers@acme.example' },
		url: 'git+https://github.com/acme/n8n-nodes-acme.git',
	});
	const load = createRequire(__filename);
	const instantiate = <Instance,>(file: string) => {
		const [Built] = Object.values(
			load(path.join(acme, file)) as Record<string, new () => Instance>,
		);
		return Built && new Built();
	};
	const nodes = n8n.nodes.map((file) => instantiate<INodeType>(file)?.description);
	expect(nodes).toMatchObject([
		{ name: 'acme3DAi', displayName: 'Acme 3D.ai', credentials: [{ name: 'acme3DAiApi' }] },
		{ name: 'acme3DAiTrigger', displayName: 'Acme 3D.ai Trigger' },
	]);
	const [credential] = n8n.credentials.map((file) => instantiate<ICredentialType>(file));
	expect(credential).toMatchObject({ name: 'acme3DAiApi', displayName: 'Acme 3D.ai API' });
	expect(credential?.properties).toContainEqual(
		expect.objectContaining({ name: 'baseUrl', default: brand.baseUrl }),
	);
	// Nodes, codex and credential repeat these as literals.
	const [house = ''] = n8n.nodes.map((file) => path.dirname(file));
	expect(load(path.join(acme, house, 'lib', 'brand.js'))).toMatchObject({
		PACKAGE: name,
		NODE_NAME: nodes[0]?.displayName,
		TRIGGER_NAME: nodes[1]?.displayName,
		CREDENTIAL: credential?.name,
		SLUG: nodes[0]?.webhooks?.[0]?.path,
	});
	for (const file of n8n.nodes) {
		const codex = JSON.parse(read(file.replace('.js', '.json'))) as { node: string; alias: object };
		expect(codex.node).toMatch(/^@acme\/n8n-nodes-acme\.acme3DAi/);
		expect(codex.alias).toContain('acme');
	}
	expect(() => makePackage(brand, acme)).toThrow(`There are files in ${acme}`);
});

it('names each entry that is missing or malformed', () => {
	expect(() => parseBrand({ ...brand, service: '3D', searchWords: undefined })).toThrow(
		/^Correct these entries:\n- service: .*\n- searchWords: .*$/,
	);
});
