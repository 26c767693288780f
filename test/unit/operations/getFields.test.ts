import { buildDocument } from '../../../dev/service/catalogue.cts';
import { answerFromCorpus, MISSING, schemaPath, type Answer } from '../corpus';
import { runModelOperation } from './catalogue';

/** Gets the fields of a model, chosen as the editor stores it. */
const run = async (value: string, answer?: (path: string) => Answer) =>
	await runModelOperation('getFields', { anyModel: { __rl: true, mode: 'list', value } }, answer);

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

it('each field of the model is an item, with one request', async () => {
	const model = 'epsilon-canvas/text-to-image';
	const { output, requests } = await run(model);
	expect(output).toMatchObject([
		{ name: 'prompt', title: 'Prompt', type: 'string', required: true },
		{ name: 'aspect_ratio', title: 'Aspect Ratio', type: 'string', default: '1:1' },
		{ name: 'image_resolution', options: ['1K', '2K', '4K'], required: false },
		{ name: 'colors', type: 'array', summary: expect.stringContaining('at most 5') },
		{ name: 'seed', type: 'integer', summary: expect.stringContaining('0 to ') },
	]);
	expect(requests).toEqual([schemaPath(model)]);
});

it('a model given as plain text, as agents do it, is found too', async () => {
	const { output } = await runModelOperation('getFields', { anyModel: ' eta-upscale ' });
	expect(output.length).toBeGreaterThan(0);
});

it('a model that is not chosen is asked for, and nothing else is', async () => {
	const { error, requests } = await run('');
	expect(error?.message).toBe("'Choose Model' is required");
	expect(requests).toEqual([]);
});

it.each<[string, string, (path: string) => Answer, RegExp]>([
	[
		'has no such model',
		'eta-upscales',
		answerFromCorpus,
		/lists no model "eta-upscales".*Get Many/,
	],
	[
		'has no catalogue',
		'eta-upscale',
		() => MISSING,
		/lists no models and no fields.*'Models Path'/,
	],
	[
		'has no fields of the model yet',
		'eta-upscale',
		() => ({ code: 200, data: { openapi: null } }),
		/doesn't say yet which fields eta-upscale takes/,
	],
	[
		'describes it in a text that n8n would run',
		'eta-upscale',
		() => ({ code: 200, data: { openapi: buildDocument({ properties: { '={{ 1 }}': {} } }) } }),
		/would run as expressions/,
	],
])('the error says that the service %s', async (_, model, answer, words) => {
	const { error, output } = await run(model, answer);
	expect(`${error?.message} ${error?.description}`).toMatch(words);
	expect(output).toEqual([]);
});
