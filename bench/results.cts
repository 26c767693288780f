import { median } from 'simple-statistics';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { createAndWait, prompts } from '../dev/fixtures/workflows.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import type { Service } from '../dev/service/index.cts';
import { buildDownloads, getRun, NEXT, openService, run } from './fixtures.cts';
import { compare, interleave, type Row } from './measure.cts';

const TASKS = 20;
const BATCHES = 5;
/** Of a batch, in seconds: from the end of a task to that of the next one, and to that of the last one. */
const APART = { usual: 0.4, last: 2 };
/** The seconds that the host of results takes for a file. */
const SLOW = 1;
/** In MB. */
const FILE = 10;
const LARGE = 500;
const ROUNDS = 7;

/** Measures the seconds from the last callback of a batch to the next node, and those of downloading one of its files. */
async function measureBatch(n8n: N8n, service: Service) {
	service.set({
		faultsFor: ({ input }) => {
			const number = Number(String(input.prompt).split(' ')[1]);
			const isLast = number === TASKS - 1;
			const slow = 3 + number * APART.usual + (isLast ? APART.last - APART.usual : 0);
			return { fileSize: FILE, fileSlow: SLOW, slow };
		},
	});
	service.tasks.clear();
	const nodes = [prompts(TASKS), createAndWait({ downloadResults: true }), NEXT];
	const execution = await run(n8n, service, nodes);
	if (execution.getOutput('Next').some(({ binary }) => !binary))
		throw new Error('A file is missing');
	const ended = Math.max(...[...service.tasks.values()].map((task) => Number(task.completeTime)));
	const batch = (getRun(execution, 'Next').startTime - ended) / 1000;

	service.set({ faultsFor: () => ({ fileSlow: SLOW, slow: 0.01 }) });
	const { ours } = await buildDownloads(service, FILE);
	const downloaded = await run(n8n, service, [ours]);
	const [item] = downloaded.getItems<{ file: { seconds: number } }>(ours.name);
	return { batch, one: Number(item?.file.seconds) };
}

/**
 * Times files, in filesystem mode. A batch: its tasks end one after the other and the last one some time later, so that
 * its files but one are there when its last callback comes. A large file: by the time that n8n notes for a node.
 */
export async function bench(): Promise<Row[]> {
	await using service = await openService();
	await using n8n = await startPackedN8n({ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' } });
	const { batches } = await interleave({ batches: service }, { rounds: BATCHES }, (of) =>
		measureBatch(n8n, of),
	);
	const format = (key: 'batch' | 'one') =>
		`${median(batches.map((times) => times[key])).toFixed(2)} s`;

	service.set({ faultsFor: undefined, taskSeconds: 0 });
	const ways = { ours: 'ours', theirs: 'theirs' } as const;
	const times = await interleave(ways, { rounds: ROUNDS }, async (way) => {
		const node = (await buildDownloads(service, LARGE))[way];
		return getRun(await run(n8n, service, [node]), node.name).executionTime;
	});
	return [
		{
			name: `From the last callback of ${TASKS} tasks to the next node, with a file of ${FILE} MB each, of downloading one`,
			value: median(batches.map(({ batch, one }) => batch / one)),
			goal: { atMost: 1.3 },
			figures: `medians of ${BATCHES}: ${format('batch')}, and ${format('one')} for one file, from a host that takes a second for it`,
		},
		compare(`Downloading ${LARGE} MB, of what n8n's HTTP Request node takes`, times, {
			goal: { atMost: 1.05 },
		}),
	];
}
