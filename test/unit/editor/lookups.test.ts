import {
	ExpressionError,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type ResourceMapperField,
} from 'n8n-workflow';
import { corpus } from '../../../dev/service/catalogue.cts';
import {
	getModelFields,
	listModelFields,
	searchModels,
} from '../../../nodes/MediaGeneration/editor/lookups';
import { answerFromCorpus, BROKEN, MISSING, schemaPath, settle, type Answer } from '../corpus';
import { readFields } from '../models/any/modelFields';
import { fake } from '../n8n';

const UPSCALE = 'eta-upscale';

const REFUSED = { code: 401 };

let accounts = 0;
/** What the service answers, and what it was asked. */
let answer: (path: string) => Answer;
let requests: string[];
/** The panel of an account that nobody used before. */
let context: ILoadOptionsFunctions;
let parameters: Record<string, unknown>;

function openAccount() {
	const credentials = { baseUrl: 'https://service.example', accessToken: `token ${accounts++}` };
	context = fake<ILoadOptionsFunctions>({
		getNode: () => ({ name: 'Media Generation' }),
		getCredentials: async () => credentials,
		getCurrentNodeParameter: (name: string) => parameters[name],
		helpers: {
			httpRequestWithAuthentication: async (_: string, { url }: IHttpRequestOptions) => {
				const path = url.replace(credentials.baseUrl, '');
				requests.push(path);
				return { statusCode: 200, body: JSON.stringify(answer(path)) };
			},
		},
	});
}

/** Chooses a model in the panel, in a workflow that may store fields. */
function choose(model: string, schema?: ResourceMapperField[]) {
	parameters = {
		anyModel: { __rl: true, mode: 'id', value: model },
		anyFields: schema && { mappingMode: 'defineBelow', value: {}, schema },
	};
	return context;
}

beforeEach(() => {
	jest.useFakeTimers({ now: 0 });
	answer = answerFromCorpus;
	requests = [];
	openAccount();
});
afterEach(() => jest.useRealTimers());

describe('a search', () => {
	it.each([
		['part of a title', 'storyb', ['theta-pro/storyboard']],
		['a provider', 'omicron', ['omicron.v2/scene']],
		['several words, in any order', 'image zeta', ['zeta-3.1/image-to-video', 'zeta-canvas-4.0']],
		[
			'what people call it',
			'voice speech',
			['epsilon-voice/text-to-speech', 'sigma-dialogue/cast', 'sigma-talk/avatar'],
		],
		['a chat model, which is left out', 'sigma-chat-5', []],
	])('finds by %s', async (_, filter, models) => {
		const { results } = await settle(searchModels(context, filter));
		expect(results.map(({ value }) => value).sort()).toEqual(models);
	});

	it.each([
		['mu/image-to-video', 'Mu Image to Video'],
		[
			'epsilon-2/image-to-video',
			'Epsilon 2 Image to Video · 5 seconds: 70 credits. 10 seconds: 140 credits.',
		],
	])(
		'names %s by its title, its type where the title lacks it, and its price',
		async (value, name) => {
			const { results } = await settle(searchModels(context, value));
			expect(results).toContainEqual(expect.objectContaining({ name, value }));
		},
	);

	it('leaves out models whose identifier or name n8n would run, as the workflow stores both', async () => {
		const models = [
			{ model: '={{ 1 }}', title: 'A' },
			{ model: 'b', title: '={{ 1 }}' },
			{ model: 'c', title: 'C = {{ 1 }}' },
		];
		answer = () => ({ code: 200, data: { models } });
		const { results } = await settle(searchModels(context));
		expect(results.map(({ name, value }) => [name, value])).toEqual([['C = {{ 1 }}', 'c']]);
	});

	it.each([
		['has no catalogue', MISSING, /lists no models\. To go on .* By ID, add .* JSON\. If/],
		['answers otherwise', { code: 200, data: 1 }, /gave no list of models.*By ID.* JSON/],
		['refuses the token', REFUSED, /token \(401\)\. Open the credential [^.]*'Access Token'\./],
	])('of a service that %s fails, and says how to go on', async (_, given, message) => {
		answer = () => given;
		await expect(settle(searchModels(context))).rejects.toThrow(message);
	});
});

