import { expect } from '@jest/globals';
import {
	chain,
	createAndWait,
	mediaGeneration,
	NODE,
	prompts,
} from '../../dev/fixtures/workflows.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, usePair } from './support.cts';

const pair = usePair({
	service: {
		taskSeconds: 1.5,
		credits: 1e6,
		callbackRetrySeconds: [0.5, 1, 1, 2, 4],
		balance: true,
		details: true,
		creation: true,
	},
});

/** Builds a workflow that creates a task for each prompt and waits for all. */
const build = (texts: string[], parameters: Record<string, unknown> = {}) =>
	chain('What comes back', [prompts(texts), createAndWait(parameters)]);

const COMPLETED = { status: 'completed' };
const FAILED = { status: 'failed' };

describe('states and codes that are an end', () => {
	const ENDS: Array<[prompt: string, output: Record<string, unknown>]> = [
		['#fail #end=canceled', { ...FAILED, state: 'canceled' }],
		['#detailsCode=501', { ...FAILED, failCode: '501' }],
		['#detailsCode=408', { ...FAILED, failCode: '408' }],
		['#detailsCode=501 #detailsRecord #fail', { ...FAILED, state: 'fail', failCode: '501' }],
		['#detailsCode=501 #detailsRecord', { ...COMPLETED, state: 'success' }],
	];

	it.each(['callback', 'polling'])('by %s, come out as what they are', async (waitFor) => {
		const texts = ENDS.map(([text]) => text);
		const execution = await pair.run(build(texts, { waitFor, waitLimit: 1 }));
		const tasks = execution.getItems<Task>(NODE);
		expect(pair.readPrompts(tasks)).toEqual(texts);
		expect(tasks).toMatchObject(ENDS.map(([, output]) => output));
	});
});

/** It answers 404 to paths of the credential. */
describe('a service that has not all paths', () => {
	const PATHS = /Base URL.*endpoint paths/;

	it('without credits, creates and waits, and says what to check where the credits are asked for', async () => {
		pair.service.set({ balance: false });
		const credits = mediaGeneration({ resource: 'account', operation: 'getCredits' });
		const nodes = [createAndWait({ downloadResults: true }), { ...credits, name: 'Credits' }];
		const execution = await pair.runNodes(prompts(['one']), ...nodes);
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
		expect(Object.keys(execution.getOutput(NODE)[0]?.binary ?? {})).toEqual(['data']);
		expect(execution.readError()).toMatch(PATHS);
	});

	it.each(['callback', 'polling'])(
		'without details, by %s, brings the ID out at the limit, with the reason',
		async (waitFor) => {
			pair.service.set({ details: false });
			const execution = await pair.run(build(['one'], { waitFor, waitLimit: 0.1 }));
			const lookError = expect.stringMatching(/not JSON|404|not the expected/);
			expect(execution.getItems(NODE)).toMatchObject([
				{ taskId: pair.listIds()[0], status: 'timedOut', lookError },
			]);
			expect(pair.countCreations()).toBe(1);
		},
	);

	it('without creation, says what to check, and sends no item after the first', async () => {
		pair.service.set({ creation: false });
		const texts = ['one', 'two', 'three'];
		const execution = await pair.run(build(texts, { options: { concurrency: 1 } }));
		expect(execution.readError()).toMatch(PATHS);
		expect(pair.countCreations()).toBe(1);
		expect(pair.service.tasks.size).toBe(0);
	});
});

describe('details that take longer than a callback may', () => {
	it('bring the task, as Timeout allows them to', async () => {
		pair.service.set({ taskSeconds: 2 });
		const workflow = build(['one'], { options: { tasksPer10Seconds: 0, timeoutSeconds: 30 } });
		const id = await pair.park(workflow);
		pair.service.faultNext({ path: DETAILS, delaySeconds: 6, times: 3 });
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
	});
});
