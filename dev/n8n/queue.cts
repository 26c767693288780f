import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findPort } from './findPort.cts';
import { N8n, prepareProcess, type StartOptions } from './n8n.cts';
import { N8nProcess, WITHOUT_CODE, WITHOUT_EDITOR, type N8nProcessOptions } from './process.cts';
import { startNginx, startPostgres, startRedis } from './servers.cts';

/** Numbers of the workers, and of the webhook processes. */
const NUMBERS = [1, 2];

/**
 * Starts n8n in queue mode as an operator would: a main process, two workers and two webhook processes, each with a folder
 * of its own in which the package is installed, on PostgreSQL and Redis, behind one public address of nginx. This n8n runs no Code node.
 */
export async function startQueueN8n({ env, ...options }: Omit<StartOptions, 'folder' | 'port'>) {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-queue-'));
	fs.chmodSync(folder, 0o755);
	const stops: Array<() => Promise<void>> = [];
	const stop = async () => {
		for (const stopOne of stops.reverse()) await stopOne();
		fs.rmSync(folder, { recursive: true, force: true });
	};
	try {
		const postgres = await startPostgres(folder);
		stops.push(postgres.stop);
		const redis = await startRedis(folder);
		stops.push(redis.stop);
		const port = await findPort();
		const address = `http://127.0.0.1:${port}`;
		const shared = {
			EXECUTIONS_MODE: 'queue',
			N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
			N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex'),
			WEBHOOK_URL: `${address}/`,
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(postgres.port),
			DB_POSTGRESDB_USER: postgres.user,
			DB_POSTGRESDB_DATABASE: postgres.database,
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			...WITHOUT_EDITOR,
			...WITHOUT_CODE,
			...env,
		};

		const prepare = async (command: N8nProcessOptions['command'], number: number) => {
			const own = path.join(folder, `${command}-${number}`);
			return await prepareProcess({ ...options, folder: own, command, env: shared });
		};
		const launch = async <Child extends N8nProcess>(child: Child) => {
			stops.push(() => child.stop());
			await child.start();
			return child;
		};
		const launchEach = async (command: 'worker' | 'webhook') =>
			await Promise.all(
				NUMBERS.map(async (number) => launch(new N8nProcess(await prepare(command, number)))),
			);

		const n8n = await launch(new N8n(await prepare('start', 1), { webhookBase: address }));
		await n8n.setUpOwner();
		const [workers, webhooks] = await Promise.all([launchEach('worker'), launchEach('webhook')]);
		const servers = webhooks.map(({ options }) => `server 127.0.0.1:${options.port};`);
		const values = { main: String(n8n.options.port), webhooks: servers.join('\n\t\t') };
		stops.push((await startNginx(folder, port, values)).stop);
		const { query } = postgres;
		return { n8n, workers, webhooks, address, query, stop, [Symbol.asyncDispose]: stop };
	} catch (error) {
		await stop();
		throw error;
	}
}
