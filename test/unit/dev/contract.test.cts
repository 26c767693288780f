import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { INodeProperties, INodeType, INodeTypeDescription } from 'n8n-workflow';
import { MediaGenerationApi } from '../../../credentials/MediaGenerationApi.credentials';
import { findBreaks } from '../../../dev/contract/compare.cts';
import { makeContract, type Contract, type Parameter } from '../../../dev/contract/contract.cts';
import { readPublished } from '../../../dev/contract/published.cts';
import { openFolder } from '../../../dev/pack.cts';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../../nodes/MediaGeneration/MediaGenerationTrigger.node';

/** A node as n8n describes it, small enough to be seen whole. */
const describeNode = () => ({
	displayName: 'Films',
	name: 'films',
	group: ['transform'] as INodeTypeDescription['group'],
	version: 1 as number | number[],
	description: 'Makes films',
	defaults: { name: 'Films' },
	inputs: ['main'] as string[],
	outputs: ['main'] as string[],
	usableAsTool: true as true | undefined,
	credentials: [{ name: 'filmsApi', required: false }],
	webhooks: [{ name: 'default', httpMethod: 'POST', path: 'films' }],
	properties: [
		{
			displayName: 'Operation',
			name: 'operation',
			type: 'options',
			options: [
				{ name: 'Make', value: 'make' },
				{ name: 'Cut', value: 'cut' },
			],
			default: 'make',
		},
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			required: true,
			displayOptions: { show: { operation: ['make', 'cut'] } },
		},
		{ displayName: 'Long', name: 'long', type: 'boolean', default: false },
		{
			displayName: 'Minutes',
			name: 'minutes',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: 9 },
			default: 5,
			displayOptions: { hide: { long: [true] } },
		},
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			default: {},
			options: [
				{ displayName: 'Color', name: 'color', type: 'string', default: 'red' },
				{
					displayName: 'Sound',
					name: 'sound',
					type: 'boolean',
					default: true,
					displayOptions: { show: { '/operation': ['make'] } },
				},
			],
		},
		{
			displayName: 'Cast',
			name: 'cast',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true },
			default: {},
			options: [
				{
					displayName: 'Role',
					name: 'role',
					values: [{ displayName: 'Actor', name: 'actor', type: 'string', default: '' }],
				},
			],
		},
		{
			displayName: 'Studio',
			name: 'studio',
			type: 'resourceLocator',
			default: { mode: 'list', value: '' },
			modes: [
				{ displayName: 'List', name: 'list', type: 'list' },
				{ displayName: 'ID', name: 'id', type: 'string' },
			],
		},
		{
			displayName: 'Size',
			name: 'size',
			type: 'options',
			allowArbitraryValues: true,
			options: [{ name: 'Small', value: 'small' }],
			default: 'small',
		},
	] as INodeProperties[],
});

const describeCredential = () => ({
	name: 'filmsApi',
	displayName: 'Films API',
	properties: [
		{ displayName: 'URL', name: 'url', type: 'string', default: '', required: true },
		{ displayName: 'Path', name: 'path', type: 'string', default: '/films' },
	] as INodeProperties[],
});

const describeOutput = () => ({
	type: 'object',
	properties: {
		id: { type: 'string' },
		links: { type: 'array', items: { type: 'object', properties: { url: { type: 'string' } } } },
	} as Record<string, { type: string }>,
});

type Films = ReturnType<typeof describePackage>;
const describePackage = () => ({
	name: 'n8n-nodes-films',
	node: describeNode(),
	credential: describeCredential(),
	outputs: { 'v1.0.0/make.json': describeOutput() } as Record<string, object>,
});

const build = ({ name, node, credential, outputs }: Films): Contract =>
	makeContract(name, [{ description: node } as unknown as INodeType], [credential], outputs);

/** Changes the package, and says what breaks. */
function breakBy(change: (films: Films) => void): string[] {
	const films = describePackage();
	change(films);
	const before = describePackage();
	expect(films).not.toEqual(before);
	return findBreaks(build(before), build(films));
}

/** Finds a parameter, also one inside of another. */
function find({ node: { properties } }: Films, name: string): INodeProperties {
	const search = (all: object[]): object | undefined =>
		all
			.flatMap((one) => {
				const { options = [], values = [] } = one as { options?: object[]; values?: object[] };
				return [one, search([...options, ...values]) ?? {}];
			})
			.find((one) => (one as INodeProperties).name === name);
	return search(properties) as INodeProperties;
}

const set = (name: string, more: Partial<INodeProperties>) => (films: Films) =>
	void Object.assign(find(films, name), more);

