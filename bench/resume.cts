import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { chain, createAndWait, WAIT } from '../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import { getRun, importFor, NEXT, openService } from './fixtures.cts';
import { compare, interleave, measureSettings } from './measure.cts';

const ROUNDS = 31;

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
			const executionId = await n8n.run(id);
			await n8n.waitForExecution(executionId, { until: ['waiting'] });
			const taskId = String([...service.tasks.keys()].at(-1));
			await service.waitForTask(taskId);
			const { data } = await n8n.getExecution(executionId);
			const url = `${n8n.url}/webhook-waiting/${executionId}?signature=${data.resumeToken}`;
			const sent = Date.now();
			await service.callback(taskId, name === 'ours' ? {} : { url });
			return getRun(await n8n.waitForExecution(executionId), 'Next').startTime - sent;
		});
		return [
			compare("From the callback to the next node's start, of what n8n's Wait node takes", times, {
				goal: { atMost: 1.1 },
			}),
		];
	});
