import { setTimeout as sleep } from 'node:timers/promises';
import { startQueueN8n } from '../dev/n8n/queue.cts';
import { openFolder, pack } from '../dev/pack.cts';
import { compare, interleave, measureSettings, openService, type Bench } from './measure.cts';
import { readTime } from './process.cts';
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
 * the database; beside n8n's bare Webhook node, which verifies nothing and asks nobody.
 */
export const bench: Bench = async (log) =>
	await measureSettings(async (settings) => {
		using folder = openFolder();
		await using service = await openService();
		const { tarball } = await pack(folder.path);
		const env = { DB_POSTGRESDB_POOL_SIZE: '10', ...settings };
		await using queue = await startQueueN8n({ tarball, env, log });
		const { n8n, webhooks, workers, query } = queue;
		const readUsed = () => [readTime(webhooks), readTime(workers), Number(query(WRITTEN))];

		/** Measures the costs of one callback, as means over a round. */
		const measureCosts = async (receiver: Receiver) => {
			const before = readUsed();
			await measureRound(n8n, service, receiver);
			// PostgreSQL's statistics are up to a second behind.
			await sleep(1500);
			return readUsed().map((used, index) => (used - Number(before[index])) / CALLBACKS);
		};

		const receivers = await activate(n8n, service, ['withDetails', 'bare']);
		const costs = await interleave(receivers, { rounds: ROUNDS, log }, measureCosts);
		return COSTS.map(([name, unit], index) => {
			const list = (rounds: number[][]) => rounds.map((means) => Number(means[index]));
			const { withDetails, bare } = costs;
			return compare(`${name}, of the bare Webhook node`, list(withDetails), list(bare), unit);
		});
	});
