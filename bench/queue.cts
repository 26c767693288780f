import { setTimeout as sleep } from 'node:timers/promises';
import { sum } from 'simple-statistics';
import type { Log } from '../dev/log.cts';
import type { N8nProcess } from '../dev/n8n/process.cts';
import { startQueueN8n } from '../dev/n8n/queue.cts';
import { openFolder, pack } from '../dev/pack.cts';
import { openService } from './fixtures.cts';
import { compare, interleave, measureSettings, readProcessorTime } from './measure.cts';
import { activate, CALLBACKS, measureRound, type Receiver } from './receivers.cts';

const ROUNDS = 5;

const WRITTEN =
	'select tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()';

const COSTS = {
	webhook: { name: 'Processor time of the webhook process per callback', unit: 'ms' },
	worker: { name: 'Processor time of the worker per execution', unit: 'ms' },
	written: { name: 'Rows written to the database per callback', unit: 'rows' },
};

/**
 * Measures a callback's cost in queue mode, for the arithmetic of docs/operation.md: processor time of the webhook process that
 * takes it and of the worker that runs its execution (our trigger and one node that does nothing), and what is written to
 * the database; beside n8n's bare Webhook node, which verifies nothing and asks nobody. Reads /proc: Linux only.
 */
export const bench = async (log: Log) =>
	await measureSettings(async (env) => {
		using folder = openFolder();
		await using service = await openService({ taskSeconds: 0 });
		const { tarball } = await pack(folder.path);
		await using queue = await startQueueN8n({
			tarball,
			env: { DB_POSTGRESDB_POOL_SIZE: '10', ...env },
			log,
		});
		const readTime = (processes: N8nProcess[]) =>
			sum(processes.map(({ pid }) => readProcessorTime(pid)));
		const readUsed = () => ({
			webhook: readTime(queue.webhooks),
			worker: readTime(queue.workers),
			written: Number(queue.query(WRITTEN)),
		});

		/** Measures the cost of one callback, as a mean over a round. */
		const measureCost = async (receiver: Receiver) => {
			const before = readUsed();
			await measureRound({ service, n8n: queue.n8n }, receiver);
			// PostgreSQL's statistics are up to a second behind.
			await sleep(1500);
			const after = readUsed();
			return {
				webhook: (after.webhook - before.webhook) / CALLBACKS,
				worker: (after.worker - before.worker) / CALLBACKS,
				written: (after.written - before.written) / CALLBACKS,
			};
		};

		const receivers = await activate(queue.n8n, service, ['withDetails', 'bare']);
		const { withDetails, bare } = await interleave(receivers, { rounds: ROUNDS }, measureCost);
		return Object.entries(COSTS).map(([key, { name, unit }]) => {
			const list = (costs: typeof bare) => costs.map((cost) => cost[key as keyof typeof COSTS]);
			const costs = { ours: list(withDetails), theirs: list(bare) };
			return compare(`${name}, of the bare Webhook node`, costs, { unit });
		});
	});
