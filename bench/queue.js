const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { startQueueN8n } = require('../dev/n8n/queue');
const { poll } = require('../dev/n8n/wait');
const { pack } = require('../dev/pack');
const { chain, triggered } = require('../test/e2e/workflows');
const { atOnce, endedTask } = require('../test/e2e/senders');
const { send } = require('./callback');
const { importFor, richService } = require('./pair');
const { SETTINGS } = require('./settings');
const { median } = require('./statistics');

/**
 * What a callback costs n8n in queue mode, for the arithmetic of docs/scale.md: processor time of the webhook process that
 * takes it and of the worker that runs its execution (our trigger and one node that does nothing), and what is written to
 * the database; beside n8n's bare Webhook node, which verifies nothing and asks nobody. Reads /proc: Linux only.
 */
const ROUNDS = 5;
const CALLBACKS = 60;
const IN_FLIGHT = 8;
const TICKS_PER_SECOND = 100;

/** Milliseconds of processor time that a process has used. @param {number | undefined} pid */
function processorTime(pid) {
	const [, fields = ''] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
	const [user, system] = fields.split(' ').slice(11, 13).map(Number);
	return (((user ?? 0) + (system ?? 0)) * 1000) / TICKS_PER_SECOND;
}

/** @param {import('./run').Log} log */
async function bench(log) {
	const rows = [];
	for (const { setting, env } of SETTINGS) rows.push(...(await costs(log, setting, env)));
	return rows;
}

/**
 * @param {import('./run').Log} log
 * @param {string} setting
 * @param {Record<string, string>} env
 */
async function costs(log, setting, env) {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-bench-'));
	const service = await richService({ taskSeconds: 0.2 });
	const { tarball } = await pack(folder);
	const queue = await startQueueN8n({
		tarball,
		env: { DB_POSTGRESDB_POOL_SIZE: '10', ...env },
		log,
	});
	try {
		const { n8n } = queue;
		const end = { name: 'End', type: 'n8n-nodes-base.noOp' };
		const bare = chain('Bare', [end]);
		Object.assign(bare.nodes[0] ?? {}, {
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			parameters: { path: 'bare', httpMethod: 'POST', options: {} },
		});
		const ours = triggered();
		ours.nodes.push({
			...end,
			...{ id: 'end', typeVersion: 1, position: [220, 0], parameters: {} },
		});
		ours.connections = { Trigger: { main: [[{ node: 'End', type: 'main', index: 0 }]] } };
		/** @type {Record<string, { id: string, url: string, done: number }>} */
		const ways = {};
		for (const [name, workflow] of Object.entries({ ours, bare })) {
			const id = await importFor(n8n, service, workflow);
			await n8n.activate(id);
			ways[name] = { id, url: await n8n.productionWebhookUrl(id), done: 0 };
		}

		const written = () =>
			Number(
				queue.query(
					'select tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()',
				),
			);
		const used = (/** @type {import('../dev/n8n/process').N8nProcess[]} */ processes) =>
			processes.reduce((sum, { pid }) => sum + processorTime(pid), 0);

		/** What one callback costs, as a mean over a round. @param {{ id: string, url: string, done: number }} way */
		const round = async (way) => {
			const tasks = await atOnce(Array.from({ length: CALLBACKS }), IN_FLIGHT, async () =>
				endedTask({ service }),
			);
			const before = {
				webhook: used(queue.webhooks),
				worker: used(queue.workers),
				written: written(),
			};
			const began = Date.now();
			await atOnce(tasks, IN_FLIGHT, (taskId) =>
				send(service, `${way.url}?task=${taskId}`, taskId),
			);
			const answered = Date.now() - began;
			way.done += CALLBACKS;
			await poll(
				async () =>
					Number(
						queue.query(
							`select count(*) from execution_entity where "workflowId" = '${way.id}' and status = 'success'`,
						),
					) >= way.done,
				{ timeout: 60_000, what: 'executions to end', every: 250 },
			);
			const per = (/** @type {number} */ total) => total / CALLBACKS;
			// PostgreSQL's statistics are up to a second behind.
			await new Promise((resolve) => setTimeout(resolve, 1500));
			return {
				webhook: per(used(queue.webhooks) - before.webhook),
				worker: per(used(queue.workers) - before.worker),
				written: per(written() - before.written),
				perSecond: (CALLBACKS * 1000) / answered,
			};
		};

		/** @type {Record<string, Awaited<ReturnType<typeof round>>[]>} */
		const rounds = { ours: [], bare: [] };
		for (let number = -1; number < ROUNDS; number++)
			for (const [name, way] of Object.entries(ways)) {
				const cost = await round(way);
				if (number >= 0) rounds[name]?.push(cost);
			}
		const middle = (
			/** @type {string} */ name,
			/** @type {'webhook' | 'worker' | 'written' | 'perSecond'} */ what,
		) => median((rounds[name] ?? []).map((cost) => cost[what]));
		return [
			{
				what: /** @type {const} */ ('webhook'),
				name: 'Processor time of the webhook process per callback',
				unit: 'ms',
			},
			{
				what: /** @type {const} */ ('worker'),
				name: 'Processor time of the worker per execution',
				unit: 'ms',
			},
			{
				what: /** @type {const} */ ('written'),
				name: 'Rows written to the database per callback',
				unit: 'rows',
			},
			{
				what: /** @type {const} */ ('perSecond'),
				name: 'Callbacks answered per second, all on this machine',
				unit: 'per second',
			},
		].map(({ what, name, unit }) => ({
			name: `${name}, of the bare Webhook node; ${setting}`,
			value: middle('ours', what) / middle('bare', what),
			figures: `medians of ${ROUNDS} rounds of ${CALLBACKS}: ${middle('ours', what).toFixed(1)} and ${middle('bare', what).toFixed(1)} ${unit}`,
		}));
	} finally {
		await queue.stop();
		await service.close();
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

module.exports = { title: 'What a callback costs in queue mode', bench };
