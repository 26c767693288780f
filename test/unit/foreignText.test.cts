import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
	type NodeOperationError,
	type ICredentialTestFunctions,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type NodeExecutionHint,
	type ResourceMapperFields,
} from 'n8n-workflow';
import { buildDocument } from '../../dev/service/catalogue.cts';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { executeOperation } from '../../nodes/MediaGeneration/operations/execute';
import { Looks } from '../../nodes/MediaGeneration/run/looks';
import { showOutcomes } from '../../nodes/MediaGeneration/run/output/output';
import { buildContext, fake, type Run, WAIT } from './n8n';
import { open } from './run/sending';

/** A link over all that n8n's editor shows, and how it must be shown instead. */
const MARKUP = '<a style="position:fixed;inset:0" href="https://evil.example">';
const SHOWN = '‹a style="position:fixed;inset:0" href="https://evil.example"›';

const { methods } = new MediaGeneration();

/** A service whose texts are markup, with one model whose document is so too. */
const refusal = { code: 400, msg: MARKUP };
const model = { model: 'm', title: `Title ${MARKUP}`, taskType: ['image'], pricingDesc: MARKUP };
const openapi = buildDocument({
	type: 'object',
	required: [`first ${MARKUP}`],
	properties: {
		[`first ${MARKUP}`]: { type: 'string', enum: [MARKUP], description: MARKUP },
		second: { type: 'string', default: '<i>' },
	},
});
const answers = (path: string): object => {
	if (path.endsWith('/api/v1/models')) return { code: 200, data: { models: [model] } };
	if (path.endsWith('/schema')) return { code: 200, data: { openapi } };
	return refusal;
};

/** Lists the texts in a value. */
const listTexts = (value: unknown): string[] =>
	typeof value === 'object' && value !== null
		? Object.values(value).flatMap(listTexts)
		: [value ?? []].flat().map(String);

let accounts = 0;
/** What n8n gives to a node, whose service answers so. */
const buildHost = (answer = answers) => {
	const credentials = { baseUrl: 'https://api.example', accessToken: `token ${accounts++}` };
	return {
		getCredentials: async (): Promise<object> => await Promise.resolve(credentials),
		helpers: {
			httpRequestWithAuthentication: async (_: string, { url }: IHttpRequestOptions) =>
				await Promise.resolve({
					statusCode: 200,
					body: JSON.stringify(answer(new URL(url).pathname)),
				}),
			constructExecutionMetaData: (items: object[]) => items,
			assertBinaryData: (): object => {
				throw new Error('There is none');
			},
		},
	};
};

/** Runs the node, and returns all texts that n8n shows of the run, and its error. */
async function run(parameters: object, kind: Run = {}, host: object = buildHost()) {
	const hints: string[] = [];
	const all = { resource: 'task', operation: 'get', taskId: 't', options: {}, ...parameters };
	const context = buildContext(
		{ input: [{}], ...kind },
		{
			getNodeParameter: (name: string) => (all as Record<string, unknown>)[name] ?? '',
			addExecutionHints: ({ message }: NodeExecutionHint) => hints.push(message),
			...host,
		},
	);
	const outcome = await executeOperation(context).catch((error: NodeOperationError) => error);
	if (!(outcome instanceof Error))
		return { error: undefined, texts: hints, items: outcome.flat().map(({ json }) => json) };
	const { message, description, messages, errorResponse } = outcome;
	const texts = [message, description, messages, errorResponse, hints].flatMap(listTexts);
	return { error: outcome, texts, items: [] };
}

const showError = async (...given: Parameters<typeof run>) => {
	const { error, texts } = await run(...given);
	expect(error).toBeInstanceOf(Error);
	return texts;
};

/** Runs a look-up of the editor, of a node that has chosen the model. */
async function lookUp<Answer>(
	method: (this: ILoadOptionsFunctions, filter?: string) => Promise<Answer>,
	{ answer = answers, name = 'm' } = {},
) {
	const parameters: Record<string, unknown> = { anyModel: name };
	const context = {
		getNode: () => ({ name: 'Node' }),
		getCurrentNodeParameter: (parameter: string) => parameters[parameter],
		...buildHost(answer),
	};
	return await method.call(context as unknown as ILoadOptionsFunctions).catch((error: Error) => {
		const { message, description } = error as NodeOperationError;
		return { error: `${message} ${description ?? ''}` };
	});
}

const { listSearch, loadOptions, resourceMapping, credentialTest } = methods;
const { searchModels } = listSearch;
const { listModelFields } = loadOptions;
const { getModelFields } = resourceMapping;
const refuse = () => refusal;

