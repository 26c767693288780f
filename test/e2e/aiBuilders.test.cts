import { expect } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { INodeProperties } from 'n8n-workflow';
import ts from 'typescript';
import { connectToMcp } from '../../dev/fixtures/mcp.cts';
import { contract } from '../../dev/fixtures/models.cts';
import { NODE_TYPE } from '../../dev/fixtures/workflows.cts';
import { isOldest, usePair } from './support.cts';

const VERSION = 1.1;
const URL_OF_FILE = 'https://media.example/file';
const LISTED_MODELS = Object.keys(contract);

const pair = usePair({ service: { taskSeconds: 0.2 } });

/** n8n makes its types of all nodes for its MCP server since 2.41, with the modules that its own assistant uses. */
const describeWhereBuilt = isOldest ? describe.skip : describe;

/** The client of n8n's MCP server. */
let client: Client;

interface Answer {
	structuredContent?: unknown;
	content: Array<{ text: string }>;
	isError?: boolean;
}

/** Calls a tool of n8n's MCP server. @throws {Error} with what the tool tells of an error */
async function call<Result>(name: string, parameters: Record<string, unknown>) {
	const answer = (await client.callTool({ name, arguments: parameters })) as Answer;
	if (answer.isError) throw new Error(answer.content[0]?.text);
	return answer.structuredContent as Result;
}

/** A parameter as a builder sees it: its type, and the comment above it. */
interface Parameter {
	name: string;
	type: ts.TypeNode;
	notes: string;
}

function readMembers(type: ts.TypeNode, source: ts.SourceFile): Parameter[] {
	const members = ts.isTypeLiteralNode(type) ? [...type.members] : [];
	return members.filter(ts.isPropertySignature).flatMap((member) => {
		const notes = source.text.slice(member.getFullStart(), member.getStart(source));
		return member.type ? [{ name: member.name.getText(source), type: member.type, notes }] : [];
	});
}

/** Reads the types of an operation that n8n shows to builders. @param ending of its type's name */
async function readTypes(resource: string, operation: string, ending: string) {
	const nodeIds = [{ nodeId: NODE_TYPE, resource, operation }];
	const { definitions } = await call<{ definitions: string }>('get_node_types', { nodeIds });
	const source = ts.createSourceFile('types.ts', definitions, ts.ScriptTarget.Latest, true);
	const aliases = source.statements.filter(ts.isTypeAliasDeclaration);
	const found = aliases.find(({ name }) => name.text.endsWith(ending));
	if (!found) throw new Error(`n8n has no type ${ending}`);
	return { source, parameters: readMembers(found.type, source) };
}

type Types = Awaited<ReturnType<typeof readTypes>>;

/** The node's properties, as the editor gets them. */
let properties: INodeProperties[];

/**
 * Returns the fields that the editor shows for a model. The prompt of Any Model is left out: n8n can't
 * join its conditions with those of the other prompts, so builders give it in anyFields.
 */
const listFields = (model: string) =>
	properties.filter(({ name, type, displayOptions: { show, hide } = {} }) => {
		const isShown = show?.model?.includes(model) ?? hide?.model?.includes(model) === false;
		return isShown && type !== 'notice' && !(model === 'any' && name === 'prompt');
	});

