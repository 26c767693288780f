import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { chain, createAndWait, prompts, WAIT } from '../dev/fixtures/workflows.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import { getRun, importFor, NEXT, openService } from './fixtures.cts';
import { compare, interleave, measureSettings } from './measure.cts';

const ROUNDS = 31;
/** As many tasks end together and call back at once. */
const CROWD = 100;
const CROWD_ROUNDS = 5;

/** Runs a workflow until it is parked and its tasks, the newest ones, have ended. */
async function park(n8n: N8n, service: Service, workflowId: string, count = 1) {
	const executionId = await n8n.run(workflowId);
	await n8n.waitForExecution(executionId, { until: ['waiting'] });
	const taskIds = [...service.tasks.keys()].slice(-count);
	for (const taskId of taskIds) await service.waitForTask(taskId);
	return { executionId, taskIds };
}

/**
 * The time from the service's callback to the start of the next node, beside n8n's own Wait node resumed by the same
 * POST, in interleaved rounds of one n8n. Below 1 is faster than the Wait node. In that time our node reads its credential
 * and asks the service for the task, the Wait node does neither.
 */
export const bench = async () =>
	await measureSettings(async (env) => {
		await using service = await openService({
			taskSeconds: 0.3,
			faultsFor: () => ({ noCallback: true }),
		});
		await using n8n = await startPackedN8n({ env });
		const prepare = async (node: WorkflowNode) =>
			await importFor(n8n, service, chain(node.name, [node, NEXT]));
		// Ours comes first: Wait is resumed with the callback of the task before it.
		const ways = {
			ours: await prepare(createAndWait({ customInput: '{"prompt":"bench"}', options: {} })),
			theirs: await prepare(WAIT),
		};
		const times = await interleave(ways, { rounds: ROUNDS, warmUp: 3 }, async (id, name) => {
			const { executionId, taskIds } = await park(n8n, service, id);
			const { data } = await n8n.getExecution(executionId);
			const url = `${n8n.url}/webhook-waiting/${executionId}?signature=${data.resumeToken}`;
			const sent = Date.now();
			await service.callback(String(taskIds[0]), name === 'ours' ? {} : { url });
			return getRun(await n8n.waitForExecution(executionId), 'Next').startTime - sent;
		});
		return [
			compare("From the callback to the next node's start, of what n8n's Wait node takes", times, {
				goal: { atMost: 1.1 },
			}),
			compare(
				`${CROWD} callbacks at once, of what as many refusals take`,
				await measureCrowds(n8n, service),
				{ more: ' until the last answer' },
			),
		];
	});

/**
 * Measures the milliseconds from when all callbacks of a parked batch are sent until the last is answered: with a wrong
 * secret, then with the right one. n8n loads the execution for each of them, also for those that are refused.
 */
async function measureCrowds(n8n: N8n, service: Service) {
	const workflow = chain('Crowd', [prompts(CROWD), createAndWait()]);
	const workflowId = await importFor(n8n, service, workflow);
	const times = { ours: [] as number[], theirs: [] as number[] };
	for (let round = 0; round < CROWD_ROUNDS; round++) {
		const { executionId, taskIds } = await park(n8n, service, workflowId, CROWD);
		for (const [name, secret] of [['theirs', 'wrong'], ['ours']] as const) {
			const sent = performance.now();
			await Promise.all(taskIds.map(async (taskId) => await service.callback(taskId, { secret })));
			times[name].push(performance.now() - sent);
		}
		await n8n.waitForExecution(executionId);
	}
	return times;
}
