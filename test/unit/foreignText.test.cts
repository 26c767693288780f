import { Readable } from 'node:stream';
import type {
	ICredentialTestFunctions,
	ILoadOptionsFunctions,
	NodeOperationError,
	ResourceMapperFields,
} from 'n8n-workflow';
import { buildDocument } from '../../dev/service/catalogue.cts';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { Looks } from '../../nodes/MediaGeneration/run/looks';
import { publishOutcomes } from '../../nodes/MediaGeneration/run/output/output';
import { openPanel } from './editor/openPanel';
import { fake, WAIT } from './n8n';
import { runNode } from './operations/runNode.cts';
import { open } from './run/sending';

/** A link that covers n8n's editor, and how the editor must show it. */
const MARKUP = '<a style="position:fixed;inset:0" href="https://evil.example">';
const SHOWN = '‹a style="position:fixed;inset:0" href="https://evil.example"›';

/** A rejection with markup, and a model with markup in its texts and its document. */
const rejection = { code: 400, msg: MARKUP };
const model = { model: 'm', title: `Title ${MARKUP}`, taskType: ['image'], pricingDesc: MARKUP };
const openapi = buildDocument({
	type: 'object',
	required: [`first ${MARKUP}`],
	properties: {
		[`first ${MARKUP}`]: { type: 'string', enum: [MARKUP], description: MARKUP },
		second: { type: 'string', default: '<i>' },
	},
});
function answerMarkup(path: string): object {
	if (path.endsWith('/api/v1/models')) return { code: 200, data: { models: [model] } };
	return path.endsWith('/schema') ? { code: 200, data: { openapi } } : rejection;
}

/** Lists the texts in a value. */
const listTexts = (value: unknown): string[] =>
	typeof value === 'object' && value !== null
		? Object.values(value).flatMap(listTexts)
		: [value ?? []].flat().map(String);

/** Runs the node, and returns what n8n shows of the run. */
async function run(setup: Parameters<typeof runNode>[1] = {}, parameters: object = {}) {
	const all = { operation: 'get', taskId: 't', ...parameters };
	const { items, error, hints } = await runNode(all, { answer: answerMarkup, ...setup });
	const { message, description, messages, errorResponse } = (error ?? {}) as NodeOperationError;
	return [items, hints, message, description, messages, errorResponse];
}

/** Calls a method as the editor does, for a node that has chosen the model. */
async function ask<Answer>(
	method: (this: ILoadOptionsFunctions) => Promise<Answer>,
	answer = answerMarkup,
	anyModel = 'm',
) {
	const { context } = openPanel({ anyModel }, answer);
	return await method.call(context).catch(({ message }: Error) => ({ message }));
}

const { listSearch, loadOptions, resourceMapping, credentialTest } = new MediaGeneration().methods;
const { searchModels } = listSearch;
const { listModelFields } = loadOptions;
const { getModelFields } = resourceMapping;
const findFields = async () => (await ask(getModelFields)) as ResourceMapperFields;
const findModels = async () => (await ask(searchModels)) as { results: Array<{ value: string }> };

const sources: Record<string, () => unknown> = {
	'the error of a run, with the words of the service': async () => await run(),
	'an error that is not ours': async () => {
		const error = Object.assign(new Error(MARKUP), { description: MARKUP });
		return await run({ more: { getCredentials: async () => await Promise.reject(error) } });
	},
	'an error for an agent': async () => await run({ isTool: true }),
	'an error item': async () => await run({ goesOn: true }),
	'the hints after a wait': () => {
		const hints: string[] = [];
		const end = { taskId: 't', status: 'failed' as const, failMessage: MARKUP };
		const entries = [{ attempts: [{ taskId: 't', end }] }];
		const opened = open(1, { ledger: { entries, settings: WAIT }, hints });
		const looks = new Looks(entries, WAIT);
		publishOutcomes({ ...opened, looks, decision: { reason: MARKUP } });
		return hints;
	},
	'the hint that a model has no such field': async () => {
		const json = { model: 'any', anyModel: 'm', inputMode: 'json', anyInput: { [MARKUP]: 1 } };
		return await run({}, { operation: 'start', ...json });
	},
	'the names of models': async () => {
		const { results } = await findModels();
		return results.map((result) => ({ ...result, value: '' }));
	},
	'why there is no list of models': async () => await ask(searchModels, () => rejection),
	'the labels of fields': async () => {
		const { fields } = await findFields();
		return fields.slice(0, 1).map(({ displayName, options }) => [displayName, options?.[0]?.name]);
	},
	'the name of a model that the service lacks': async () =>
		await ask(getModelFields, () => ({ code: 404 }), MARKUP),
	'the fields for AI builders': async () => {
		const fields = (await ask(listModelFields)) as Array<{ value: unknown }>;
		return fields.map((field) => ({ ...field, value: '' }));
	},
	'the test of a credential': async () => {
		const body = Readable.from([Buffer.from(JSON.stringify(rejection))]);
		const context = fake<ICredentialTestFunctions>({
			helpers: { request: async () => ({ statusCode: 200, body }) },
		});
		const data = { baseUrl: 'https://api.example', accessToken: 'token' };
		const credential = { id: '', name: '', type: '', data };
		return await credentialTest.testCredential.call(context, credential);
	},
};

describe('foreign text is text wherever n8n makes HTML of it', () => {
	it.each(Object.keys(sources))('%s', async (source) => {
		const texts = listTexts(await sources[source]?.());
		expect(texts.join(' ')).toContain(SHOWN);
		// The only markup is ours.
		expect(texts.filter((text) => /[<>]/.test(text.replaceAll('<br>', '')))).toEqual([]);
	});
});

it('the values of models, fields and choices are sent and stored as the service has them', async () => {
	const { results } = await findModels();
	const { fields } = await findFields();
	const name = `first ${MARKUP}`;
	expect(results).toMatchObject([{ value: 'm' }]);
	expect(fields[0]).toMatchObject({ id: name, options: [{ value: MARKUP }] });
	expect(fields.find(({ id }) => id === '$schema')).toMatchObject({
		inputSchema: { properties: { [name]: { enum: [MARKUP] } } },
	});
});