const remove = (list: unknown[] = [], name: string) => {
	const index = list.findIndex((one) => (one as { name: string }).name === name);
	list.splice(index, 1);
};

const added = (more: Partial<INodeProperties>) => (films: Films) =>
	void films.node.properties.push({
		displayName: 'New',
		name: 'new',
		type: 'string',
		default: '',
		...more,
	});

describe('what breaks workflows is found', () => {
	it.each<[string, (films: Films) => void, string]>([
		['a renamed package', (films) => (films.name = 'n8n-nodes-movies'), 'is now n8n-nodes-movies'],
		['a renamed node', ({ node }) => (node.name = 'movies'), 'Node films is gone'],
		['a version that is gone', ({ node }) => (node.version = 2), 'version 1, is gone'],
		['another input', ({ node }) => (node.inputs = ['ai_tool']), 'other inputs'],
		['an output that is gone', ({ node }) => (node.outputs = []), 'other outputs'],
		['a node that is now a trigger', ({ node }) => (node.group = ['trigger']), 'is a trigger'],
		['a tool that is none now', ({ node }) => (node.usableAsTool = undefined), 'no longer a tool'],
		['a credential not taken', ({ node }) => (node.credentials = []), 'no credential filmsApi'],
		[
			'a credential that is required now',
			({ node }) => (node.credentials = [{ name: 'filmsApi', required: true }]),
			'requires the credential filmsApi',
		],
		[
			'another path of a webhook',
			({ node }) => (node.webhooks = [{ name: 'default', httpMethod: 'POST', path: 'movies' }]),
			'another webhook default',
		],
		['a parameter that is gone', ({ node }) => remove(node.properties, 'long'), 'long is gone'],
		['a renamed parameter', set('minutes', { name: 'duration' }), 'minutes is gone'],
		['another type', set('long', { type: 'string' }), 'long was of the type boolean'],
		['another default', set('minutes', { default: 6 }), 'minutes has another default'],
		[
			'a parameter that is required now',
			set('actor', { required: true }),
			'cast, role, actor is required now',
		],
		['a new required parameter', added({ required: true }), 'new is new, required and blank'],
		[
			'a new required parameter in a collection',
			(films) =>
				(find(films, 'role') as unknown as { values: object[] }).values.push({
					...{ displayName: 'New', name: 'new', type: 'string', default: '', required: true },
				}),
			'cast, role, new is new, required and blank',
		],
		[
			'a value that is gone',
			(films) => void find(films, 'operation').options?.pop(),
			'operation no longer takes "cut"',
		],
		['arbitrary values', set('size', { allowArbitraryValues: false }), 'no longer takes any value'],
		[
			'a value that is hidden',
			set('operation', {
				options: [
					{ name: 'Make', value: 'make', displayOptions: { show: { long: [true] } } },
					{ name: 'Cut', value: 'cut' },
				],
			}),
			'no longer takes "make" (with long false)',
		],
		[
			'a parameter that is hidden for a value',
			set('title', { displayOptions: { show: { operation: ['make'] } } }),
			'title is hidden (with operation "cut")',
		],
		[
			'a parameter that is hidden by another that existed',
			set('minutes', { displayOptions: { hide: { long: [true], size: ['small'] } } }),
			'minutes is hidden',
		],
		[
			'a parameter that is hidden unless another has a text',
			set('size', { displayOptions: { show: { title: [{ _cnd: { startsWith: 'The' } }] } } }),
			'size is hidden',
		],
		[
			'a parameter that is hidden by the default of a new one',
			(films) => {
				added({ type: 'boolean', default: true })(films);
				set('size', { displayOptions: { hide: { new: [true] } } })(films);
			},
			'size is hidden (with new true)',
		],
		[
			'a parameter that agents no longer see',
			set('long', { displayOptions: { hide: { '@tool': [true] } } }),
			'long is hidden (with @tool true)',
		],
		[
			'a parameter of the next version only',
			(films) => {
				films.node.version = [1, 2];
				set('long', { displayOptions: { show: { '@version': [2] } } })(films);
			},
			'version 1, long is hidden',
		],
		['a higher minimum', set('minutes', { typeOptions: { minValue: 2 } }), 'higher least value'],
		[
			'a lower maximum',
			set('minutes', { typeOptions: { minValue: 1, maxValue: 8 } }),
			'lower greatest value',
		],
		[
			'fewer decimals',
			set('minutes', { typeOptions: { numberPrecision: 0 } }),
			'minutes takes fewer decimals',
		],
		['a list that is none now', set('cast', { typeOptions: {} }), 'takes several values'],
		[
			'an entry of a collection that is gone',
			(films) => remove(find(films, 'options').options, 'color'),
			'options, color is gone',
		],
		[
			'an entry of a collection that is hidden',
			set('sound', { displayOptions: { show: { '/operation': ['cut'] } } }),
			'options, sound is hidden',
		],
		[
			'a group of a fixed collection that is gone',
			(films) => remove(find(films, 'cast').options, 'role'),
			'cast, role is gone',
		],
		['a mode that is gone', (films) => remove(find(films, 'studio').modes, 'id'), 'no mode id'],
		['a renamed credential', ({ credential }) => (credential.name = 'api'), 'filmsApi is gone'],
		[
			'a renamed entry of the credential',
			({ credential }) => void Object.assign(credential.properties[1] ?? {}, { name: 'way' }),
			'Credential filmsApi, path is gone',
		],
		[
			'another default of the credential',
			({ credential }) => void Object.assign(credential.properties[1] ?? {}, { default: '/' }),
			'path has another default',
		],
		['an output without schema', (films) => (films.outputs = {}), 'make.json is gone'],
		[
			'a field of the output that is gone',
			({ outputs }) => (outputs['v1.0.0/make.json'] = { ...describeOutput(), properties: {} }),
			'make.json: id is gone',
		],
		[
			'a field of the output of another type',
			({ outputs }) => {
				const output = describeOutput();
				output.properties.id = { type: 'number' };
				outputs['v1.0.0/make.json'] = output;
			},
			'id was "string" and is "number"',
		],
		[
			'a field in a list of the output',
			({ outputs }) => {
				const output = describeOutput();
				output.properties.links = { type: 'array', items: { type: 'object' } } as never;
				outputs['v1.0.0/make.json'] = output;
			},
			'links[]: url is gone',
		],
	])('%s', (_, change, found) => {
		expect(breakBy(change).join('\n')).toContain(found);
	});
});