describe.each([
	['of a node without a run', () => new ExpressionError("Node '' hasn't been executed")],
])('with an expression in the credential %s', (_, fail) => {
	beforeEach(() => {
		context.getCredentials = async () => await Promise.reject(fail());
	});
	const depends = /redential depends on the run.*without expressions.*JSON/;

	it('the search says that the credential depends on the run, what to do, and that JSON works', async () => {
		const error = settle(searchModels(context));
		await expect(error).rejects.toThrow(depends);
		await expect(error).rejects.toThrow('Choose one without expressions while');
	});

	it('the fields and their names say so too', async () => {
		expect(await settle(getModelFields(choose(UPSCALE)))).toEqual({
			fields: [],
			emptyFieldsNotice: expect.stringMatching(depends) as string,
		});
		const [entry] = await settle(listModelFields(choose(UPSCALE)));
		expect(entry?.name).toMatch(/redential depends on the run.*without expressions/);
	});
});

describe('the fields of a model', () => {
	it('are those of its schema, with one request', async () => {
		const openapi = corpus.find(({ entry }) => entry.model === UPSCALE)?.openapi;
		const fields = await settle(getModelFields(choose(UPSCALE)));
		expect(fields).toEqual(readFields(UPSCALE, openapi));
		expect(fields.fields.length).toBeGreaterThan(1);
		expect(requests).toEqual([schemaPath(UPSCALE)]);
	});

	it.each([
		['no model is chosen', '', answerFromCorpus, /Choose a model first\.$/],
		['an expression gives the model', '={{ $json.model }}', answerFromCorpus, /expression.*JSON/],
		['the service knows no such model', 'eta-upscales', answerFromCorpus, /eta-upscales.*JSON/],
		['no path can hold its name', '../secret', answerFromCorpus, /can't be "\.\.\/secret".*JSON/],
		['the service is down', UPSCALE, () => BROKEN, /no database.*JSON/],
	])('are a notice when %s', async (_, model, given, message) => {
		answer = given;
		expect(await settle(getModelFields(choose(model)))).toEqual({
			fields: [],
			emptyFieldsNotice: expect.stringMatching(message) as string,
		});
	});

	it('are those that the workflow stores when the service refuses, if they are of the model', async () => {
		const { fields } = await settle(getModelFields(choose(UPSCALE)));
		openAccount();
		answer = () => BROKEN;
		expect(await settle(getModelFields(choose(UPSCALE, fields)))).toEqual({ fields });
		const ofAnother = getModelFields(choose('omega-layers/compose', fields));
		expect(await settle(ofAnother)).toMatchObject({ fields: [] });
	});
});

it('the help and an AI builder get the fields by the names that the service gives them, or why there are none', async () => {
	const fields = await settle(listModelFields(choose(UPSCALE)));
	expect(fields.map(({ value }) => value)).toEqual(expect.arrayContaining(['image_url', 'factor']));
	const none = await settle(listModelFields(choose('')));
	expect(none).toEqual([{ name: 'Choose a model first', value: '' }]);
	openAccount();
	answer = () => REFUSED;
	const [refused] = await settle(listModelFields(choose(UPSCALE)));
	expect(refused?.name).toContain('does not accept the access token (401)');
});

describe('the price of a model', () => {
	const STORYBOARD = 'zeta-3.1/text-to-video';
	const priced = {
		name: 'Price',
		value: '$price',
		description: '💎 Fast: 60 credits\n💎 Quality: 250 credits\n1080p adds 5 credits.',
	};
	const readHelp = async () => await settle(listModelFields(choose(STORYBOARD)));

	it('stands in full in the help, once the list of models was read', async () => {
		const { results } = await settle(searchModels(context, STORYBOARD));
		expect(results[0]?.name).toMatch(/ · 💎 Fast: 60 credits$/);
		expect(await readHelp()).toContainEqual(priced);
	});

	it('is left out where n8n would run it, as the workflow stores it', async () => {
		answer = (path) => {
			const models = [{ model: STORYBOARD, title: 'A', pricingDesc: '={{ 1 }}' }];
			return path === '/api/v1/models' ? { code: 200, data: { models } } : answerFromCorpus(path);
		};
		await settle(searchModels(context));
		expect(await readHelp()).not.toContainEqual(expect.objectContaining({ value: '$price' }));
	});
});
