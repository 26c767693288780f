import { setTimeout as sleep } from 'node:timers/promises';
import { median, sum } from 'simple-statistics';
import { createEndedTask, runConcurrently, sendCallback } from '../dev/fixtures/callbacks.cts';
import type { Log } from '../dev/log.cts';
import type { N8nProcess } from '../dev/n8n/process.cts';
import { startQueueN8n } from '../dev/n8n/queue.cts';
import { poll } from '../dev/n8n/wait.cts';
import { pack } from '../dev/pack.cts';
import { openFolder, openService } from './fixtures.cts';
import { interleave, measureSettings } from './measure.cts';
import { readProcessorTime } from './processor.cts';
import { activate, type Receiver } from './receivers.cts';

export const title = 'What a callback costs in queue mode';

const ROUNDS = 5;
const CALLBACKS = 60;
const IN_FLIGHT = 8;

const WRITTEN =
	'select tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()';

const COSTS = [
	{ of: 'webhook', name: 'Processor time of the webhook process per callback', unit: 'ms' },
	{ of: 'worker', name: 'Processor time of the worker per execution', unit: 'ms' },
	{ of: 'written', name: 'Rows written to the database per callback', unit: 'rows' },
	{
		of: 'perSecond',
		name: 'Callbacks answered per second, all on this machine',
		unit: 'per second',
	},
] as const;

/**
 * What a callback costs n8n in queue mode, for the arithmetic of docs/scale.md: processor time of the webhook process that
 * takes it and of the worker that runs its execution (our trigger and one node that does nothing), and what is written to
 * the database; beside n8n's bare Webhook node, which verifies nothing and asks nobody. Reads /proc: Linux only.
 */
export const bench = async (log: Log) =>
	await measureSettings(async (env) => {
		using folder = openFolder();
		await using service = await openService({ taskSeconds: 0.2 });
		const { tarball } = await pack(folder.path);
		await using queue = await openQueueN8n({
			tarball,
			env: { DB_POSTGRESDB_POOL_SIZE: '10', ...env },
			log,
		});
		const { n8n, webhooks, workers } = queue;
		const query = (sql: string) => Number(queue.query(sql));
		const readTime = (processes: N8nProcess[]) =>
			sum(processes.map(({ pid }) => readProcessorTime(pid)));
		const readUsed = () => ({
			webhook: readTime(webhooks),
			worker: readTime(workers),
			written: query(WRITTEN),
		});

		/** Measures the cost of one callback, as a mean over a round. */
		const measureCost = async ({ id, url }: Receiver) => {
			const tasks = await runConcurrently(Array.from({ length: CALLBACKS }), IN_FLIGHT, () =>
				createEndedTask(service),
			);
			const countFinished = () =>
				query(
					`select count(*) from execution_entity where "workflowId" = '${id}' and status = 'success'`,
				);
			const goal = countFinished() + CALLBACKS;
			const before = readUsed();
			const began = Date.now();
			await runConcurrently(tasks, IN_FLIGHT, (taskId) =>
				sendCallback(service, `${url}?task=${taskId}`, taskId),
			);
			const answered = Date.now() - began;
			await poll(async () => countFinished() >= goal, {
				timeout: 60_000,
				what: 'executions to end',
				every: 250,
			});
			// PostgreSQL's statistics are up to a second behind.
			await sleep(1500);
			const after = readUsed();
			return {
				webhook: (after.webhook - before.webhook) / CALLBACKS,
				worker: (after.worker - before.worker) / CALLBACKS,
				written: (after.written - before.written) / CALLBACKS,
				perSecond: (CALLBACKS * 1000) / answered,
			};
		};

		const receivers = await activate(n8n, service, ['withDetails', 'bare']);
		const costs = await interleave(receivers, { rounds: ROUNDS }, measureCost);
		return COSTS.map(({ of, name, unit }) => {
			const ours = median(costs.withDetails.map((cost) => cost[of]));
			const theirs = median(costs.bare.map((cost) => cost[of]));
			return {
				name: `${name}, of the bare Webhook node`,
				value: ours / theirs,
				figures: `medians of ${ROUNDS} rounds of ${CALLBACKS}: ${ours.toFixed(1)} and ${theirs.toFixed(1)} ${unit}`,
			};
		});
	});

/** Starts n8n in queue mode, until the end of an `await using` block. */
async function openQueueN8n(options: Parameters<typeof startQueueN8n>[0]) {
	const queue = await startQueueN8n(options);
	return { ...queue, [Symbol.asyncDispose]: queue.stop };
}
