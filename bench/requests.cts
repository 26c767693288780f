import { median, shuffle } from 'simple-statistics';
import { chain, createAndWait, prompts } from '../dev/fixtures/workflows.cts';
import type { Log } from '../dev/log.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import type { Service } from '../dev/service/index.cts';
import {
	buildCreateRequest,
	buildHttpRequest,
	buildIf,
	importFor,
	openN8n,
	openService,
} from './fixtures.cts';
import { formatMilliseconds, type Row } from './measure.cts';

export const title = 'Requests and executions per finished task';

const REFUSED = 50;
const POLLED = [1, 10];
const TASK_SECONDS = 30;
const LIMIT = 300_000;

/** Builds the loop that is usually built by hand. */
function buildByHand(service: Service, count: number) {
	const workflow = chain('By hand', [
		prompts(count),
		buildCreateRequest(service, 'Create'),
		{
			name: 'Wait',
			type: 'n8n-nodes-base.wait',
			typeVersion: 1.1,
			webhookId: 'c0ffee00-0000-4000-8000-00000000cccc',
			parameters: { amount: 5, unit: 'seconds' },
		},
		buildHttpRequest(
			{ url: `=${service.url}/api/v1/jobs/recordInfo?taskId={{ $json.data.taskId }}` },
			'Look',
		),
		buildIf('Done?', '={{ $json.data.state }}', 'success'),
	]);
	workflow.connections['Done?'] = { main: [[], [{ node: 'Wait', type: 'main', index: 0 }]] };
	return workflow;
}

/** Measures a batch by callback. */
async function measureByCallback(n8n: N8n, count: number, log: Log) {
	log(`${count} tasks by callback`);
	await using service = await openService({ faultsFor: () => ({ neverEnds: true }) });
	const workflow = chain('By callback', [prompts(count), createAndWait()]);
	const workflowId = await importFor(n8n, service, workflow);
	const executionId = await n8n.run(workflowId);
	await n8n.waitForExecution(executionId, { until: ['waiting'], timeout: LIMIT });

	const measureCallback = async (taskId: string, secret: string | undefined, expected: number) => {
		const sent = performance.now();
		const { status } = await service.callback(taskId, { secret });
		if (status !== expected) throw new Error(`A callback was answered ${status}`);
		return performance.now() - sent;
	};
	const accepted: number[] = [];
	const refused: number[] = [];
	for (const [index, task] of shuffle([...service.tasks.values()]).entries()) {
		if (index % Math.ceil(count / REFUSED) === 0)
			refused.push(await measureCallback(task.taskId, '', 401));
		await service.waitForTask(task.taskId, 'generating');
		Object.assign(task, { state: 'success', completeTime: Date.now() });
		accepted.push(await measureCallback(task.taskId, undefined, 200));
	}
	await n8n.waitForExecution(executionId);
	return {
		count,
		perTask: service.requests.length / count,
		executions: (await n8n.listExecutions({ workflowId })).length,
		accepted: median(accepted),
		refused: median(refused),
	};
}

/** Measures a workflow that looks again and again. */
async function measureByPolling(n8n: N8n, count: number, isByHand: boolean) {
	await using service = await openService({ taskSeconds: TASK_SECONDS });
	const workflow = isByHand
		? buildByHand(service, count)
		: chain('By polling', [prompts(count), createAndWait({ waitFor: 'polling' })]);
	const workflowId = await importFor(n8n, service, workflow);
	await n8n.waitForExecution(await n8n.run(workflowId), { timeout: LIMIT });
	return {
		count,
		isByHand,
		perTask: service.requests.length / count,
		executions: (await n8n.listExecutions({ workflowId })).length,
	};
}

const describe = ({ executions, count }: { executions: number; count: number }) =>
	`${executions / count} executions of n8n per finished task`;

/**
 * Requests to the service and executions of n8n per finished task: Create and Wait by callback and by polling, beside the
 * loop that is usually built by hand (HTTP Request creates, Wait 5 s, HTTP Request looks, If it is done).
 *
 * By callback, tasks end in a random order, one by one, and each calls as it ends; the time of each call is taken as well,
 * and, every now and then, that of a call without a signature: n8n loads the parked execution for it as for any other, and
 * we refuse it unread. By polling, tasks take 30 s; the four workflows run at the same time, each with a service of its own.
 */
export async function bench(log: Log): Promise<Row[]> {
	await using n8n = await openN8n();
	const one = await measureByCallback(n8n, 1, log);
	const ten = await measureByCallback(n8n, 10, log);
	const hundred = await measureByCallback(n8n, 100, log);
	const thousand = await measureByCallback(n8n, 1_000, log);
	log(`${POLLED.join(' and ')} tasks by polling and by hand, each of ${TASK_SECONDS} s`);
	const polled = await Promise.all(
		POLLED.flatMap((count) =>
			[false, true].map((isByHand) => measureByPolling(n8n, count, isByHand)),
		),
	);
	const growth = thousand.accepted / hundred.accepted;
	return [
		...[one, ten, hundred, thousand].map((batch) => ({
			name: `${batch.count} tasks by callback, requests per finished task`,
			value: batch.perTask,
			goal: { atMost: batch.count === 1 ? 2 : 3 },
			figures: describe(batch),
		})),
		...polled.map((batch) => ({
			name: `${batch.count} tasks of ${TASK_SECONDS} s, ${batch.isByHand ? 'by a loop built by hand' : 'by polling'}, requests per finished task`,
			value: batch.perTask,
			figures: describe(batch),
		})),
		{
			name: 'A callback while 1,000 tasks are parked, of one while 100 are',
			value: growth,
			figures: `medians: ${formatMilliseconds(thousand.accepted)}, and ${formatMilliseconds(hundred.accepted)}; one that we refuse unread, for which n8n loads the execution too: ${formatMilliseconds(thousand.refused)}, and ${formatMilliseconds(hundred.refused)}`,
		},
		{
			name: 'The same, of how the time of one that we refuse unread grows',
			value: growth / (thousand.refused / hundred.refused),
			goal: { atMost: 1.25 },
			figures: 'what is more than 1 is growth that is ours and not of n8n loading the execution',
		},
	];
}