/** Says by the notes of a parameter whether a model has it; undefined where they say nothing of models. */
function belongsTo({ notes }: Parameter, model: string): boolean | undefined {
	const [, kind, list] = /@displayOptions\.(show|hide) \{.*?\bmodel: \[(.*?)\]/.exec(notes) ?? [];
	return list === undefined ? undefined : list.includes(`"${model}"`) === (kind === 'show');
}

/** Returns what the hint of `model` says of a model. */
const readHint = ({ parameters }: Types, model: string) =>
	parameters
		.find(({ name }) => name === 'model')
		?.notes.split('\n')
		.find((line) => line.startsWith(`${model}: `)) ?? '';

/** Makes a value for a parameter as an AI does that knows nothing but its type and its notes. */
function makeValue({ type, notes }: Omit<Parameter, 'name'>, source: ts.SourceFile): unknown {
	if (ts.isUnionTypeNode(type)) {
		const [first] = type.types;
		return first && makeValue({ type: first, notes }, source);
	}
	if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return type.literal.text;
	if (ts.isTypeLiteralNode(type))
		return Object.fromEntries(
			readMembers(type, source).map((member) => [member.name, makeValue(member, source)]),
		);
	const [entry] = ts.isTypeReferenceNode(type) ? (type.typeArguments ?? []) : [];
	if (entry) return [makeValue({ type: entry, notes }, source)];
	if (type.kind === ts.SyntaxKind.NumberKeyword) return 4;
	if (type.kind === ts.SyntaxKind.BooleanKeyword) return true;
	return /URL, or a field such as data/.test(notes) ? URL_OF_FILE : 'A fox in the snow';
}

/** Makes the parameters of a model from the types alone; those that the types lack, from the hint. */
function buildParameters(types: Types, model: string) {
	const values: Record<string, unknown> = {};
	for (const [, name = '', value] of readHint(types, model).matchAll(/\b(\w+) \('([^']+)'/g))
		values[name] = value;
	for (const parameter of types.parameters)
		if (belongsTo(parameter, model)) values[parameter.name] = makeValue(parameter, types.source);
	return values;
}

/**
 * Has n8n check and save a workflow that an AI wrote, and run it.
 * @param steps the parameters of our nodes, by their names
 */
async function runWritten(steps: Record<string, object>) {
	const credentials = { mediaGenerationApi: { id: pair.credential.id, name: 'Media' } };
	const nodes = Object.entries(steps).map(([name, parameters]) => {
		const node = { type: NODE_TYPE, version: VERSION, config: { name, parameters, credentials } };
		return `.to(node(${JSON.stringify(node)}))`;
	});
	const code = `import { workflow, node, trigger } from '@n8n/workflow-sdk';
const start = trigger({ type: 'n8n-nodes-base.manualTrigger', version: 1, config: { name: 'Start' } });
export default workflow('written', 'Written by an AI').add(start)${nodes.join('')};`;
	const checked = await call<object>('validate_workflow', { code });
	expect(checked).toEqual({ valid: true, nodeCount: nodes.length + 1 });
	const { workflowId } = await call<{ workflowId: string }>('create_workflow_from_code', { code });
	const run = { workflowId, executionMode: 'manual' };
	const { executionId } = await call<{ executionId: string }>('execute_workflow', run);
	return { workflowId, execution: await pair.n8n.waitForExecution(executionId), executionId };
}

/** Has n8n look something up, as its MCP server does for a builder. */
async function lookUp(methodName: string, methodType: string, more: object) {
	type Found = { results: Array<{ name: string; value: string }> };
	const credential = { credentialType: 'mediaGenerationApi', credentialId: pair.credential.id };
	const method = { nodeType: NODE_TYPE, version: VERSION, methodName, methodType };
	const found = await call<Found>('explore_node_resources', { ...method, ...credential, ...more });
	return found.results;
}

describeWhereBuilt('an AI that builds workflows', () => {
	let types: Types;

	beforeAll(async () => {
		const settings = { mcpAccessEnabled: true, autoExposeNewWorkflows: true };
		await pair.n8n.request('PATCH', '/rest/mcp/settings', settings);
		const { apiKey } = await pair.n8n.request<{ apiKey: string }>('GET', '/rest/mcp/api-key');
		const headers = { authorization: `Bearer ${apiKey}` };
		client = await connectToMcp(`${pair.n8n.url}/mcp-server/http`, headers);
		types = await readTypes('task', 'start', 'TaskStartParams');
		const [action] = await pair.n8n.listNodeTypes();
		properties = action?.properties ?? [];
	});
	afterAll(async () => await client.close());

	// For "edit photo", n8n ranks nodes before ours that have these letters in the names of their copies for agents, "PostHog Tool".
	it.each([
		['image edit', 3],
		['edit photo', 5],
		['runGenerate video', 3],
	])('finds the node by "%s" among the first %d', async (query, rank) => {
		const { results } = await call<{ results: string }>('search_nodes', { queries: [query] });
		const found = [...results.matchAll(/^- (\S+)/gm)].map(([, id]) => id);
		expect(found.slice(0, rank)).toContain(NODE_TYPE);
	});

	it.each([...LISTED_MODELS, 'any'])('sees each field of %s, and no other', (id) => {
		const names = [...new Set(listFields(id).map(({ name }) => name))];
		const seen = types.parameters.filter((parameter) => belongsTo(parameter, id));
		const hidden = names.filter((name) => name === 'mode');
		expect([...seen.map(({ name }) => name), ...hidden].sort()).toEqual(names.sort());
		for (const name of names) expect(readHint(types, id)).toMatch(new RegExp(`[ ]${name}\\b`));
	});

	it('builds a workflow for each model from the types alone, which n8n accepts and the service too', async () => {
		const base = { resource: 'task', operation: 'start' };
		const steps: Record<string, object> = {};
		for (const model of LISTED_MODELS)
			steps[model] = { ...base, model, ...buildParameters(types, model) };
		const { execution } = await runWritten(steps);
		expect(execution.readError()).toBe('');
		expect(pair.listTasks().map(({ model }) => model)).toEqual(LISTED_MODELS);
		for (const { model, input } of pair.listTasks())
			expect(Object.keys(input)).toHaveLength(listFields(model).length);
	});

	it('finds any model of the service, looks up its fields, makes a workflow, runs it, and gets the result', async () => {
		const anyModel = { __rl: true, mode: 'id', value: 'epsilon-2/text-to-video' };
		const { source, parameters } = types;
		const notes = (name: string) => parameters.find((one) => one.name === name)?.notes ?? '';
		const [, search = ''] = /@searchListMethod (\w+)/.exec(notes('anyModel')) ?? [];
		const found = await lookUp(search, 'listSearch', { filter: 'epsilon text to video' });
		expect(found.map(({ value }) => value)).toEqual([anyModel.value]);
		const [, list = ''] = /@loadOptionsMethod (\w+)/.exec(notes('anyFields')) ?? [];
		const currentNodeParameters = { anyModel };
		const fields = await lookUp(list, 'loadOptions', { currentNodeParameters });
		const required = fields.filter(({ name }) => name.includes('(required'));
		expect(required.map(({ value }) => value)).toEqual(['prompt']);
		expect(source.text).toContain(`'fields' | 'json'`);

		const value = { prompt: 'A fox in the snow', duration: 5, sound: true };
		const { workflowId, executionId } = await runWritten({
			Video: {
				...{ resource: 'task', operation: 'generate', model: 'any', anyModel },
				anyFields: { mappingMode: 'defineBelow', value, schema: [] },
			},
		});
		expect(pair.listTasks()).toMatchObject([
			{ model: anyModel.value, input: { ...value, duration: '5' } },
		]);
		const read = { workflowId, executionId, includeData: true };
		const result = JSON.stringify(await call('get_workflow_execution', read));
		expect(result).toContain(pair.listIds()[0]);
		expect(result).toContain('"status":"completed"');
	});
});
