import {
	sleep,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type ResourceMapperField,
} from 'n8n-workflow';
import { corpus } from '../../../dev/service/catalogue.cts';
import {
	getModelFields,
	guideJson,
	listModelFields,
	searchModels,
} from '../../../nodes/MediaGeneration/editor/lookups';
import { readFields } from '../models/any/modelFields';

const ANSWER_TIME = 50;
const MINUTE = 60_000;
const LIST = '/api/v1/models';
const schemaPath = (model: string) => `${LIST}/${model}/schema`;

interface Answer {
	code: number;
	msg?: string;
	data?: unknown;
}

const BROKEN: Answer = { code: 500, msg: 'no database' };
const MISSING: Answer = { code: 404, msg: 'not found', data: null };

/** Answers as the service does: the corpus, under the usual paths. */
function answerFromCorpus(path: string): Answer {
	if (path === LIST) return { code: 200, data: { models: corpus.map(({ entry }) => entry) } };
	const found = corpus.find(({ entry }) => schemaPath(entry.model) === path);
	return found ? { code: 200, data: { openapi: found.openapi } } : MISSING;
}

let accounts = 0;

/** Opens an account that nobody used before. What its service answers can be set; when it was asked is noted. */
function openAccount() {
	const credentials = { baseUrl: 'https://service.example', accessToken: `token ${accounts++}` };
	const requests: Array<{ at: number; path: string }> = [];
	let parameters: Record<string, unknown> = {};
	const context = {
		getNode: () => ({ name: 'Media Generation' }),
		getCredentials: async () => credentials,
		getCurrentNodeParameter: (name: string) => parameters[name],
		helpers: {
			httpRequestWithAuthentication: async (_: string, { url }: IHttpRequestOptions) => {
				const path = url.replace(credentials.baseUrl, '');
				requests.push({ at: Date.now(), path });
				await sleep(ANSWER_TIME);
				return { statusCode: 200, body: JSON.stringify(opened.answer(path)) };
			},
		},
	} as unknown as ILoadOptionsFunctions;
	const choose = (model: string, schema?: ResourceMapperField[], customInput?: unknown) => {
		parameters = {
			customInput,
			customModel: { __rl: true, mode: 'id', value: model },
			customFields: schema && { mappingMode: 'defineBelow', value: {}, schema },
		};
		return context;
	};
	const opened = {
		answer: answerFromCorpus,
		requests,
		search: async (filter?: string) => await searchModels(context, filter),
		/** Lists the fields of a model for an AI builder. */
		listFields: async (model: string) => await listModelFields(choose(model)),
		guideJson: async (model: string, written?: unknown) =>
			await guideJson(choose(model, undefined, written)),
		/** Loads the fields of a model in an editor, whose workflow may store some. */
		loadFields: async (model: string, stored?: ResourceMapperField[]) =>
			await getModelFields(choose(model, stored)),
	};
	return opened;
}

/** Waits for answers, as long as it takes. */
async function settle<T>(pending: Promise<T>): Promise<T> {
	const caught = pending.catch((error: Error) => error);
	await jest.advanceTimersByTimeAsync(2 * MINUTE);
	const result = await caught;
	if (result instanceof Error) throw result;
	return result;
}

/** The one that a test begins with. */
let account: ReturnType<typeof openAccount>;

beforeEach(() => {
	jest.useFakeTimers({ now: 0 });
	account = openAccount();
});
afterEach(() => jest.useRealTimers());

describe('a search', () => {
	it.each([
		['part of a title', 'storyb', ['theta-pro/storyboard']],
		['an identifier, in any case', 'IOTA.hd', ['Iota.HD/Text-2-Video']],
		['a provider', 'omicron', ['omicron.v2/scene']],
		['a type', 'lip sync', ['rho/lip-sync']],
		['several words, in any order', 'image zeta', ['zeta-3.1/image-to-video', 'zeta-canvas-4.0']],
		['what no model has', 'no such thing', []],
		['a chat model, which is left out', 'sigma-chat-5', []],
	])('finds by %s', async (_, filter, models) => {
		const { results } = await settle(account.search(filter));
		expect(results.map(({ value }) => value).sort()).toEqual(models);
	});

	it.each([
		['nu/broken-input', 'Nu Sketch · Text to Image · 2 credits'],
		['mu/image-to-video', 'Mu Image to Video'],
	])(
		'names %s by its title, its type where the title lacks it, and its price',
		async (value, name) => {
			const { results } = await settle(account.search(value));
			expect(results).toContainEqual(expect.objectContaining({ name, value }));
		},
	);

	it('leaves out models whose identifier or name n8n would run, as the workflow stores both', async () => {
		const models = [
			{ model: '={{ 1 }}', title: 'A' },
			{ model: 'b', title: '={{ 1 }}' },
			{ model: 'c', title: 'C = {{ 1 }}' },
		];
		account.answer = () => ({ code: 200, data: { models } });
		const { results } = await settle(account.search());
		expect(results.map(({ name, value }) => [name, value])).toEqual([['C = {{ 1 }}', 'c']]);
	});

	it('shows the beginning of long texts', async () => {
		const long = 'long '.repeat(1_000);
		const model = { model: 'a', title: long, taskType: ['type '.repeat(500)], pricingDesc: long };
		account.answer = () => ({ code: 200, data: { models: [model] } });
		const { results } = await settle(account.search());
		const [{ name = '', description = '' } = {}] = results;
		expect(name).toMatch(/^long .{180,195}…$/);
		expect(description).toMatch(/^type [^]{480,500}…$/);
	});

	it.each([
		['has no catalogue', MISSING, /lists no models: choose .* By ID .* JSON/],
		['refuses the token', { code: 401 }, /does not accept the access token .*By ID .* JSON/],
		['answers otherwise', { code: 200, data: 1 }, /gave no list of models.*By ID .* JSON/],
	])('of a service that %s fails, and says how to go on', async (_, answer, message) => {
		account.answer = () => answer;
		await expect(settle(account.search())).rejects.toThrow(message);
	});
});

