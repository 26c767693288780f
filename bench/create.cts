import { median } from 'simple-statistics';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { chain, createAndWait, prompts } from '../dev/fixtures/workflows.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import { buildCreateRequest, getRun, importFor, openService } from './fixtures.cts';
import { compare, interleave, type Row } from './measure.cts';

const TASKS = 1_000;
const ROUNDS = 7;

const buildCreate = (concurrency: number) =>
	createAndWait({ operation: 'create', options: { tasksPer10Seconds: 0, concurrency } });

/**
 * 1,000 items through Create, beside n8n's HTTP Request node that sends the same requests, by the time that n8n notes for a
 * node. HTTP Request begins all requests at once, whatever its batching (that only pauses between beginnings), so our
 * concurrency is raised to 1,000; the usual one of 5 is shown.
 */
export async function bench(): Promise<Row[]> {
	await using service = await openService({ faultsFor: () => ({ neverEnds: true }) });
	await using n8n = await startPackedN8n();
	const prepare = async (node: WorkflowNode) => ({
		name: node.name,
		id: await importFor(n8n, service, chain(node.name, [prompts(TASKS), node])),
	});
	const ways = {
		ours: await prepare(buildCreate(TASKS)),
		usual: await prepare(buildCreate(5)),
		theirs: await prepare(buildCreateRequest(service)),
	};
	const times = await interleave(ways, { rounds: ROUNDS, warmUp: 2 }, async ({ name, id }) => {
		const execution = await n8n.waitForExecution(await n8n.run(id));
		if (execution.getOutput(name).length !== TASKS) throw new Error(`${name} lost items`);
		return getRun(execution, name).executionTime;
	});
	const more = ` (${median(times.usual)} ms with the usual concurrency of 5)`;
	const name = `Creating ${TASKS} tasks, of what n8n's HTTP Request node takes`;
	return [compare(name, times, { goal: { atMost: 0.6 }, more })];
}
