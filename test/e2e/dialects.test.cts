import { expect } from '@jest/globals';
import { contract, type Values } from '../../dev/fixtures/models.cts';
import { generate, mediaGeneration, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import { CREATE, readFiles, usePair } from './support.cts';

/** A service as clients recorded it. The other files use one as the contract describes it. */
const pair = usePair({
	service: {
		dialect: 'recorded',
		taskSeconds: 1,
		credits: 1e6,
		lookupSeconds: 0,
		tasksAtOnce: Infinity,
	},
});

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

it('starts a workflow with a task that failed, and why', async () => {
	const { id, url } = await pair.activateTrigger({ events: ['taskCompleted', 'taskFailed'] });
	const parameters = { operation: 'start', prompt: '#fail', callbackUrl: url };
	await pair.runNodes(build('beta2/image-edit', parameters));
	const [taskId] = pair.listIds();
	const why = { failCode: '501', failMessage: expect.stringContaining('refused') };
	const verification = { signature: 'current', details: 'fetched' };
	expect(await pair.waitForTriggered(id)).toMatchObject([
		{ taskId, status: 'failed', ...why, verification },
	]);
	expect(pair.listTasks()).toMatchObject([{ callbacks: [{ status: 200 }] }]);
});

const GOES_ON = { onError: 'continueRegularOutput' };
const RETRY = { retryOnFail: true, maxTries: 3, waitBetweenTries: 50 };

it('creates all tasks of a batch that has more than the service takes at once', async () => {
	const texts = [1, 2, 3, 4].map((item) => `at once ${item}`);
	pair.service.set({ tasksAtOnce: 2, taskSeconds: 3 });
	const options = { howToWait: 'polling', waitLimit: 2 };
	const execution = await pair.runNodes(prompts(texts), generate({ options }));
	expect(execution.readError()).toBe('');
	expect(execution.getItems(NODE)).toMatchObject(pair.listCompleted(...texts));
	// Some were refused, all of them before the first two tasks ended.
	expect(pair.countCreations()).toBeGreaterThan(texts.length);
	expect(pair.countCreations()).toBeLessThan(texts.length * 2);
});

it('tells the items that it could not send how to go on', async () => {
	pair.service.set({ tasksAtOnce: 1 });
	const texts = ['fills #neverEnds', 'waits', 'not sent'];
	const options = { howToWait: 'polling', waitLimit: 0.3, concurrency: 1, failedTasks: 'output' };
	const execution = await pair.runNodes(prompts(texts), generate({ options }, GOES_ON));
	const refused = {
		error: expect.stringContaining('takes no more tasks at once (429: The number of concurrent'),
		message: expect.stringMatching(/Loop Over Items.*'Batch Size'.*'Limit Wait Time'/),
	};
	const taskId = pair.findId('fills #neverEnds');
	expect(execution.getItems(NODE)).toMatchObject([
		{ taskId, status: 'timedOut' },
		refused,
		refused,
	]);
	expect(pair.countCreations()).toBe(3);
});

describe('an internal fault in place of a task', () => {
	const unreadable = 'unreadable';
	const build = (more: object) =>
		generate({ options: { concurrency: 1 } }, { ...GOES_ON, ...more });
	const faultsFor = ({ input }: { input: { prompt?: unknown } }) =>
		String(input.prompt).startsWith(unreadable) ? { code: 500, message: 'Server exception' } : {};

	it('which comes at once keeps no other item from its task', async () => {
		pair.service.set({ faultsFor });
		const good = ['good 1', 'good 2', 'good 3'];
		const bad = [1, 2, 3, 4].map((item) => `${unreadable} ${item}`);
		const execution = await pair.runNodes(prompts([...bad, ...good]), build(RETRY));
		const told = {
			error: expect.stringContaining('Server exception'),
			message: expect.stringContaining('may exist'),
		};
		expect(execution.getItems(NODE)).toMatchObject([
			...bad.map(() => told),
			...pair.listCompleted(...good),
		]);
		// n8n has tried three times.
		expect(pair.countCreations()).toBe(bad.length + good.length);
	});

	it('which is that of an outage ends the batch for all tries', async () => {
		for (let request = 0; request < 3; request++)
			pair.service.faultNext({ path: CREATE, status: 500 });
		const texts = ['lost 1', 'lost 2', 'lost 3', 'kept 4', 'kept 5'];
		const execution = await pair.runNodes(prompts(texts), build(RETRY));
		const [, , third, fourth, fifth] = execution.getItems(NODE);
		expect(third).toMatchObject({ message: expect.stringContaining('may exist') });
		for (const item of [fourth, fifth])
			expect(item).toMatchObject({ error: expect.stringContaining('was not sent: for 3 items') });
		expect(pair.countCreations()).toBe(3);
	});
});
