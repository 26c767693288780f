const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { poll } = require('./wait.cts');

const START_LIMIT = 180_000;
const STOP_LIMIT = 20_000;

/** Settings that keep n8n on this machine: no internet, no telemetry, listening on the loopback address only. */
const LOCAL_ONLY = {
	NODE_ENV: 'production',
	N8N_LISTEN_ADDRESS: '127.0.0.1',
	N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
	QUEUE_HEALTH_CHECK_ACTIVE: 'true',
	N8N_HOST: '127.0.0.1',
	N8N_PROTOCOL: 'http',
	N8N_SECURE_COOKIE: 'false',
	N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_COMMUNITY_PACKAGES_ENABLED: 'true',
	N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_PYTHON_ENABLED: 'false',
	EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'all',
	EXECUTIONS_DATA_SAVE_ON_ERROR: 'all',
	EXECUTIONS_DATA_SAVE_MANUAL_EXECUTIONS: 'true',
	N8N_LOG_LEVEL: 'info',
	N8N_LOG_OUTPUT: 'console',
};

/** The module of n8n that asks the internet for its data; an n8n that does not have it would not start with its name. */
const ONLINE_MODULE = 'mcp-registry';

/** What would make n8n a different one than the pinned, when it stands in a developer's shell or comes from jest or npm. */
const NOT_INHERITED = /^(N8N_|DB_|EXECUTIONS_|NODES_|QUEUE_|WEBHOOK_URL$|NODE_OPTIONS$|JEST_|npm_)/;

/**
 * n8n as a child process, in a process group of its own so that its task runner ends with it.
 * Its log is kept in memory and in `n8n.log` of the user folder.
 */
class N8nProcess {
	/** @type {import('node:child_process').ChildProcess | undefined} */
	#child;
	#log = '';
	#killOnExit = () => this.#signal('SIGKILL');

	/**
	 * @param {{
	 *   node: string, bin: string, folder: string, port: number, brokerPort: number,
	 *   command?: 'start' | 'worker' | 'webhook', env?: Record<string, string>,
	 * }} options `command`: n8n as a whole (the default), or as a process of queue mode
	 */
	constructor(options) {
		this.options = options;
		this.url = `http://127.0.0.1:${options.port}`;
	}

	get pid() {
		return this.#child?.pid;
	}

	/** What n8n has logged so far, over restarts. */
	log() {
		return this.#log;
	}

	/** The end of the log, for the message of a wait that failed. */
	logTail() {
		return `The end of n8n's log:\n${this.#log.slice(-3000)}`;
	}

	/** Starts n8n and waits until it is ready to work. */
	async start() {
		const { node, bin, folder, port, brokerPort, command = 'start', env } = this.options;
		const inherited = Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name));
		const child = spawn(node, [bin, command], {
			cwd: folder,
			detached: true,
			stdio: ['ignore', 'pipe', 'pipe'],
			env: {
				...Object.fromEntries(inherited),
				...LOCAL_ONLY,
				N8N_DISABLED_MODULES: hasModule(bin, ONLINE_MODULE) ? ONLINE_MODULE : '',
				PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
				N8N_USER_FOLDER: folder,
				N8N_PORT: String(port),
				QUEUE_HEALTH_CHECK_PORT: String(port),
				N8N_RUNNERS_BROKER_PORT: String(brokerPort),
				...env,
			},
		});
		this.#child = child;
		process.once('exit', this.#killOnExit);
		const file = fs.createWriteStream(path.join(folder, 'n8n.log'), { flags: 'a' });
		for (const stream of [child.stdout, child.stderr]) {
			stream.setEncoding('utf8').on('data', (chunk) => {
				this.#log += chunk;
				file.write(chunk);
			});
		}
		child.on('error', (error) => (this.#log += `${error.message}\n`));
		child.once('close', () => file.end());

		await poll(
			async () => {
				if (!this.#isRunning()) {
					throw new Error(`n8n ended with ${child.exitCode} while starting. ${this.logTail()}`);
				}
				const ready = await fetch(`${this.url}/healthz/readiness`, {
					signal: AbortSignal.timeout(5_000),
				}).catch(() => undefined);
				return ready?.ok;
			},
			{ timeout: START_LIMIT, what: 'n8n to be ready', details: () => this.logTail() },
		);
	}

	/** Asks n8n to end, as an operator does; after 20 seconds it is killed. */
	async stop() {
		if (this.#isRunning()) {
			this.#child?.kill('SIGTERM');
			await this.#ended(STOP_LIMIT).catch(() => this.#signal('SIGKILL'));
		}
		this.#forget();
	}

	/** Ends n8n at once (kill -9), with all that it started. */
	async kill() {
		this.#signal('SIGKILL');
		await this.#ended(STOP_LIMIT);
		this.#forget();
	}

	#forget() {
		this.#signal('SIGKILL');
		process.removeListener('exit', this.#killOnExit);
		this.#child = undefined;
	}

	#isRunning() {
		const child = this.#child;
		return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
	}

	/** @param {number} timeout */
	async #ended(timeout) {
		await poll(async () => !this.#isRunning(), {
			timeout,
			what: 'n8n to end',
			details: () => this.logTail(),
		});
	}

	/**
	 * Sends a signal to the whole process group.
	 * @param {NodeJS.Signals} signal
	 */
	#signal(signal) {
		if (this.pid === undefined) return;
		try {
			process.kill(-this.pid, signal);
		} catch {
			// The group has ended.
		}
	}
}

/**
 * @param {string} bin
 * @param {string} name
 */
function hasModule(bin, name) {
	return fs.existsSync(path.join(path.dirname(bin), '..', 'dist', 'modules', name));
}

module.exports = { N8nProcess };
