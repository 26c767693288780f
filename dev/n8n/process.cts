import fs from 'node:fs';
import path from 'node:path';
import { readLogTail, startProcess, type RunningProcess } from './childProcess.cts';

/** How long one request for n8n's readiness may take, in milliseconds. It is sent again until n8n is ready. */
const LONGEST_READINESS_CHECK = 20_000;

/** Settings that keep n8n on this machine: no internet, no telemetry, listening on the loopback address only. */
const LOCAL_ONLY = {
	NODE_ENV: 'production',
	N8N_LISTEN_ADDRESS: '127.0.0.1',
	N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
	QUEUE_HEALTH_CHECK_ACTIVE: 'true',
	N8N_HOST: '127.0.0.1',
	N8N_SECURE_COOKIE: 'false',
	N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_COMMUNITY_PACKAGES_ENABLED: 'true',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_PYTHON_ENABLED: 'false',
	// By default n8n answers 503 to everything once its database takes 5 s for a ping, as on a busy disk. The second name is the older one.
	DB_PING_TIMEOUT_MS: '60000',
	N8N_DB_PING_TIMEOUT: '60000',
};

/** The environment of an n8n whose editor nobody opens. Such an n8n starts in two thirds of the time. */
export const WITHOUT_EDITOR = { N8N_DISABLE_UI: 'true' };

/** The environment of an n8n that runs no Code node. Such an n8n starts no process for Code nodes. */
export const WITHOUT_CODE = {
	N8N_RUNNERS_MODE: 'external',
	N8N_RUNNERS_AUTH_TOKEN: 'no runner comes',
};

/** The module of n8n that asks the internet for its data. An n8n that lacks the module doesn't start when it is to disable it. */
const ONLINE_MODULE = 'mcp-registry';

/** Variables that a developer's shell, Jest or npm may set, and that would change the pinned n8n. */
const NOT_INHERITED = /^(N8N_|DB_|EXECUTIONS_|NODES_|QUEUE_|WEBHOOK_URL$|NODE_OPTIONS$|JEST_|npm_)/;

export interface N8nProcessOptions {
	node: string;
	bin: string;
	/** n8n's user folder. */
	folder: string;
	port: number;
	brokerPort: number;
	/** Which process of queue mode this is; by default, n8n as a whole. */
	command?: 'start' | 'worker' | 'webhook';
	env?: Record<string, string>;
}

/** n8n as a child process, with its log in `n8n.log` of the user folder. */
export class N8nProcess {
	readonly url: string;
	#logFile: string;
	#running?: RunningProcess;

	constructor(readonly options: N8nProcessOptions) {
		this.url = `http://127.0.0.1:${options.port}`;
		this.#logFile = path.join(options.folder, 'n8n.log');
	}

	get pid() {
		return this.#running?.pid;
	}

	/** Returns what n8n has logged so far, over restarts. */
	readLog() {
		return fs.readFileSync(this.#logFile, 'utf8');
	}

	readLogTail() {
		return readLogTail(this.#logFile);
	}

	/** Starts n8n and waits until it is ready to work. */
	async start() {
		const { node, bin, folder, port, brokerPort, command = 'start', env } = this.options;
		const inherited = Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name));
		const modules = path.join(path.dirname(bin), '..', 'dist', 'modules');
		this.#running = await startProcess([node, bin, command], {
			cwd: folder,
			env: {
				...Object.fromEntries(inherited),
				...LOCAL_ONLY,
				N8N_DISABLED_MODULES: fs.existsSync(path.join(modules, ONLINE_MODULE)) ? ONLINE_MODULE : '',
				PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
				N8N_USER_FOLDER: folder,
				N8N_PORT: String(port),
				QUEUE_HEALTH_CHECK_PORT: String(port),
				N8N_RUNNERS_BROKER_PORT: String(brokerPort),
				...env,
			},
			extendEnv: false,
			logFile: this.#logFile,
			isReady: async () => {
				const signal = AbortSignal.timeout(LONGEST_READINESS_CHECK);
				const url = `${this.url}/healthz/readiness`;
				return await fetch(url, { signal }).then(
					({ ok }) => ok,
					() => false,
				);
			},
		});
	}

	/** Asks n8n to end, as an operator does. After a minute it is killed. */
	async stop() {
		await this.#running?.stop();
	}

	/** Kills n8n (kill -9), with all that it started. */
	async kill() {
		await this.#running?.kill();
	}
}
