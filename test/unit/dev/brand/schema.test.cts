import fs from 'node:fs';
import path from 'node:path';
import { buildJsonSchema, MODELS, parseBrand, type Brand } from '../../../../dev/brand/schema.cts';
import { root } from '../../../../dev/pack.cts';

const folder = path.join(root, 'dev', 'brand');
const read = (name: string) =>
	JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as unknown;
const example = read('brand.example.json') as Brand;

const parse = (changes: object) => () => parseBrand({ ...example, ...changes });

it('the example is a brand', () => {
	expect(parseBrand(example)).toEqual(example);
});

it('the schema for editors is the one that is checked by, and explains each entry of the example', () => {
	const schema = read('brand.schema.json') as {
		properties: Record<string, { description?: string; properties?: object }>;
	};
	expect(schema).toEqual(buildJsonSchema());
	const { $schema, ...entries } = example;
	expect($schema).toBe('./brand.schema.json');
	for (const name of Object.keys(entries)) {
		const { description, properties } = schema.properties[name] ?? {};
		expect(description ?? JSON.stringify(properties)).toMatch(
			description ? /\w+/ : /"description"/,
		);
	}
});

const { description, documentation, icons, paths, ...required } = example;

it('what is optional may be missing', () => {
	expect([description, documentation, icons, paths]).not.toContain(undefined);
	expect(parseBrand({ ...required, $schema: undefined })).toEqual({
		...required,
		$schema: undefined,
	});
});

it.each(Object.keys(required).filter((name) => name !== '$schema'))(
	'%s must not be missing',
	(name) => {
		expect(parse({ [name]: undefined })).toThrow(`Nothing was written`);
		expect(parse({ [name]: undefined })).toThrow(`\n- ${name} is missing`);
	},
);

it.each<[string, object]>([
	['name', { name: 'Acme "Media"' }],
	['name', { name: 'Acme Tool' }],
	['base', { base: 'acmeMedia' }],
	['base', { base: '3d-media' }],
	['base', { base: 'acme-trigger' }],
	['package', { package: 'acme-media' }],
	['package', { package: '@acme/nodes-media' }],
	['package', { package: 'n8n-nodes-Acme' }],
	['description', { description: '' }],
	['author.name', { author: { email: 'a@acme.example' } }],
	['author.email', { author: { name: 'Acme', email: 'acme.example' } }],
	['copyright', { copyright: 'Acme Inc.' }],
	['repository', { repository: 'https://gitlab.com/acme/nodes' }],
	['repository', { repository: 'https://github.com/acme/nodes.git' }],
	['credential', { credential: 'acmeMedia' }],
	['credential', { credential: 'AcmeMediaApi' }],
	['baseUrl', { baseUrl: 'http://api.acme.example' }],
	['baseUrl', { baseUrl: 'https://api.acme.example/' }],
	['baseUrl', { baseUrl: 'https://api.acme.example?key=1' }],
	['documentation.nodes', { documentation: { nodes: 'docs.acme.example' } }],
	['icons.dark', { icons: { light: 'a.svg' } }],
	['icons.light', { icons: { light: 'a.png', dark: 'b.svg' } }],
	...MODELS.map((id): [string, object] => [
		`models.${id}`,
		{ models: { ...example.models, [id]: undefined } },
	]),
	[`models.${MODELS[0]}.id`, { models: { ...example.models, [MODELS[0]]: { name: 'Motion' } } }],
	[
		`models.${MODELS[0]}.name`,
		{ models: { ...example.models, [MODELS[0]]: { id: 'm', name: '' } } },
	],
	['paths.createTaskPath', { paths: { createTaskPath: 'v2/tasks' } }],
	['paths.createTaskPath', { paths: { createTaskPath: '/v2/tasks?create' } }],
	['paths.taskDetailsPath', { paths: { taskDetailsPath: '/v2/tasks/{taskId}' } }],
	['paths', { paths: { modelSchemaPath: '/v2/models' } }],
	['the file', { owner: 'Acme' }],
])('%s is refused by its name, malformed as in %j', (name, changes) => {
	expect(parse(changes)).toThrow(`Nothing was written`);
	expect(parse(changes)).toThrow(`\n- ${name}`);
});

it('a message says what the entry must be, and lists all that is wrong', () => {
	expect(parse({ package: 'acme', credential: 'acme', name: undefined })).toThrow(
		/^Nothing was written\. Correct these entries:\n- name is missing\n- package: The name at npm: n8n-nodes-… or @scope\/n8n-nodes-….*\n- credential: .*Api at the end.*$/,
	);
});

const [motion, edit] = [example.models[MODELS[0]], example.models[MODELS[1]]];

it.each<[string, object]>([
	['credential: acmeApi is the type of the node too', { base: 'acme-api', credential: 'acmeApi' }],
	[
		'models: any stands for all models of the service',
		{ models: { ...example.models, [MODELS[0]]: { ...motion, id: 'any' } } },
	],
	[
		'models: two identifiers are alike',
		{ models: { ...example.models, [MODELS[0]]: { ...motion, id: edit?.id.replace('/', '-') } } },
	],
	[
		'models: two names are alike',
		{ models: { ...example.models, [MODELS[0]]: { ...motion, name: edit?.name } } },
	],
	['paths: two paths are alike', { paths: { creditsPath: '/a', modelsPath: '/a' } }],
])('entries that contradict each other are refused: %s', (words, changes) => {
	expect(parse(changes)).toThrow(words);
});
