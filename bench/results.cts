import { createEndedTask } from '../dev/fixtures/callbacks.cts';
import { chain, createAndWait, mediaGeneration, prompts } from '../dev/fixtures/workflows.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import { buildHttpRequest, getRun, importFor, openN8n, openService } from './fixtures.cts';
import { computeMedians, interleave, type Row } from './measure.cts';

export const title = 'Result files';

const TASKS = 20;
const BATCHES = 5;
/** Of a batch, in seconds: from the end of a task to that of the next one, and to that of the last one. */
const APART = { usual: 0.4, last: 2 };
/** In MB. */
const FILE = 10;
const LARGE = 500e6;
const ROUNDS = 7;

const NEXT = { name: 'Next', type: 'n8n-nodes-base.noOp' };
const buildDownload = (taskId: string) => mediaGeneration({ operation: 'download', taskId });

async function run(n8n: N8n, service: Service, nodes: WorkflowNode[]) {
	const id = await importFor(n8n, service, chain('Bench', nodes));
	const execution = await n8n.waitForExecution(await n8n.run(id), { timeout: 120_000 });
	if (execution.status !== 'success') throw new Error(execution.getError()?.message);
	return execution;
}

/** Measures the seconds from the last callback of a batch to the next node, and those of downloading one of its files. */
async function measureBatch(n8n: N8n, service: Service, fileSlow?: number) {
	service.set({
		faultsFor: ({ input }) => {
			const number = Number(String(input.prompt).split(' ')[1]);
			const isLast = number === TASKS - 1;
			const slow = 3 + number * APART.usual + (isLast ? APART.last - APART.usual : 0);
			return { fileSize: FILE, fileSlow, slow };
		},
	});
	service.tasks.clear();
	const nodes = [prompts(TASKS), createAndWait({ downloadResults: true }), NEXT];
	const execution = await run(n8n, service, nodes);
	if (execution.getOutput('Next').some(({ binary }) => !binary))
		throw new Error('A file is missing');
	const ended = Math.max(...[...service.tasks.values()].map((task) => Number(task.completeTime)));
	const batch = (getRun(execution, 'Next').startTime - ended) / 1000;

	service.set({ faultsFor: () => ({ fileSize: FILE, fileSlow, noCallback: true, slow: 0.01 }) });
	const [item] = (
		await run(n8n, service, [buildDownload(await createEndedTask(service))])
	).getItems<{ file: { seconds: number } }>('Media Generation');
	return { batch, one: Number(item?.file.seconds) };
}

async function measureBatches(n8n: N8n, service: Service): Promise<Row[]> {
	const measured = await interleave(
		{ arriving: 1, local: undefined },
		{ rounds: BATCHES },
		(fileSlow) => measureBatch(n8n, service, fileSlow),
	);
	const { arriving, local } = computeMedians({
		arriving: measured.arriving.map(({ batch, one }) => batch / one),
		local: measured.local.map(({ batch }) => batch),
	});
	const { batch, one } = computeMedians({
		batch: measured.arriving.map(({ batch }) => batch),
		one: measured.arriving.map(({ one }) => one),
	});
	return [
		{
			name: `From the last callback of ${TASKS} tasks to the next node, with a file of ${FILE} MB each, of downloading one`,
			value: arriving,
			goal: { atMost: 1.3 },
			figures: `medians of ${BATCHES}: ${batch.toFixed(2)} s, and ${one.toFixed(2)} s for one file, from a host that takes a second for it; ${local.toFixed(2)} s from one on this machine`,
		},
	];
}

async function measureLarge(n8n: N8n, service: Service): Promise<Row> {
	const ways: Record<'ours' | 'theirs', () => Promise<WorkflowNode>> = {
		ours: async () =>
			buildDownload(await createEndedTask(service, { prompt: `#noCallback #bigFile=${LARGE}` })),
		theirs: async () =>
			await Promise.resolve(
				buildHttpRequest({
					url: `${service.resultsUrl}/big/${LARGE}.bin`,
					authentication: 'none',
					options: { response: { response: { responseFormat: 'file' } } },
				}),
			),
	};
	service.set({ faultsFor: undefined, taskSeconds: 0 });
	const times = await interleave(ways, { rounds: ROUNDS }, async (build) => {
		const node = await build();
		return getRun(await run(n8n, service, [node]), node.name).executionTime;
	});
	const { ours, theirs } = computeMedians(times);
	return {
		name: `Downloading ${LARGE / 1e6} MB, of what n8n's HTTP Request node takes`,
		value: ours / theirs,
		goal: { atMost: 1.05 },
		figures: `medians of ${ROUNDS} rounds: ${ours} ms, and ${theirs} ms by HTTP Request`,
	};
}

/**
 * How long files take, in filesystem mode. A batch: its tasks end one after the other and the last one some time later, so that
 * its files but one are there when its last callback comes. A large file: the node's own time as n8n notes it, beside n8n's HTTP
 * Request node for the same URL, in interleaved rounds of one n8n.
 */
export async function bench(): Promise<Row[]> {
	await using service = await openService();
	await using n8n = await openN8n({ N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' });
	return [...(await measureBatches(n8n, service)), await measureLarge(n8n, service)];
}
