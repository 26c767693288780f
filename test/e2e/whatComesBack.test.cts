import { expect } from '@jest/globals';
import {
	callWorkflow,
	chain,
	connect,
	createAndWait,
	NODE,
	prompts,
	SEEN,
	WHEN_CALLED,
} from '../../dev/fixtures/workflows.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 1.5, credits: 1e6, callbackRetrySeconds: [0.5, 1, 1, 2, 4] },
});

/** Builds a workflow that creates a task for each prompt and waits for all. */
const build = (texts: string[], parameters: Record<string, unknown> = {}) =>
	chain('What comes back', [prompts(texts), createAndWait(parameters)]);

const COMPLETED = { status: 'completed' };
const FAILED = { status: 'failed' };

describe('links to results that lead nowhere', () => {
	const LINKS = ['blank', 'blankText', 'relative', 'dead'];

	it.each(['callback', 'polling'])(
		'by %s, cost no task, and nothing waits for them',
		async (waitFor) => {
			const texts = ['good', ...LINKS.map((links) => `#links=${links}`)];
			const wait = { waitFor, downloadResults: true, waitLimit: 1 };
			const execution = await pair.run(build(texts, wait));
			expect(execution.status).toBe('success');
			const tasks = execution.getItems<Task & { downloadError?: string }>(NODE);
			expect(pair.readPrompts(tasks)).toEqual(texts);
			expect(tasks).toMatchObject(texts.map(() => COMPLETED));
			const files = execution.getOutput(NODE).map(({ binary = {} }) => Object.keys(binary).length);
			expect(files).toEqual([1, 0, 0, 0, 0]);
			for (const { downloadError } of tasks.slice(3))
				expect(downloadError).toEqual(expect.any(String));
			if (waitFor === 'callback')
				// n8n itself answers 409 if another callback has continued the execution.
				for (const statuses of pair.listAnswers(texts))
					expect([200, 409]).toContain(statuses.at(-1));
		},
	);

	it('let the execution go on by the callback of the only task', async () => {
		const execution = await pair.run(build(['#links=blank'], { downloadResults: true }));
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: pair.listIds()[0], ...COMPLETED }]);
	});
});

describe('states and codes that are an end', () => {
	const STATES = ['canceled', 'cancelled', 'expired', 'timeout', 'rejected', 'error'];
	const ENDS: Array<[prompt: string, output: Record<string, unknown>]> = [
		...STATES.map((state): [string, Record<string, unknown>] => [
			`#fail #end=${state}`,
			{ ...FAILED, state },
		]),
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

describe('a sub-workflow that runs once for each item', () => {
	it('returns to each item its own result', async () => {
		const inner = connect('Inner', [WHEN_CALLED, createAndWait()]);
		const { id } = await pair.importWorkflow(inner);
		await pair.n8n.activate(id);
		const texts = ['one #slow=3', 'three', 'two #slow=2'];
		const outer = chain('Outer', [prompts(texts), callWorkflow(id, 'each'), SEEN]);
		const execution = await pair.run(outer);
		const tasks = execution.getItems<Task>('Call');
		expect(tasks).toMatchObject(texts.map(() => COMPLETED));
		expect(pair.readPrompts(tasks)).toEqual(texts);
		expect(execution.getItems('Seen')).toEqual(texts.map((prompt) => ({ prompt, ...COMPLETED })));
		expect(pair.listPrompts()).toEqual(texts);
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
