import fs from 'node:fs';
import path from 'node:path';
import { removePictures } from '../../../../dev/brand/changes.cts';
import { buildFiles, readSources, type Files } from '../../../../dev/brand/files.cts';
import { MODELS, parseBrand, type Brand } from '../../../../dev/brand/schema.cts';
import { Speller } from '../../../../dev/brand/spellings.cts';
import { root } from '../../../../dev/pack.cts';

const folder = path.join(root, 'dev', 'brand');
const example = parseBrand(
	JSON.parse(fs.readFileSync(path.join(folder, 'brand.example.json'), 'utf8')),
);
const NEUTRAL = /media[\s_-]?generation/i;

const sources = readSources();
/** Reading what names the code uses takes seconds for all files. */
const few: Files = new Map(
	[...sources].filter(([name]) =>
		/^(package\.json|icons\/.*|nodes\/MediaGeneration\/(api\/)?[^/]+)$/.test(name),
	),
);
const build = (changes: Partial<Brand> = {}, files = few) =>
	buildFiles(files, { ...example, ...changes }, { folder, hasPicture: () => false });

const built = build({}, sources);
const read = (name: string, files = built) => files.get(name)?.data.toString() ?? `no ${name}`;
const readJson = (name: string, files = built) =>
	JSON.parse(read(name, files)) as Record<string, unknown>;