describe('the fields of a model', () => {
	it('are those of its schema, with one request', async () => {
		const openapi = corpus.find(({ entry }) => entry.model === 'eta-upscale')?.openapi;
		const fields = await settle(account.loadFields('eta-upscale'));
		expect(fields).toEqual(readFields('eta-upscale', openapi));
		expect(fields.fields.length).toBeGreaterThan(1);
		expect(account.requests.map(({ path }) => path)).toEqual([schemaPath('eta-upscale')]);
	});

	it.each([
		['no model is chosen', '', answerFromCorpus, /Choose a model/],
		['an expression gives the model', '={{ $json.model }}', answerFromCorpus, /expression.*JSON/],
		['the service knows no such model', 'eta-upscales', answerFromCorpus, /eta-upscales.*JSON/],
		['no path can hold its name', '../secret', answerFromCorpus, /can't be "\.\.\/secret".*JSON/],
		['the service is down', 'eta-upscale', () => BROKEN, /no database.*JSON/],
	])('are a notice when %s', async (_, model, answer, message) => {
		account.answer = answer;
		expect(await settle(account.loadFields(model))).toEqual({
			fields: [],
			emptyFieldsNotice: expect.stringMatching(message) as string,
		});
	});

	it('are a notice that shows what the service says as text, and the beginning of it', async () => {
		account.answer = () => ({ code: 500, msg: `<img src="x"> & ${'more '.repeat(500)}` });
		const { emptyFieldsNotice = '' } = await settle(account.loadFields('eta-upscale'));
		expect(emptyFieldsNotice).toContain('&lt;img src="x"> &amp; more');
		expect(emptyFieldsNotice).toMatch(/…\. To go on .* JSON\.$/);
		expect(emptyFieldsNotice.length).toBeLessThan(400);
	});

	it('are those that the workflow stores when the service refuses, if they are of the model', async () => {
		const { fields } = await settle(openAccount().loadFields('eta-upscale'));
		account.answer = () => BROKEN;
		expect(await settle(account.loadFields('eta-upscale', fields))).toEqual({ fields });
		expect(await settle(account.loadFields('omega-layers/compose', fields))).toMatchObject({
			fields: [],
		});
	});
});

describe('the fields of a model for an AI builder', () => {
	it('are listed by the names that the service gives them', async () => {
		const fields = await settle(account.listFields('eta-upscale'));
		expect(fields.map(({ value }) => value)).toEqual(
			expect.arrayContaining(['image_url', 'factor']),
		);
	});

	it.each([
		['', 'Choose a model first'],
		['unheard-of', 'lists no fields of a model "unheard-of"'],
		['kappa-7/preview', "doesn't say yet which fields"],
	])('of "%s" are none, for a reason', async (model, reason) => {
		await expect(settle(account.listFields(model))).rejects.toThrow(reason);
	});
});

describe('the fields of a model beside its JSON', () => {
	it.each([
		[undefined, 'Required: image_url'],
		['{ "image_url": "a", "faktor": 2 }', 'Unknown to the model: faktor. Required: image_url'],
		[{ faktor: 2 }, 'Unknown to the model: faktor. Required: image_url'],
	])('are listed below what %j lacks', async (written, summary) => {
		const [first, ...fields] = await settle(account.guideJson('eta-upscale', written));
		expect(first).toEqual({ name: summary, value: '' });
		expect(fields.map(({ value }) => value)).toContain('factor');
	});

	it.each([
		['', 'Choose a model first'],
		['={{ $json.model }}', 'An expression gives the model'],
		['kappa-7/preview', /which fields kappa-7\/preview takes$/],
	])('of "%s" are none, and the panel says why', async (model, reason) => {
		expect(await settle(account.guideJson(model))).toEqual([
			{ name: expect.stringMatching(reason) as string, value: '' },
		]);
	});
});