describe('what breaks nothing passes', () => {
	it.each<[string, (films: Films) => void]>([
		['other words', set('title', { displayName: 'Name', description: 'Of it', hint: 'Short' })],
		['another order', ({ node }) => void node.properties.reverse()],
		['a new parameter', added({})],
		['a new required parameter with a value', added({ required: true, default: 'a' })],
		['a notice', added({ type: 'notice', required: true })],
		['one that is no longer required', set('title', { required: false })],
		['a default for one that was required and blank', set('title', { default: 'Film' })],
		[
			'a new value, with a required parameter of its own',
			(films) => {
				find(films, 'operation').options?.push({ name: 'Show', value: 'show' });
				const displayOptions = { show: { operation: ['show'] } };
				added({ required: true, displayOptions })(films);
			},
		],
		[
			'a parameter that is shown for more',
			set('sound', { displayOptions: { show: { '/operation': ['make', 'cut'] } } }),
		],
		[
			'the same parameter, declared once for each value',
			(films) => {
				const title = find(films, 'title');
				title.displayOptions = { show: { operation: ['make'] } };
				films.node.properties.push({
					...title,
					displayOptions: { hide: { operation: ['make'] } },
				});
			},
		],
		[
			'one that is hidden while a required one is blank',
			set('size', { displayOptions: { hide: { title: [''] } } }),
		],
		[
			'one that a new parameter can hide',
			(films) => {
				added({ type: 'boolean', default: false })(films);
				set('size', { displayOptions: { hide: { new: [true] } } })(films);
			},
		],
		[
			'another parameter in the next version',
			(films) => {
				films.node.version = [1, 2];
				set('long', { displayOptions: { show: { '@version': [1] } } })(films);
				const displayOptions = { show: { '@version': [{ _cnd: { gte: 2 } }] } };
				added({ name: 'long', type: 'string', required: true, displayOptions })(films);
			},
		],
		['a wider range', set('minutes', { typeOptions: { minValue: 0 } })],
		['any value', set('operation', { allowArbitraryValues: true })],
		['a further output', ({ node }) => void node.outputs.push('main')],
		[
			'a new optional credential',
			({ node }) => void node.credentials.push({ name: 'b', required: false }),
		],
		[
			'a new webhook',
			({ node }) => void node.webhooks.push({ name: 'b', httpMethod: 'GET', path: 'b' }),
		],
		['a new schema', ({ outputs }) => void (outputs['v1.0.0/cut.json'] = { type: 'object' })],
		[
			'a new field of an output',
			({ outputs }) => {
				const output = describeOutput();
				output.properties.size = { type: 'number' };
				outputs['v1.0.0/make.json'] = output;
			},
		],
	])('%s', (_, change) => {
		expect(breakBy(change)).toEqual([]);
	});
});

