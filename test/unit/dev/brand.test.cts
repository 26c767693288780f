import execa from 'execa';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ICredentialType, INodeType } from 'n8n-workflow';
import { makePackage, parseBrand } from '../../../dev/brand.cts';
import { openFolder, root } from '../../../dev/pack.cts';
import { n8n as own } from '../../../package.json';

interface Codex {
	node: string;
	alias: string[];
}

const brand = parseBrand({
	service: 'Acme 3D.ai',
	package: '@acme/n8n-nodes-acme',
	baseUrl: 'https://api.acme.example',
	author: 'Acme Inc. <developers@acme.example> (https://github.com/acme)',
	searchWords: ['acme', 'epsilon video'],
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
	for (const [index, file] of n8n.nodes.entries()) {
		const codex = JSON.parse(read(file.replace('.js', '.json'))) as Codex;
		expect(codex.node).toMatch(/^@acme\/n8n-nodes-acme\.acme3DAi/);
		const neutral = own.nodes[index]?.replace('dist/', '').replace('.js', '.json') ?? '';
		const { alias } = JSON.parse(fs.readFileSync(path.join(root, neutral), 'utf8')) as Codex;
		expect(codex.alias).toEqual([...brand.searchWords, ...alias]);
	}
	expect(() => makePackage(brand, acme)).toThrow(`There are files in ${acme}`);
});

it.each<[string, unknown]>([
	['missing', undefined],
	['no list', 'acme'],
	['a list with what is no text', ['acme', 7]],
	['a list with a blank text', ['acme', ' ']],
])('names each entry that is malformed; search words that are %s', (_, searchWords) => {
	const malformed = { ...brand, service: '3D', searchWords } as Partial<typeof brand>;
	expect(() => parseBrand(malformed)).toThrow(
		/^Correct these entries:\n- service: .*\n- searchWords: .*$/,
	);
});
