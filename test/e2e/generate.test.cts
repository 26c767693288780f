import { expect } from '@jest/globals';
import { parseAnswer } from '../../dev/fixtures/callbacks.cts';
import { itAtNight } from '../../dev/fixtures/night.cts';
import { generate, NODE, numberTexts, prompts, SEEN } from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, usePair } from './support.cts';

describe('waiting for the callback', () => {
	const pair = usePair({
		service: { taskSeconds: 0.5, credits: 1e6, callbackRetrySeconds: [0.2, 0.4, 0.8] },
	});

	it('under Execute Once, parks without a request, and resumes with the task of the first item', async () => {
		pair.service.set({ taskSeconds: 2 });
		const once = generate({}, { executeOnce: true });
		const id = await pair.park(prompts(['one', 'two']), once, SEEN);
		expect(pair.countRequests(DETAILS)).toBe(0);
		const execution = await pair.n8n.waitForExecution(id);
		expect(pair.listPrompts()).toEqual(['one']);
		expect(execution.getItems(NODE)).toMatchObject(pair.listCompleted('one'));
		expect(execution.getItems('Seen')).toEqual([{ prompt: 'one', status: 'completed' }]);
		expect(pair.countRequests(DETAILS)).toBe(1);
	});

	it('goes on through callbacks that are forged, or without the secret of the resume URL', async () => {
		const readLog = pair.n8n.followLog();
		const id = await pair.park(prompts(['one #noCallback']), generate());
		const [{ taskId = '', callBackUrl = '' } = {}] = pair.listTasks();
		await pair.service.waitForTask(taskId);
		const forged = await pair.service.callback(taskId, { secret: 'guess' });
		expect(forged.status).toBe(401);
		expect(parseAnswer(forged.body)).toMatchObject({ accepted: false, reason: 'signatureWrong' });
		expect(readLog()).toMatch(new RegExp(`"${NODE}" refused a callback.*signatureWrong`));
		const { origin, pathname } = new URL(callBackUrl);
		const unknown = await pair.service.callback(taskId, { url: origin + pathname });
		expect(unknown.status).toBe(401);
		expect((await pair.n8n.getExecution(id)).status).toBe('waiting');
		expect(await pair.service.callback(taskId)).toMatchObject({ status: 200 });
		const tasks = (await pair.n8n.waitForExecution(id)).getItems(NODE);
		expect(tasks).toMatchObject([{ taskId, status: 'completed' }]);
	});
});

describe('a batch whose tasks end all at once', () => {
	const pair = usePair({
		service: {
			credits: 1e9,
			callbacks: false,
			// A real sender gives up sooner. This one is to hear what the node answers when n8n comes to it.
			callbackTimeoutSeconds: 150,
			faultsFor: () => ({ neverEnds: true }),
		},
		env: {},
	});

	const TASKS = 250;
	/** Of each callback. n8n loads the whole execution for each, so more tasks would try n8n more than the node. */
	const COPIES = 4;

	itAtNight(
		'comes out, and none of a thousand callbacks at once is turned away by the node',
		async () => {
			const id = await pair.park(prompts(numberTexts(TASKS)), generate());
			for (const task of pair.listTasks()) await pair.endTask(task);
			const taskIds = pair.listIds();
			const senders = Array.from({ length: COPIES }, () => taskIds).flat();
			const answers = await Promise.allSettled(
				senders.map(async (taskId) => await pair.service.callback(taskId)),
			);
			// n8n itself answers 409 once the execution goes on, also 500 where it reads what has changed meanwhile
			// (`entryToPop` in its workflow-helpers.js), and 503 while its database is busy.
			const ours = answers
				.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
				.filter(({ body }) => body.includes('"accepted"'));
			expect(ours.length).toBeGreaterThan(0);
			// On a busy machine, the details that the first of them asks for may take longer than its sender waits.
			const needless = ours.filter(
				({ status, body }) => status >= 500 && !body.includes('detailsUnavailable'),
			);
			expect(needless).toEqual([]);
			// The storm may have kept n8n from its database.
			const isReady = async () => (await fetch(`${pair.n8n.url}/healthz/readiness`)).ok;
			await poll(isReady, { what: 'n8n to be ready' });
			const tasks = (await pair.n8n.waitForExecution(id)).getItems<Task>(NODE);
			expect(tasks.map(({ taskId }) => taskId).sort()).toEqual([...taskIds].sort());
			expect(tasks.every(({ status }) => status === 'completed')).toBe(true);
			expect(pair.countRequests(DETAILS)).toBeLessThanOrEqual(1.2 * TASKS);
		},
	);
});
