const { randomBytes } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { N8n, installPackage } = require('./n8n.cts');
const { freePort } = require('./port.cts');
const { N8nProcess } = require('./process.cts');
const { provideN8n } = require('./provide.cts');
const { startNginx, startPostgres, startRedis } = require('./servers.cts');

/** How many workers, and how many webhook processes. */
const EACH = 2;

/**
 * Starts n8n in queue mode as an operator would: a main process, two workers and two webhook processes, each with a folder
 * of its own in which the package is installed, on PostgreSQL and Redis, behind one public address of nginx.
 * @param {{ tarball: string, env?: Record<string, string>, log?: (line: string) => void }} options `env`: for all processes
 */
async function startQueueN8n({ tarball, env = {}, log }) {
	const { node, bin } = await provideN8n({ log });
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-queue-'));
	fs.chmodSync(folder, 0o755);
	/** @type {Array<() => Promise<void>>} */
	const stops = [];
	const stop = async () => {
		for (const one of stops.reverse()) await one();
		fs.rmSync(folder, { recursive: true, force: true });
	};
	try {
		const postgres = await startPostgres(folder);
		stops.push(postgres.stop);
		const redis = await startRedis(folder);
		stops.push(redis.stop);
		const port = await freePort();
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
			...env,
		};

		const launch = async (/** @type {'start' | 'worker' | 'webhook'} */ command, number = 1) => {
			const userFolder = path.join(folder, `${command}-${number}`);
			fs.mkdirSync(userFolder);
			installPackage(userFolder, tarball);
			const child = new N8nProcess({
				node,
				bin,
				folder: userFolder,
				port: await freePort(),
				brokerPort: await freePort(),
				command,
				env: shared,
			});
			stops.push(() => child.stop());
			await child.start();
			return child;
		};
		const each = async (/** @type {'worker' | 'webhook'} */ command) =>
			await Promise.all(Array.from({ length: EACH }, (_, index) => launch(command, index + 1)));

		const main = await launch('start');
		const n8n = new N8n(main, {
			folder: main.options.folder,
			temporary: false,
			bin,
			webhookBase: address,
		});
		await n8n.setUpOwner();
		const workers = await each('worker');
		const webhooks = await each('webhook');
		const configuration = fs
			.readFileSync(path.join(__dirname, 'nginx.conf'), 'utf8')
			.replace('{port}', String(port))
			.replace('{main}', String(main.options.port))
			.replace(
				'{webhooks}',
				webhooks.map(({ options }) => `server 127.0.0.1:${options.port};`).join('\n\t\t'),
			);
		stops.push((await startNginx(folder, { port, configuration })).stop);
		return { n8n, workers, webhooks, address, query: postgres.query, stop };
	} catch (error) {
		await stop();
		throw error;
	}
}

module.exports = { startQueueN8n };
