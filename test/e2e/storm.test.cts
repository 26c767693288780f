import { expect } from '@jest/globals';
import { itUnderLoad } from '../../dev/fixtures/underLoad.cts';
import { chain, createAndWait, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, usePair } from './support.cts';

const pair = usePair({
	service: {
		credits: 1e9,
		callbacks: false,
		// A real sender gives up sooner. This one is to hear what the node answers when n8n comes to it.
		callbackTimeoutSeconds: 150,
		faultsFor: () => ({ neverEnds: true }),
	},
	n8n: {},
});

const TASKS = 250;
/** Of each callback. n8n loads the whole execution for each, so more tasks would try n8n more than the node. */
const COPIES = 4;

itUnderLoad(
	'of a thousand callbacks at once for one batch, the node turns none away, and all tasks come out',
	async () => {
		const id = await pair.park(chain('Storm', [prompts(TASKS), createAndWait()]));
		for (const task of pair.listTasks())
			Object.assign(task, { state: 'success', completeTime: Date.now() });
		const taskIds = pair.listIds();
		const answers = await Promise.allSettled(
			Array<string[]>(COPIES)
				.fill(taskIds)
				.flat()
				.map(async (taskId) => await pair.service.callback(taskId)),
		);
		const given = answers.flatMap((answer) =>
			answer.status === 'fulfilled' ? [answer.value] : [],
		);
		// n8n itself answers 409 once the execution goes on, also 500 where it reads what has changed meanwhile
		// (`entryToPop` in its workflow-helpers.js), and 503 while its database is busy.
		const ours = given.filter(({ body }) => body.includes('"accepted"'));
		const turnedAway = ours.filter(({ status }) => status >= 500);
		// On a busy machine, the details that the first of them asks for may take longer than its sender waits.
		const needless = turnedAway.filter(({ body }) => !body.includes('detailsUnavailable'));
		expect(needless).toEqual([]);
		expect(ours.length).toBeGreaterThan(0);
		const execution = await pair.n8n.waitForExecution(id);
		const tasks = execution.getItems<Task>(NODE);
		expect(tasks.map(({ taskId }) => taskId).sort()).toEqual([...taskIds].sort());
		expect(tasks.every(({ status }) => status === 'completed')).toBe(true);
		expect(pair.countRequests(DETAILS)).toBeLessThanOrEqual(1.2 * TASKS);
	},
);
