import { expect } from '@jest/globals';
import { contract, type Values } from '../../dev/fixtures/models.cts';
import { buildMediaGeneration, NODE } from '../../dev/fixtures/workflows.cts';
import { readFiles, usePair } from './support.cts';

/** A service as clients recorded it. The other files use a service as the contract describes it. */
const pair = usePair({
	service: {
		dialect: 'recorded',
		taskSeconds: 1,
		credits: 1e6,
		callbackRetrySeconds: [1, 2, 4, 8],
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
	buildMediaGeneration({
		operation: 'generate',
		model: name.startsWith('Any') ? 'any' : name,
		options: { howToWait: 'callback', waitLimit: 1 },
		...filled[name],
		...more,
	});

it('generates with each model, asleep', async () => {
	const run = async (name: string) => {
		const execution = await pair.runNodes(build(name));
		expect(execution.readError()).toBe('');
		const [item] = execution.getOutput(NODE);
		expect(item?.json).toMatchObject({ status: 'completed', state: 'success' });
		expect(item?.binary?.data?.fileName).toMatch(/^night-[a-z]{8}\.(png|mp4)$/);
		return item?.json.taskId as string;
	};
	const taskIds = await Promise.all(Object.keys(filled).map(run));
	expect(taskIds.sort()).toEqual(pair.listIds().sort());
	for (const { callbacks } of pair.listTasks())
		expect(callbacks.at(-1)).toMatchObject({ status: 200 });
});

it('uploads a file for a field, and by itself', async () => {
	const own = { resource: 'file', operation: 'upload', binaryPropertyName: 'photo' };
	const file = readFiles({ photo: 'plain.png' });
	const upload = await pair.runNodes(...file, buildMediaGeneration(own));
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
