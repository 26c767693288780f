import { median, shuffle } from 'simple-statistics';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { chain, createAndWait, prompts } from '../dev/fixtures/workflows.cts';
import type { Log } from '../dev/log.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import { importFor, measureCallback, openService } from './fixtures.cts';
import { compare, type Row } from './measure.cts';

const BATCHES = [1, 10, 100, 1_000];
const REFUSED = 50;
const LIMIT = 300_000;

/** Measures a batch by callback: its requests, and the milliseconds of its callbacks. */
async function measureByCallback(n8n: N8n, tasks: number, log: Log) {
	log(`${tasks} tasks by callback`);
	await using service = await openService({ faultsFor: () => ({ neverEnds: true }) });
	const workflow = chain('By callback', [prompts(tasks), createAndWait()]);
	const workflowId = await importFor(n8n, service, workflow);
	const executionId = await n8n.run(workflowId);
	await n8n.waitForExecution(executionId, { until: ['waiting'], timeout: LIMIT });

	const accepted: number[] = [];
	const refused: number[] = [];
	for (const [index, task] of shuffle([...service.tasks.values()]).entries()) {
		if (index % Math.ceil(tasks / REFUSED) === 0)
			refused.push(await measureCallback(service, task.taskId, { secret: '' }, 401));
		await service.waitForTask(task.taskId, 'generating');
		Object.assign(task, { state: 'success', completeTime: Date.now() });
		accepted.push(await measureCallback(service, task.taskId));
	}
	await n8n.waitForExecution(executionId);
	const executions = (await n8n.listExecutions({ workflowId })).length;
	const row: Row = {
		name: `${tasks} tasks by callback, requests per finished task`,
		value: service.requests.length / tasks,
		goal: { atMost: tasks === 1 ? 2 : 3 },
		figures: `${executions / tasks} executions of n8n per finished task`,
	};
	return { row, accepted, refused };
}

/**
 * Requests to the service and executions of n8n per finished task, which end one by one in a random order. The time of each
 * callback is taken as well, and now and then that of one without a signature: n8n loads the execution for it, and we refuse
 * it unread.
 */
export async function bench(log: Log): Promise<Row[]> {
	await using n8n = await startPackedN8n();
	const batches = [];
	for (const tasks of BATCHES) batches.push(await measureByCallback(n8n, tasks, log));
	const [hundred, thousand] = batches.slice(2);
	if (!hundred || !thousand) throw new Error('A batch is missing');
	const growth = compare('A callback while 1,000 tasks are parked, of one while 100 are', {
		ours: thousand.accepted,
		theirs: hundred.accepted,
	});
	const refused = median(thousand.refused) / median(hundred.refused);
	return [
		...batches.map(({ row }) => row),
		growth,
		{
			name: 'The same, of how the time of one that we refuse unread grows',
			value: growth.value / refused,
			goal: { atMost: 1.25 },
			figures: `n8n loads the execution for that one too: ${median(thousand.refused).toFixed(1)} ms, and ${median(hundred.refused).toFixed(1)} ms; what is more than 1 is growth that is ours`,
		},
	];
}