describe('of this package', () => {
	const read = () =>
		makeContract(
			'package',
			[new MediaGeneration(), new MediaGenerationTrigger()],
			[new MediaGenerationApi()],
		);
	/** Lists the parameters of a contract, also those inside of others. */
	const listAll = (all: Parameter[]): Parameter[] =>
		all.flatMap((one) => [
			one,
			...[one.entries ?? [], ...Object.values(one.groups ?? {})].flatMap(listAll),
		]);
	const listParameters = ({ nodes, credentials }: Contract) =>
		[
			...Object.values(nodes).flatMap((versions) =>
				Object.values(versions).map(({ parameters }) => parameters),
			),
			...Object.values(credentials),
		].flatMap(listAll);

	it('nothing breaks as it is', () => {
		expect(findBreaks(read(), read())).toEqual([]);
	});

	it('each parameter that is renamed is found', () => {
		const renamed = read();
		const isLeaf = ({ entries, groups }: Parameter) => !entries && !groups;
		const leaves = listParameters(renamed).filter(isLeaf);
		const names = [...new Set(leaves.map(({ name }) => name))];
		for (const leaf of leaves) leaf.name += 'Renamed';
		const breaks = findBreaks(read(), renamed).join('\n');
		expect(names.length).toBeGreaterThan(60);
		expect(names.filter((name) => !breaks.includes(`, ${name} is gone`))).toEqual([]);
	});

	it('each value that is gone is found', () => {
		const fewer = read();
		const gone = listParameters(fewer).flatMap(({ name, values }) => {
			const value = values?.pop()?.value;
			return value === undefined ? [] : [`, ${name} no longer takes ${JSON.stringify(value)}`];
		});
		const breaks = findBreaks(read(), fewer).join('\n');
		expect(gone.length).toBeGreaterThan(20);
		expect(gone.filter((one) => !breaks.includes(one))).toEqual([]);
	});
});

describe('the last release', () => {
	/** A registry of npm that has this version of the package, or none. */
	async function serve(folder: string, version?: string) {
		const tarball = path.join(folder, 'films.tgz');
		const server = createServer(({ url }, response) => {
			if (version === undefined) return void response.writeHead(404).end('{}');
			if (url?.endsWith('.tgz')) return void response.end(fs.readFileSync(tarball));
			const dist = { tarball: `http://127.0.0.1:${port}/films.tgz` };
			const versions = { [version]: { name: 'n8n-nodes-films', version, dist } };
			const tags = { 'dist-tags': { latest: version } };
			response.end(JSON.stringify({ name: 'n8n-nodes-films', ...tags, versions }));
		});
		await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		process.env.npm_config_registry = `http://127.0.0.1:${port}`;
		process.env.npm_config_fetch_retries = '0';
		process.env.npm_config_cache = path.join(folder, 'cache');
		return server;
	}
	const { env } = process;
	beforeEach(() => (process.env = { ...env }));
	afterEach(() => (process.env = env));

	/** Packs a package as it is published: its node imports what n8n gives it. */
	function packFilms(folder: string, version: string) {
		const files = {
			'package.json': JSON.stringify({
				name: 'n8n-nodes-films',
				version,
				n8n: { nodes: ['dist/Films.node.js'], credentials: ['dist/Films.credentials.js'] },
			}),
			'dist/Films.node.js': `require('n8n-workflow'); exports.Films = class { description = ${JSON.stringify(describeNode())} };`,
			'dist/Films.credentials.js': `exports.FilmsApi = class { name = 'filmsApi'; properties = ${JSON.stringify(describeCredential().properties)} };`,
			'dist/__schema__/v1.0.0/make.json': JSON.stringify(describeOutput()),
		};
		for (const [file, text] of Object.entries(files)) {
			const to = path.join(folder, 'package', file);
			fs.mkdirSync(path.dirname(to), { recursive: true });
			fs.writeFileSync(to, text);
		}
		execFileSync('tar', ['-czf', 'films.tgz', 'package'], { cwd: folder });
	}

	it('is read from npm', async () => {
		using folder = openFolder();
		packFilms(folder.path, '1.2.3');
		const server = await serve(folder.path, '1.2.3');
		try {
			const published = await readPublished('n8n-nodes-films');
			expect(published).toEqual({ version: '1.2.3', contract: build(describePackage()) });
		} finally {
			server.close();
		}
	});

	it('is none where npm has no package of this name, and an error where npm does not answer', async () => {
		using folder = openFolder();
		const server = await serve(folder.path);
		expect(await readPublished('n8n-nodes-films')).toBeUndefined();
		server.close();
		server.closeAllConnections();
		await expect(readPublished('n8n-nodes-films')).rejects.toThrow('npm pack');
	});
});
