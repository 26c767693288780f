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

/** What a callback costs, with its unit. */
const COSTS = [
	['Processor time of the webhook process per callback', 'ms'],
	['Processor time of the worker per execution', 'ms'],
	['Rows written to the database per callback', 'rows'],
] as const;

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
		const readUsed = () => [
			readTime(queue.webhooks),
			readTime(queue.workers),
			Number(queue.query(WRITTEN)),
		];

		/** Measures the costs of one callback, as means over a round. */
		const measureCosts = async (receiver: Receiver) => {
			const before = readUsed();
			await measureRound({ service, n8n: queue.n8n }, receiver);
			// PostgreSQL's statistics are up to a second behind.
			await sleep(1500);
			return readUsed().map((used, index) => (used - Number(before[index])) / CALLBACKS);
		};

		const receivers = await activate(queue.n8n, service, ['withDetails', 'bare']);
		const { withDetails, bare } = await interleave(receivers, { rounds: ROUNDS }, measureCosts);
		return COSTS.map(([name, unit], index) => {
			const list = (rounds: number[][]) => rounds.map((costs) => Number(costs[index]));
			const costs = { ours: list(withDetails), theirs: list(bare) };
			return compare(`${name}, of the bare Webhook node`, costs, { unit });
		});
	});
