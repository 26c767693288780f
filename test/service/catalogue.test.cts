import { setTimeout as pause } from 'node:timers/promises';
import { corpus } from '../../dev/service/catalogue.cts';
import { create, get, post, start } from './support.cts';

const LIST = '/api/v1/models';
const missing = { code: 404, msg: 'The model does not exist', data: null };
const image = 'https://media.example/a.png';

test('the corpus has the kinds of models and the keys that were seen', () => {
	const json = JSON.stringify(corpus.map(({ openapi }) => openapi));
	const keys = [
		'additionalProperties allOf anyOf const default deprecated enum examples exclusiveMaximum',
		'exclusiveMinimum format items maxItems maxLength maximum minItems minLength minimum',
		'multipleOf oneOf pattern properties required $ref type',
		'image_url image_urls input_urls video_url video_urls audio_url first_frame_url last_frame_url',
		'end_image_url mask_url reference_image image_input reference_video reference_image_urls',
		'reference_link_urls',
	].flatMap((line) => line.split(' '));
	expect(keys.filter((key) => !json.includes(`"${key}":`))).toEqual([]);
	expect(new Set(corpus.map(({ entry }) => entry.model)).size).toBe(corpus.length);
	expect(json.split('"/api/v1/jobs/createTask":').length).toBeGreaterThan(30);
});

test('the list has all models, by seven keys, and generated copies', async () => {
	const service = await start({ generatedModels: 5000 });
	const { data, ...envelope } = await get(service, LIST);
	const { total, models } = data as { total: number; models: Array<{ model: string }> };
	expect(envelope).toEqual({ code: 200, msg: 'success' });
	expect(models.slice(0, corpus.length)).toEqual(corpus.map(({ entry }) => entry));
	expect(models.filter((entry) => Object.keys(entry).length !== 7)).toEqual([]);
	expect(total).toBe(corpus.length + 5000);
	expect(new Set(models.map(({ model }) => model)).size).toBe(total);
});

test.each(['Chi-Image/Edit-Plus', 'zeta-canvas-4.0', 'kappa-7/preview', 'xi-sketch'])(
	'%s has its schema',
	async (model) => {
		const { openapi } = corpus.find(({ entry }) => entry.model === model) ?? {};
		const { data } = await get(await start(), `${LIST}/${model}/schema`);
		expect(data).toEqual({ model, openapi });
	},
);

test("a document can take the place of a model's own", async () => {
	const openapi = { paths: {} };
	const service = await start({ documents: { 'psi/image-edit': openapi } });
	const { data } = await get(service, `${LIST}/psi/image-edit/schema`);
	expect(data).toEqual({ model: 'psi/image-edit', openapi });
});

test.each([
	'/psi/schema',
	'/psi%2Fimage-edit/schema',
	'/chi-image/edit-plus/schema',
	'/psi/image-edit',
])('there is no %s', async (path) => {
	expect(await get(await start(), LIST + path)).toEqual(missing);
});

test('all lookups share one budget, and each is recorded', async () => {
	const service = await start({ lookupSeconds: 0.3 });
	const lookAll = async () => [
		(await get(service, LIST)).code,
		(await get(service, `${LIST}/psi/image-edit/schema`)).code,
		(await post(service, '/api/v1/common/download-url', { url: image })).code,
	];
	expect(await lookAll()).toEqual([200, 429, 429]);
	expect(service.requests.map(({ status, code }) => [status, code])).toEqual([
		[200, 200],
		[200, 429],
		[200, 429],
	]);
	await pause(310);
	expect(await lookAll()).toEqual([200, 429, 429]);
});

test('a model that continues a song takes one of a finished task', async () => {
	const service = await start();
	const made = await create(service, {
		model: 'zeta-song-v5',
		input: { prompt: 'A fox', instrumental: true },
	});
	const { taskId } = made.data as { taskId: string };
	await service.waitForTask(taskId);
	const order = async (task_id: string, audio_id: string) => {
		const input = { task_id, audio_id };
		return (await create(service, { model: 'zeta-song-v5/music-video', input })).code;
	};
	expect(await order(taskId, `${taskId}-song-2`)).toBe(200);
	expect(await order(taskId, `${taskId}-song-3`)).toBe(422);
	expect(await order('none', `${taskId}-song-1`)).toBe(422);
});

test.each<[string, object, string]>([
	['epsilon-2/text-to-video', { prompt: 'A fox', cfg_scale: 0.7, color: 'red' }, ''],
	['epsilon-2/text-to-video', {}, "/input must have required property 'prompt'"],
	['zeta-3.1/image-to-video', { prompt: 'fox', image_urls: [image] }, ''],
	['zeta-3.1/image-to-video', { prompt: 'fox' }, '/input must match exactly one schema in oneOf'],
	['mu/image-to-video', { 'image_urls ': [image] }, ''],
	['mu/image-to-video', { image_urls: [image] }, "must have required property 'image_urls '"],
	['psi/image-edit', { prompt: 'A', image_url: 'a' }, '/input/image_url must match format "uri"'],
	['eta-upscale', { image_url: image, color: 'red' }, 'must NOT have additional properties'],
	['kappa-7/preview', { anything: 5 }, ''],
	['nu/broken-input', { anything: 5 }, ''],
	['sigma-chat-5', {}, 'is not created by /api/v1/jobs/createTask'],
])('a task of %s with %j is held to its schema: "%s"', async (model, input, problem) => {
	const service = await start();
	const { code, msg } = await create(service, { model, input });
	expect(code).toBe(problem ? 422 : 200);
	expect(msg).toContain(problem);
	expect([...service.tasks.values()].map((task) => task.input)).toEqual(problem ? [] : [input]);
});