const failsAs = (error: Error) => ({
	...buildHost(),
	getCredentials: async () => await Promise.reject(error),
});
const described = (error: Error) => Object.assign(error, { description: MARKUP });

const ANY_JSON = { model: 'any', anyModel: 'm', inputMode: 'json' };

const ways: Record<string, () => unknown> = {
	'the error of a run, with the words of the service': async () => await showError({}),
	'an error that is not ours': async () =>
		await showError({}, {}, failsAs(described(new Error(MARKUP)))),
	"an error for an agent's model": async () => (await run({}, { isTool: true })).items,
	'an error item': async () => (await run({}, { goesOn: true })).items,
	'the hints after a wait': () => {
		const hints: string[] = [];
		const addExecutionHints = ({ message }: NodeExecutionHint) => hints.push(message);
		const end = { taskId: 't', status: 'failed' as const, failMessage: MARKUP };
		const entries = [{ attempts: [{ taskId: 't', end }] }];
		const run = open(1, { ledger: { entries, settings: WAIT }, more: { addExecutionHints } });
		const looks = new Looks(entries, WAIT);
		showOutcomes({ ...run, looks, decision: { reason: MARKUP } });
		return hints;
	},
	'the hint that a model has no such field': async () => {
		const parameters = { operation: 'start', ...ANY_JSON, anyInput: { [MARKUP]: 1 } };
		return (await run(parameters)).texts.slice(-1);
	},
	'the names of models': async () => {
		const found = (await lookUp(searchModels)) as { results: object[] };
		return found.results.map((result) => ({ ...result, value: '' }));
	},
	'why there is no list of models': async () => await lookUp(searchModels, { answer: refuse }),
	'the labels of fields': async () => {
		const { fields } = (await lookUp(getModelFields)) as ResourceMapperFields;
		return fields.slice(0, 1).map(({ displayName, options }) => [displayName, options?.[0]?.name]);
	},
	'why there are no fields': async () => await lookUp(getModelFields, { answer: refuse }),
	'the name of a model that the service lacks': async () =>
		await lookUp(getModelFields, { name: MARKUP, answer: () => ({ code: 404 }) }),
	'the fields for AI builders': async () => {
		const fields = (await lookUp(listModelFields)) as Array<{ name: string; description: string }>;
		return fields.map(({ name, description }) => [name, description]);
	},
	'why there are none for them': async () => await lookUp(listModelFields, { answer: refuse }),
	'the test of a credential': async () => {
		const request = async () =>
			await Promise.resolve({
				statusCode: 200,
				body: Readable.from([Buffer.from(JSON.stringify(refusal))]),
			});
		const context = fake<ICredentialTestFunctions>({ helpers: { request } });
		const data = { baseUrl: 'https://api.example', accessToken: 'token' };
		const credential = { id: '', name: '', type: '', data };
		return await credentialTest.testCredential.call(context, credential);
	},
};

// The catalogue pauses after each answer.
beforeAll(
	() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
);
afterAll(() => void jest.useRealTimers());

describe('foreign text is text wherever n8n makes HTML of it', () => {
	it.each(Object.keys(ways))('%s', async (way) => {
		const texts = listTexts(await ways[way]?.());
		expect(texts.join(' ')).toContain(SHOWN);
		// The only markup is ours.
		expect(texts.filter((text) => /[<>]/.test(text.replaceAll('<br>', '')))).toEqual([]);
	});

	it('in no way that the table lacks', () => {
		const gives = /new Node(Operation|Api)Error\(|\baddExecutionHints\(/;
		const house = 'nodes/MediaGeneration';
		const files = readdirSync(house, { recursive: true })
			.map((file) => String(file).replaceAll('\\', '/'))
			.filter((file) => file.endsWith('.ts'))
			.filter((file) => gives.test(readFileSync(join(house, file), 'utf8')));
		expect(files.sort()).toEqual([
			'editor/lookups.ts',
			'host/errors.ts',
			'run/output/output.ts',
			'trigger/options.ts',
		]);
	});
});

describe('values are sent and stored as the service has them', () => {
	it('of models, of fields and of their choices', async () => {
		const [found] = ((await lookUp(searchModels)) as { results: Array<{ value: string }> }).results;
		const { fields } = (await lookUp(getModelFields)) as ResourceMapperFields;
		const [field] = fields;
		expect([found?.value, field?.id, field?.options?.[0]?.value]).toEqual([
			'm',
			`first ${MARKUP}`,
			MARKUP,
		]);
		expect(fields.find(({ id }) => id === '$schema')).toMatchObject({
			inputSchema: { properties: { [`first ${MARKUP}`]: { enum: [MARKUP] } } },
		});
	});
});
