import { setTimeout as pause } from 'node:timers/promises';
import { compileBody, corpus, isTaskDocument } from '../../dev/service/catalogue.cts';
import type { Service, SettingsInput } from '../../dev/service/index.cts';
import { call, create, readAnswer, start } from './support.cts';

interface List {
	total: number;
	models: Array<{ model: string }>;
}

const startUnhurried = (settings?: SettingsInput) => start({ lookupSeconds: 0, ...settings });
const look = async (service: Service, path: string) => await readAnswer(await call(service, path));
const lookAtModel = (service: Service, path: string) => look(service, `/api/v1/models${path}`);
const success = { code: 200, msg: 'success' };
const missing = { code: 404, msg: 'The model does not exist', data: null };
const image = 'https://media.example/a.png';

describe('the corpus', () => {
	const taskModels = corpus.filter(({ openapi }) => isTaskDocument(openapi));

	test('has 34 models and more, each with a name of its own', () => {
		const names = new Set(corpus.map(({ entry }) => entry.model));
		expect(names.size).toBe(corpus.length);
		expect(corpus.length).toBeGreaterThanOrEqual(34);
		expect(taskModels.length).toBeGreaterThanOrEqual(30);
	});

	test.each(taskModels.map((model) => [model.entry.model, model] as const))(
		'has a schema for %s that compiles',
		(name, { openapi }) => {
			expect(compileBody(name, Object(openapi) as object)).toBeInstanceOf(Function);
		},
	);

	test.each([
		'additionalProperties allOf anyOf const default deprecated enum examples exclusiveMaximum',
		'exclusiveMinimum format items maxItems maxLength maximum minItems minLength minimum',
		'multipleOf oneOf pattern properties required $ref type',
		'image_url image_urls input_urls video_url video_urls audio_url first_frame_url last_frame_url',
		'end_image_url mask_url reference_image image_input reference_video reference_image_urls',
		'reference_link_urls',
	])('has the keys %s', (keys) => {
		const json = JSON.stringify(taskModels);
		expect(keys.split(' ').filter((key) => !json.includes(`"${key}":`))).toEqual([]);
	});
});

test('the list has all models, by seven keys', async () => {
	const { data, ...envelope } = await lookAtModel(await startUnhurried(), '');
	expect(envelope).toEqual(success);
	expect(data).toEqual({ total: corpus.length, models: corpus.map(({ entry }) => entry) });
	expect(Object.keys(corpus[0]?.entry ?? {})).toHaveLength(7);
});

test.each([
	['?taskType=lip%20sync,Text%20to%20Music', 'rho/lip-sync zeta-song-v5 eta-sound/effects'],
	['?provider=rho', 'rho/lip-sync rho-caption/video-to-text'],
	['?q=EDIT-PLUS', 'Chi-Image/Edit-Plus'],
	['?q=canvas&provider=Zeta', 'zeta-canvas-4.0'],
	['?q=nothing-like-it', ''],
])('the list filters by %s', async (query, names) => {
	const { code, data } = await lookAtModel(await startUnhurried(), query);
	const { total, models } = data as List;
	expect(code).toBe(200);
	expect(total).toBe(models.length);
	expect(models.map(({ model }) => model).sort()).toEqual(names.split(' ').filter(Boolean).sort());
});

test.each([
	'Chi-Image/Edit-Plus',
	'zeta-canvas-4.0',
	'kappa-7/preview',
	'xi-sketch',
	'sigma-chat-5',
])('%s has its schema, its price and its success rate', async (model) => {
	const service = await startUnhurried();
	const { entry, openapi } = corpus.find((one) => one.entry.model === model) ?? {};
	const { pricingDesc } = entry ?? {};
	expect(await lookAtModel(service, `/${model}/schema`)).toEqual({
		...success,
		data: { model, openapi },
	});
	expect((await lookAtModel(service, `/${model}/price`)).data).toEqual({ model, pricingDesc });
	const { data } = await lookAtModel(service, `/${model}/success-rate`);
	expect(data).toMatchObject({ model });
	expect((data as { points: unknown[] }).points).toHaveLength(openapi === null ? 0 : 144);
});

test.each([
	'/psi/schema',
	'/psi%2Fimage-edit/schema',
	'/chi-image/edit-plus/schema',
	'/psi/image-edit/rate',
	'/psi/image-edit',
	'/generated-1/nothing/schema',
])('there is no %s', async (path) => {
	expect(await lookAtModel(await startUnhurried(), path)).toEqual(missing);
});

const lookups = [
	['GET', '/api/v1/models'],
	['GET', '/api/v1/models/psi/image-edit/schema'],
	['GET', '/api/v1/models/psi/image-edit/price'],
	['GET', '/api/v1/models/psi/image-edit/success-rate'],
	['POST', '/api/v1/common/download-url'],
] as const;

test.each(lookups)('a bad key is answered without data: %s %s', async (method, path) => {
	const headers = { Authorization: 'Bearer other' };
	const response = await call(await start(), path, { method, headers });
	expect(response.status).toBe(200);
	expect(await readAnswer(response)).toEqual({ code: 401, msg: 'The access token is not valid' });
});

