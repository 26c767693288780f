import { ExpressionError, type ResourceMapperField } from 'n8n-workflow';
import {
	getModelFields,
	listModelFields,
	searchModels,
} from '../../../nodes/MediaGeneration/editor/modelMethods';
import { answerFromCorpus, BROKEN, MISSING, schemaPath, settle } from '../corpus';
import { measureCpu } from '../cpuTime.cts';
import { openPanel } from './openPanel';

const UPSCALE = 'eta-upscale';
const REJECTED = { code: 401 };

const search = async (filter?: string, answer?: (path: string) => object) =>
	(await settle(searchModels(openPanel({}, answer).context, filter))).results;

/** Chooses a model in the panel, in a workflow that may store fields. */
const choose = (value: string, answer?: (path: string) => object, schema?: ResourceMapperField[]) =>
	openPanel(
		{
			anyModel: { __rl: true, mode: 'id', value },
			anyFields: schema && { mappingMode: 'defineBelow', value: {}, schema },
		},
		answer,
	);
const getFields = async (...panel: Parameters<typeof choose>) =>
	await settle(getModelFields(choose(...panel).context));
const listFields = async (...panel: Parameters<typeof choose>) =>
	await settle(listModelFields(choose(...panel).context));

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

describe('a search', () => {
	it.each([
		['several words, in any order', 'image zeta', ['zeta-3.1/image-to-video', 'zeta-canvas-4.0']],
		['a chat model, which is left out', 'sigma-chat-5', []],
	])('finds by %s', async (_, filter, models) => {
		expect((await search(filter)).map(({ value }) => value).sort()).toEqual(models);
	});

	it.each([
		['mu/image-to-video', 'Mu Image to Video'],
		['epsilon-2/image-to-video', 'Epsilon 2 Image to Video · 70 credits…'],
	])('names %s by its title and its price', async (value, name) => {
		expect(await search(value)).toContainEqual(expect.objectContaining({ name, value }));
	});

	it('does not take longer with the cube of the length of a price', async () => {
		const models = [{ model: 'a', pricingDesc: '1'.repeat(3_000) }];
		const take = async () => await search('', () => ({ code: 200, data: { models } }));
		expect(await measureCpu(take)).toBeLessThan(2_000);
	});

	it('leaves out models whose identifier or name n8n would run, as the workflow stores both', async () => {
		const models = [
			{ model: '={{ 1 }}', title: 'A' },
			{ model: 'b', title: '={{ 1 }}' },
			{ model: 'c', title: 'C = {{ 1 }}' },
		];
		const results = await search('', () => ({ code: 200, data: { models } }));
		expect(results).toMatchObject([{ name: 'C = {{ 1 }}', value: 'c' }]);
	});

	it.each([
		['has no catalogue', MISSING, /lists no models\. To go on .* JSON, .* By ID\. If/],
		['is down', BROKEN, /no database.*JSON.*By ID/],
		['rejects the token', REJECTED, /token \(401\)\. Open the credential (?!.*JSON)/],
	])('of a service that %s fails, and says how to go on', async (_, answer, message) => {
		await expect(search('', () => answer)).rejects.toThrow(message);
	});
});

it('with an expression in the credential, each method says what to do', async () => {
	const { context } = choose(UPSCALE);
	context.getCredentials = async () =>
		await Promise.reject(new ExpressionError("Node '' hasn't been executed"));
	const depends = /redential depends on the run.*without expressions while/;
	await expect(settle(searchModels(context))).rejects.toThrow(depends);
	const { emptyFieldsNotice } = await settle(getModelFields(context));
	expect(emptyFieldsNotice).toMatch(depends);
	const [choice] = await settle(listModelFields(context));
	expect(choice?.name).toMatch(depends);
});

describe('the fields of a model', () => {
	it('are those of its schema, with one request', async () => {
		const { context, requests } = choose(UPSCALE);
		const { fields } = await settle(getModelFields(context));
		const ids = fields.map(({ id }) => id);
		expect(ids).toEqual(expect.arrayContaining(['image_url', 'factor', '$schema']));
		expect(requests).toEqual([schemaPath(UPSCALE)]);
	});

	it.each([
		['no model is chosen', '', answerFromCorpus, /^Choose a model first\.$/],
		['an expression gives the model', '={{ $json.model }}', answerFromCorpus, /expression.*JSON/],
		['the service knows no such model', 'eta-upscales', answerFromCorpus, /eta-upscales.*JSON/],
		['the service is down', UPSCALE, () => BROKEN, /no database.*JSON/],
		['the service rejects the token', UPSCALE, () => REJECTED, /\(401\)\. Open the credential/],
	])('are a notice when %s', async (_, model, answer, message) => {
		const emptyFieldsNotice: unknown = expect.stringMatching(message);
		expect(await getFields(model, answer)).toEqual({ fields: [], emptyFieldsNotice });
	});

	it('are those that the workflow stores when the service fails, if they are of the model', async () => {
		const { fields } = await getFields(UPSCALE);
		expect(await getFields(UPSCALE, () => BROKEN, fields)).toEqual({ fields });
		const ofAnother = await getFields('omega-layers/compose', () => BROKEN, fields);
		expect(ofAnother.fields).toEqual([]);
	});
});

it('the help and an AI builder get the fields by the names that the service gives them, or why there are none; choosing one changes nothing', async () => {
	const choices = await listFields(UPSCALE);
	const names = choices.map(({ name }) => name.split(' ')[0]);
	expect(names).toEqual(expect.arrayContaining(['image_url', 'factor']));
	expect(new Set(choices.map(({ value }) => value))).toEqual(new Set(['']));
	expect(await listFields('')).toEqual([{ name: 'Choose a model first', value: '' }]);
});

it('the price of a model stands in full in the help, once the list of models was read', async () => {
	const pricingDesc = '💎 Fast: 60 credits\n💎 Quality: 250 credits';
	const models = [{ model: UPSCALE, title: 'A', pricingDesc }];
	const { context } = choose(UPSCALE, (path) =>
		path === '/api/v1/models' ? { code: 200, data: { models } } : answerFromCorpus(path),
	);
	await settle(searchModels(context));
	const help = await settle(listModelFields(context));
	expect(help[0]).toEqual({ name: 'Price', value: '', description: pricingDesc });
});