describe('with the example', () => {
	it('the name of this package is in no file and in no name of one, but in one line of the license', () => {
		const found = [...built].flatMap(([name, { data }]) =>
			`${name}\n${data.toString('latin1')}`
				.split('\n')
				.filter((line) => NEUTRAL.test(line))
				.map((line) => `${name}: ${line}`),
		);
		expect(built.size).toBeGreaterThan(400);
		expect(found).toEqual(['LICENSE: Copyright (c) 2026 n8n-nodes-media-generation contributors']);
		expect(read('LICENSE')).toMatch(/contributors\nCopyright \(c\) 2026 Acme Inc\.\n\nPermission/);
	});

	it('what has another name there is nowhere called as here', () => {
		const words = [
			...MODELS.filter((id) => example.models[id]),
			...['Alpha 3.0 Motion Control', 'Beta2 Image Edit', 'Delta 1.1 Reference to Video'],
			...['Delta Reference to Video', 'alpha3MotionControl', 'beta2ImageEdit', 'delta11Reference'],
			...['deltaReferenceToVideo', 'jobs/createTask', 'jobs~1createTask', 'jobs\\/createTask'],
			'jobs/recordInfo',
		];
		const all = [...sources].map(([name, { data }]) => `${name}\n${data.toString()}`).join('\n');
		expect(words.filter((word) => !all.includes(word))).toEqual([]);
		// Shorter parts of a path aren't replaced, so tests must not tell requests by them.
		expect(all.match(/['"`](\/createTask|\/?recordInfo)['"`]/g)).toBeNull();
		const found = [...built].flatMap(([name, { data }]) =>
			words.filter((word) => `${name}\n${data.toString()}`.includes(word)),
		);
		expect(found).toEqual([]);
		expect(read('nodes/AcmeMedia/models/gammaV6ReferenceToVideo.ts')).toContain(
			"id: 'gamma-v6/reference-to-video'",
		);
	});

	it('files, folders and classes have its spellings', () => {
		expect([...built.keys()]).toEqual(
			expect.arrayContaining([
				'nodes/AcmeMedia/AcmeMedia.node.ts',
				'nodes/AcmeMedia/AcmeMediaTrigger.node.json',
				'nodes/AcmeMedia/models/acmeMotion2.ts',
				'credentials/AcmeMediaApi.credentials.ts',
				'icons/acme-media.dark.svg',
			]),
		);
		expect(read('nodes/AcmeMedia/AcmeMediaTrigger.node.ts')).toContain(
			'class AcmeMediaTrigger implements',
		);
		expect(read('nodes/AcmeMedia/models/acmeMotion2.ts')).toMatch(
			/acmeMotion2 = defineModel\({\n\tid: 'acme\/motion-2',\n\tname: 'Motion 2'/,
		);
	});

	it('nodes, credential and their codex are told by its names', () => {
		expect(read('nodes/AcmeMedia/lib/brand.ts')).toMatch(
			/'n8n-nodes-acme-media'[^]*'Acme Media'[^]*'Acme Media Trigger'[^]*'Acme Media API'[^]*'acmeMediaApi'[^]*'acme-media'/,
		);
		expect(readJson('nodes/AcmeMedia/AcmeMedia.node.json')).toMatchObject({
			node: 'n8n-nodes-acme-media.acmeMedia',
			resources: {
				credentialDocumentation: [{ url: 'https://docs.acme.example/n8n#credential' }],
				primaryDocumentation: [{ url: 'https://docs.acme.example/n8n' }],
			},
		});
		const node = read('nodes/AcmeMedia/AcmeMedia.node.ts');
		expect(node).toContain("nodeType: 'n8n-nodes-acme-media.acmeMediaTrigger'");
		expect(node).toContain("path: 'acme-media'");
		const credential = read('credentials/AcmeMediaApi.credentials.ts');
		expect(credential).toMatch(
			/name: 'baseUrl',\s+type: 'string',\s+default: 'https:\/\/api\.acme/,
		);
		expect(credential).toMatch(
			/documentationUrl =\s+'https:\/\/docs\.acme\.example\/n8n#credential'/,
		);
		const examples = read('examples/ai-agent.json');
		expect(examples).toContain('"type": "n8n-nodes-acme-media.acmeMediaTool"');
		expect(examples).toMatch(/"acmeMediaApi": {\s+"id": .*\s+"name": "Acme Media API"/);
		expect(read('dev/n8n/provide.cts')).toContain('process.env.ACME_MEDIA_N8N');
		expect(read('test/e2e/agentTools.test.cts')).toContain("'Acme_Media'");
	});

	it('package.json has its owner, files that exist, and not this command', () => {
		const { scripts, n8n, ...manifest } = readJson('package.json') as {
			scripts: Record<string, string>;
			n8n: { nodes: string[]; credentials: string[] };
		};
		expect(manifest).toMatchObject({
			name: 'n8n-nodes-acme-media',
			version: '0.1.0',
			description: example.description,
			author: example.author,
			repository: { url: 'git+https://github.com/acme/n8n-nodes-acme-media.git' },
			bugs: { url: 'https://github.com/acme/n8n-nodes-acme-media/issues' },
			homepage: 'https://docs.acme.example/n8n',
		});
		const entries = [...n8n.nodes, ...n8n.credentials];
		expect(entries).toHaveLength(3);
		for (const entry of entries)
			expect([...built.keys()]).toContain(entry.replace('dist/', '').replace('.js', '.ts'));
		expect(scripts).not.toHaveProperty('brand');
		expect([...built.keys()].filter((name) => /brand\/|e2e\/brand/.test(name))).toEqual([]);
		for (const place of ['README.md', 'CONTRIBUTING.md', '.github/workflows/nightly.yml'])
			expect(read(place)).not.toMatch(/npm run brand|^ +branded:/m);
		const first = [...read('dev/longFirst.js').matchAll(/'((?:unit|e2e)\/[^']+)'/g)];
		expect(first.length).toBeGreaterThan(10);
		for (const [, name] of first)
			expect([...built.keys()].some((file) => file.startsWith(`test/${name}.test.`))).toBe(true);
		expect(read('package-lock.json')).toContain('"name": "n8n-nodes-acme-media"');
	});

	it('the change log begins anew, and the README speaks of one service', () => {
		expect(read('CHANGELOG.md')).toMatch(
			/^# Changelog\n\n.*\n\n## Unreleased\n\nThe first release\.\n$/,
		);
		const readme = read('README.md');
		expect(readme).toContain('You need an account with Acme Media.');
		expect(readme).toContain('`https://api.acme.example`, is filled in.');
		expect(readme).not.toMatch(/with my service|made up|!\[/);
		expect(read('SECURITY.md')).toContain('Write to developers@acme.example');
		expect(read('.github/ISSUE_TEMPLATE/config.yml')).toContain('github.com/acme/n8n-nodes-acme');
	});

	it('a second build is the same', () => {
		const again = build({}, sources);
		expect([...again.keys()]).toEqual([...built.keys()]);
		// Jest takes most of a minute for two maps of so many files.
		const differs = (name: string) => read(name, again) !== read(name);
		expect([...built.keys()].filter(differs)).toEqual([]);
	});
});

it('a name with a scope is one of the package, and its pages are the repository by default', () => {
	const scoped = build({ package: '@acme/n8n-nodes-acme', documentation: undefined });
	expect(readJson('package.json', scoped)).toMatchObject({ name: '@acme/n8n-nodes-acme' });
	expect(readJson('nodes/AcmeMedia/AcmeMedia.node.json', scoped)).toMatchObject({
		node: '@acme/n8n-nodes-acme.acmeMedia',
		resources: {
			primaryDocumentation: [{ url: 'https://github.com/acme/n8n-nodes-acme-media#readme' }],
		},
	});
});

it('icons are those of this package, or those that are given', () => {
	const own = sources.get('icons/media-generation.svg')?.data;
	expect(build({ icons: undefined }).get('icons/acme-media.svg')?.data).toEqual(own);
	const icons = { light: example.icons?.dark ?? '', dark: example.icons?.light ?? '' };
	const dark = sources.get('icons/media-generation.dark.svg')?.data;
	expect([own, build({ icons }).get('icons/acme-media.svg')?.data]).toEqual([own, dark]);
	expect(dark).not.toEqual(own);
	expect(() => build({ icons: { ...icons, dark: 'none.svg' } })).toThrow(
		/^Nothing was written\. icons\.dark: there is no SVG file at .*none\.svg$/,
	);
	expect(() => build({ icons: { ...icons, light: '../guide.cts' } })).toThrow('icons.light');
});

it.each([
	['task', 'acmeApi', 'Task already'],
	['acme', 'fieldApi', ''],
])('a base %s is refused where the code has that name', (base, credential, words) => {
	const make = () => build({ base, credential });
	if (words) expect(make).toThrow(words);
	else expect(make).not.toThrow();
});

it('a spelling that nobody thought of is told, and nothing is made', () => {
	const file = { data: Buffer.from('The media\ngeneration node\n'), mode: 0o644 };
	expect(() => build({}, new Map([...few, ['docs/new.md', file]]))).toThrow(
		/^Nothing was written\. docs\/new\.md has an unknown spelling/,
	);
});

it.each([
	['Media Generation', 'Kie.ai', 'kie.ai', 'Kie_ai_tasks'],
	['Media Generation', 'Acme Media Cloud 3', 'acme media cloud 3', 'Acme_Media_Cloud_3_tasks'],
	['Media Generation', 'D-ID', 'd-id', 'D_ID_tasks'],
])('%s is %s', (here, name, lower, key) => {
	const speller = new Speller({ ...example, name });
	expect(speller.spell(`${here}, media generation, Media_Generation_tasks`)).toBe(
		`${name}, ${lower}, ${key}`,
	);
});

it('a brand that has the name of this one in its own is not replaced twice', () => {
	const speller = new Speller({ ...example, name: 'Acme Media Generation' });
	expect(speller.spell('the Media Generation node')).toBe('the Acme Media Generation node');
});

it('pictures that are not there are not shown', () => {
	const page = '![A canvas](docs/pictures/a.png)\n\nText\n\n![A video](docs/pictures/b.png)\n';
	expect(removePictures(page, () => true)).toBe(page);
	expect(removePictures(page, (name) => name === 'b.png')).toBe(page.slice(page.indexOf('Text')));
	const table = '| Example | Canvas |\n| --- | --- |\n| A | [picture](pictures/a.png) |\n';
	expect(removePictures(table, () => true)).toBe(table);
	expect(removePictures(table, () => false)).toBe('| Example |\n| --- |\n| A |\n');
});
