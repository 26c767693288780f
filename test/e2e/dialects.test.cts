import { expect } from '@jest/globals';
import { contract, type Values } from '../../dev/fixtures/models.cts';
import { generate, mediaGeneration, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import { dialects, type DialectName } from '../../dev/service/dialects.cts';
import { readFiles, usePair } from './support.cts';

const prompt = 'Night';
const anyModel = 'epsilon-canvas/text-to-image';

/** The fields of each model, and of all others by both modes, with one prompt. */
const filled: Record<string, Values> = {
	...Object.fromEntries(
		Object.entries(contract).map(([id, row]) => [id, { ...row.filled, prompt }]),
	),
	'Any Model by Fields': {
		anyModel,
		anyFields: { mappingMode: 'defineBelow', value: { aspect_ratio: '3:2' }, schema: [] },
		prompt,
	},
	'Any Model by JSON': {
		anyModel,
		inputMode: 'json',
		anyInput: JSON.stringify({ prompt, aspect_ratio: '3:2' }),
	},
};

describe.each(Object.keys(dialects) as DialectName[])('in the dialect "%s"', (dialect) => {
	const pair = usePair({ service: { dialect, taskSeconds: 1, credits: 1e6, lookupSeconds: 0 } });

	/** Builds our node, which by default generates with a model and waits for its callback. */
	const build = (name: string, more: object = {}) =>
		mediaGeneration({
			operation: 'generate',
			model: name.startsWith('Any') ? 'any' : name,
			options: { howToWait: 'callback', waitLimit: 1 },
			...filled[name],
			...more,
		});

	it.each(Object.keys(filled))('generates with %s, asleep', async (name) => {
		const execution = await pair.runNodes(build(name));
		expect(execution.readError()).toBe('');
		const [taskId] = pair.listIds();
		expect(execution.getItems(NODE)).toMatchObject([
			{ taskId, status: 'completed', state: 'success' },
		]);
		expect(execution.getOutput(NODE)[0]?.binary?.data?.fileName).toMatch(/^night\.(png|mp4)$/);
		expect(pair.listTasks()).toMatchObject([{ callbacks: [{ status: 200 }] }]);
	});

	it.each(['callback', 'polling'])('says why a task failed, by %s', async (howToWait) => {
		const node = generate({ options: { howToWait, waitLimit: 1, failedTasks: 'output' } });
		const execution = await pair.runNodes(prompts(['#fail']), node);
		expect(execution.getItems(NODE)).toMatchObject([
			{ status: 'failed', failCode: '501', failMessage: expect.stringContaining('refused') },
		]);
	});

	it('uploads a file for a field, and by itself', async () => {
		const own = { resource: 'file', operation: 'upload', binaryPropertyName: 'photo' };
		const file = readFiles({ photo: 'plain.png' });
		const upload = await pair.runNodes(...file, mediaGeneration(own));
		const execution = await pair.runNodes(...file, build('beta2/image-edit', { image: 'photo' }));
		expect([upload, execution].map((one) => one.readError())).toEqual(['', '']);
		const [uploaded, sent] = [...pair.service.uploads.values()].map((one) => one.downloadUrl);
		expect(upload.getItems(NODE)).toMatchObject([{ url: uploaded }]);
		expect(pair.listTasks()).toMatchObject([{ input: { image_url: sent } }]);
	});

	it.each([
		['completed', ''],
		['failed', '#fail'],
	])('starts a workflow with a task that %s', async (status, prompt) => {
		const { id, url } = await pair.activateTrigger({ events: ['taskCompleted', 'taskFailed'] });
		const parameters = { operation: 'start', prompt, callbackUrl: url };
		await pair.runNodes(build('beta2/image-edit', parameters));
		const [taskId] = pair.listIds();
		const verification = { signature: 'current', details: 'fetched' };
		expect(await pair.waitForTriggered(id)).toMatchObject([{ taskId, status, verification }]);
		expect(pair.listTasks()).toMatchObject([{ callbacks: [{ status: 200 }] }]);
	});

	it.each([
		['a field that is missing', { anyInput: '{"prompt":"Night"}' }, /image_url/],
		['an account without credits', {}, /credits/i],
	])('says that nothing was created for %s', async (_, input, reason) => {
		if (!('anyInput' in input)) pair.service.set({ credits: 0 });
		const anyInput = JSON.stringify({ prompt: '', image_url: 'https://media.example/a.png' });
		const parameters = { anyModel: 'beta2/image-edit', inputMode: 'json', anyInput };
		const node = generate({ ...parameters, ...input });
		const error = (await pair.runNodes(prompts(['one']), node)).readError();
		expect(error).toMatch(reason);
		expect(error).not.toMatch(/may exist|may have been/);
		expect(pair.listTasks()).toEqual([]);
	});

	it('reads the credits', async () => {
		const node = mediaGeneration({ resource: 'account', operation: 'getCredits' });
		expect((await pair.runNodes(node)).getItems(NODE)).toEqual([{ credits: 1e6 }]);
	});
});