test('all lookups share one budget, and each is recorded', async () => {
	const service = await start({ lookupSeconds: 0.3 });
	const lookAll = async () => {
		const answers = [];
		for (const [method, path] of lookups) {
			const response = await call(service, path, { method });
			expect(response.status).toBe(200);
			answers.push((await readAnswer(response)).code);
		}
		return answers;
	};
	expect(await lookAll()).toEqual([200, 429, 429, 429, 429]);
	expect(service.requests.map(({ method, path, code }) => [method, path, code])).toEqual(
		lookups.map(([method, path], index) => [method, path, index ? 429 : 200]),
	);
	await pause(310);
	expect(await lookAll()).toEqual([200, 429, 429, 429, 429]);
});

test.each(lookups)('%s %s can be switched off', async (method, path) => {
	const service = await start({ catalogue: false, downloadUrl: false });
	const response = await call(service, path, { method });
	expect(response.status).toBe(404);
	expect(await readAnswer(response)).toEqual({ code: 404, msg: `There is no ${method} ${path}` });
});

test('models can be generated, as copies of the corpus', async () => {
	const service = await startUnhurried({ generatedModels: 5000 });
	const { total, models } = (await lookAtModel(service, '')).data as List;
	expect(total).toBe(corpus.length + 5000);
	expect(new Set(models.map(({ model }) => model)).size).toBe(total);
	const { model = '' } = models[corpus.length] ?? {};
	expect((await lookAtModel(service, `/${model}/schema`)).data).toMatchObject({ model });
	for (const [input, code] of [
		[{}, 422] as const,
		[{ image_url: image, factor: 2 }, 200] as const,
	]) {
		const listed = models.filter((one) => /^generated.*eta-upscale$/.test(one.model));
		expect((await create(service, { model: listed[0]?.model, input })).code).toBe(code);
	}
});

const layer = { name: 'sky', children: [{ name: 'cloud', children: [{ opacity: 2 }] }] };
const canvas = { width: 640, height: 360 };
test.each<[string, object, string]>([
	['epsilon-2/text-to-video', { prompt: 'A fox', cfg_scale: 0.7, color: 'red' }, ''],
	['epsilon-2/text-to-video', {}, 'input.prompt is required'],
	['epsilon-2/text-to-video', { prompt: 'A', duration: 5 }, 'input.duration must be string'],
	[
		'epsilon-2/text-to-video',
		{ prompt: 'A', duration: '7' },
		'input.duration must be one of ["5","10"]',
	],
	['zeta-3.1/text-to-video', { prompt: 'fox', duration: 5 }, 'must be one of [4,6,8]'],
	['eta-1.6/text-to-video', { prompt: 'A', seed: -2 }, 'input.seed must be >= -1'],
	['eta-1.6/text-to-video', { prompt: 'A', camera: {} }, 'input.camera.movement is required'],
	['theta-pro/storyboard', { shots: [] }, 'input.shots must NOT have fewer than 1 items'],
	['theta-pro/storyboard', { shots: [{ prompt: 'A' }] }, 'input.shots[0].duration is required'],
	['zeta-3.1/image-to-video', { prompt: 'fox', image_urls: [image] }, ''],
	['zeta-3.1/image-to-video', { prompt: 'fox' }, 'input must match exactly one schema in oneOf'],
	[
		'zeta-3.1/image-to-video',
		{ prompt: 'fox', image_urls: [image], first_frame_url: image },
		'input must match exactly one schema in oneOf',
	],
	['mu/image-to-video', { 'image_urls ': [image] }, ''],
	['mu/image-to-video', { image_urls: [image] }, 'input.image_urls  is required'],
	['omicron.v2/scene', { reference_image: image, strength: null }, ''],
	['omicron.v2/scene', { reference_image: [image] }, ''],
	['omicron.v2/scene', { reference_image: 5 }, 'input.reference_image must be string,array'],
	['psi/image-edit', { prompt: 'A', image_url: 'a' }, 'input.image_url must match format "uri"'],
	['omega-layers/compose', { canvas, root: { name: 'sky' } }, ''],
	['omega-layers/compose', { canvas, root: layer }, 'input.root.children[0].children[0].name'],
	['eta-upscale', { image_url: image, color: 'red' }, 'input.color is not known'],
	['upsilon-4/video-edit', { prompt: 'A', video_url: image, ranges: [[1]] }, 'input.ranges[0]'],
	['kappa-7/preview', { anything: 5 }, ''],
	['xi-sketch', { anything: 5 }, ''],
	['nu/broken-input', { anything: 5 }, ''],
	['sigma-chat-5', {}, 'is not created by /api/v1/jobs/createTask'],
	['psi-reader/recognize', { image_url: image }, 'is not created by /api/v1/jobs/createTask'],
])('a task of %s with %j is held to its schema: "%s"', async (model, input, problem) => {
	const service = await start();
	const { code, msg } = await create(service, { model, input });
	expect(code).toBe(problem ? 422 : 200);
	expect(msg).toContain(problem);
	expect([...service.tasks.values()].map((task) => task.input)).toEqual(problem ? [] : [input]);
});
