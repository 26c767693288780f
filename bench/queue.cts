const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { startQueueN8n } = require('../dev/n8n/queue.cts');
const { poll } = require('../dev/n8n/wait.cts');
const { pack } = require('../dev/pack.cts');
const { runConcurrently, createEndedTask, sendCallback } = require('../dev/fixtures/callbacks.cts');
const { richService } = require('./pair.cts');
const { processorTime } = require('./processor.cts');
const { activate, interleaved } = require('./receivers.cts');
const { SETTINGS } = require('./settings.cts');
const { median } = require('./statistics.cts');

/**
 * What a callback costs n8n in queue mode, for the arithmetic of docs/scale.md: processor time of the webhook process that
 * takes it and of the worker that runs its execution (our trigger and one node that does nothing), and what is written to
 * the database; beside n8n's bare Webhook node, which verifies nothing and asks nobody. Reads /proc: Linux only.
 */
const ROUNDS = 5;
const CALLBACKS = 60;
const IN_FLIGHT = 8;

/** @param {import('./run.cts').Log} log */
async function bench(log) {
	const rows = [];
	for (const { setting, env } of SETTINGS) rows.push(...(await costs(log, setting, env)));
	return rows;
}

/**
 * @param {import('./run.cts').Log} log
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
		const receivers = await activate(service, queue.n8n, ['withDetails', 'bare']);
		const written = () =>
			Number(
				queue.query(
					'select tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()',
				),
			);
		const used = (/** @type {import('../dev/n8n/process.cts').N8nProcess[]} */ processes) =>
			processes.reduce((sum, { pid }) => sum + processorTime(pid), 0);

		const finished = (/** @type {string} */ workflowId) =>
			Number(
				queue.query(
					`select count(*) from execution_entity where "workflowId" = '${workflowId}' and status = 'success'`,
				),
			);

		/** What one callback costs, as a mean over a round. @param {import('./receivers.cts').Receiver} receiver */
		const round = async ({ id, url }) => {
			const tasks = await runConcurrently(Array.from({ length: CALLBACKS }), IN_FLIGHT, async () =>
				createEndedTask(service),
			);
			const goal = finished(id) + CALLBACKS;
			const before = {
				webhook: used(queue.webhooks),
				worker: used(queue.workers),
				written: written(),
			};
			const began = Date.now();
			await runConcurrently(tasks, IN_FLIGHT, (taskId) =>
				sendCallback(service, `${url}?task=${taskId}`, taskId),
			);
			const answered = Date.now() - began;
			await poll(async () => finished(id) >= goal, {
				timeout: 60_000,
				what: 'executions to end',
				every: 250,
			});
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

		const costs = await interleaved(receivers, ROUNDS, round);
		const middle = (
			/** @type {'withDetails' | 'bare'} */ name,
			/** @type {'webhook' | 'worker' | 'written' | 'perSecond'} */ what,
		) => median(costs(name).map((cost) => cost[what]));
		return [
			{
				what: /** @type {const} */ 'webhook',
				name: 'Processor time of the webhook process per callback',
				unit: 'ms',
			},
			{
				what: /** @type {const} */ 'worker',
				name: 'Processor time of the worker per execution',
				unit: 'ms',
			},
			{
				what: /** @type {const} */ 'written',
				name: 'Rows written to the database per callback',
				unit: 'rows',
			},
			{
				what: /** @type {const} */ 'perSecond',
				name: 'Callbacks answered per second, all on this machine',
				unit: 'per second',
			},
		].map(({ what, name, unit }) => ({
			name: `${name}, of the bare Webhook node; ${setting}`,
			value: middle('withDetails', what) / middle('bare', what),
			figures: `medians of ${ROUNDS} rounds of ${CALLBACKS}: ${middle('withDetails', what).toFixed(1)} and ${middle('bare', what).toFixed(1)} ${unit}`,
		}));
	} finally {
		await queue.stop();
		await service.close();
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

module.exports = { title: 'What a callback costs in queue mode', bench };
