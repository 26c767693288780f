import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import getPort from 'get-port';
import type {
	IBinaryData,
	INodeExecutionData,
	INodeTypeDescription,
	IRunExecutionData,
} from 'n8n-workflow';
import { name as packageName } from '../../package.json';
import type { Log } from '../log.cts';
import { findPort } from './findPort.cts';
import { Execution } from './execution.cts';
import { readOwner } from './owner.cts';
import { N8nProcess, type N8nProcessOptions } from './process.cts';
import { provideN8n } from './provide.cts';
import { PATIENCE, poll } from './wait.cts';
import { findStartNode, findWebhookPath, type Workflow, type WorkflowNode } from './workflow.cts';

export interface StartOptions {
	/** The package that `npm pack` made. */
	tarball: string;
	/** n8n's user folder, which stays afterwards. By default, n8n has a temporary folder, which `stop` removes. */
	folder?: string;
	/** The port that n8n uses if it is free. */
	port?: number;
	env?: Record<string, string>;
	log?: Log;
}

/** A saved credential, as a workflow refers to it. */
export interface Credential {
	id: string;
	name: string;
	type?: string;
}

/** All that another process needs to use a running n8n. */
export type Session = N8nProcessOptions & { cookie: string };

export interface CredentialInput {
	name: string;
	type: string;
	data: object;
}

interface ExecutionSummary {
	id: string;
	status: string;
	/** As ISO 8601; null until the execution ends. */
	stoppedAt: string | null;
}

interface ExecutionFilter {
	workflowId: string;
	status?: string[];
	/** As ISO 8601. */
	startedAfter?: string;
}

interface RunOptions {
	pinData?: Record<string, INodeExecutionData[]>;
	/** The node to start from, by default the first that nothing leads to. */
	trigger?: string;
	/** The node to end with. */
	destinationNode?: string;
}

/** How many executions n8n lists at a time. */
const PAGE = 100;

const ENDED = ['success', 'error', 'canceled', 'crashed'];

/** Starts the pinned n8n, with a packed package installed as in production, and logs in as its owner. */
export async function startN8n({ folder, ...options }: StartOptions) {
	const userFolder = folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-n8n-'));
	const process = await prepareProcess({ folder: userFolder, ...options });
	const n8n = new N8n(process, { isTemporary: !folder });
	try {
		await n8n.start();
		await n8n.setUpOwner();
	} catch (error) {
		await n8n.stop();
		throw error;
	}
	return n8n;
}

/** Prepares a process of n8n: puts the packed package where n8n looks for community packages, and finds free ports. */
export async function prepareProcess({
	tarball,
	port,
	log,
	...options
}: StartOptions & Pick<N8nProcessOptions, 'folder' | 'command'>): Promise<N8nProcessOptions> {
	const { node, bin } = await provideN8n(log);
	const target = path.join(options.folder, '.n8n', 'nodes', 'node_modules', packageName);
	fs.rmSync(target, { recursive: true, force: true });
	fs.mkdirSync(target, { recursive: true });
	execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
	const own = port === undefined ? await findPort() : await getPort({ port });
	return { node, bin, port: own, brokerPort: await findPort(), ...options };
}

/** A running n8n, which tests use as the editor does: by the editor's own REST API, logged in by cookie. */
export class N8n extends N8nProcess {
	readonly [Symbol.asyncDispose] = async () => await this.stop();
	#cookie = '';

	/** `webhookBase` is the address of production webhooks. `stop` removes a temporary user folder. */
	constructor(
		options: N8nProcessOptions,
		private readonly setup: { isTemporary?: boolean; webhookBase?: string } = {},
	) {
		super(options);
	}

	/** Uses an n8n that another process started. `stop` leaves it running. */
	static join({ cookie, ...options }: Session) {
		const n8n = new N8n(options);
		n8n.#cookie = cookie;
		return n8n;
	}

	get owner() {
		return readOwner(this.options.folder);
	}

	get session(): Session {
		return { ...this.options, cookie: this.#cookie };
	}

	/** Returns a function that reads what n8n has logged since this call. */
	followLog() {
		const { length } = this.readLog();
		return () => this.readLog().slice(length);
	}

	/** Logs in as the owner, after creating the owner in a new n8n. n8n answers 400 if there is an owner already. */
	async setUpOwner() {
		const { email, password } = this.owner;
		const { cookies } = await this.#send('POST', '/rest/owner/setup', this.owner).catch(
			async (error: Error) => {
				if (error.cause !== 400) throw error;
				return await this.#send('POST', '/rest/login', { emailOrLdapLoginId: email, password });
			},
		);
		this.#cookie = cookies.map((cookie) => cookie.split(';')[0]).join('; ');
	}

	/**
	 * Sends a request to the editor's REST API, and returns the `data` of the answer.
	 * @throws {Error} with n8n's own message, and the HTTP status as the cause, when n8n answers with an error
	 */
	async request<Data>(method: string, path: string, body?: unknown) {
		return (await this.#send(method, path, body)).data as Data;
	}

	async #send(method: string, path: string, body?: unknown) {
		const response = await fetch(`${this.url}${path}`, {
			method,
			headers: {
				// n8n closes an idle connection after some seconds. A busy machine might reuse the connection just then.
				connection: 'close',
				...(this.#cookie && { cookie: this.#cookie }),
				...(body !== undefined && { 'content-type': 'application/json' }),
			},
			body: JSON.stringify(body),
			signal: AbortSignal.timeout(PATIENCE),
		});
		const text = await response.text();
		const answer = (/^[[{]/.test(text) ? JSON.parse(text) : { data: text }) as {
			data?: unknown;
			message?: string;
		};
		const { ok, status: cause } = response;
		if (!ok)
			throw new Error(`n8n answered ${method} ${path} with ${cause}: ${answer.message ?? text}`, {
				cause,
			});
		return { data: answer.data ?? answer, cookies: response.headers.getSetCookie() };
	}

	/** Returns the bytes of a file in a binary field. */
	async readBinary({ id, data }: IBinaryData): Promise<Buffer> {
		if (!id) return Buffer.from(data, 'base64');
		const url = `${this.url}/rest/binary-data?action=download&id=${encodeURIComponent(id)}`;
		const response = await fetch(url, { headers: { cookie: this.#cookie } });
		if (!response.ok) throw new Error(`n8n answered ${response.status} for the file ${id}`);
		return Buffer.from(await response.arrayBuffer());
	}

	/** Returns the descriptions of the package's nodes, as the editor gets them, by name. */
	async listNodeTypes() {
		const all = await this.request<INodeTypeDescription[]>('GET', '/types/nodes.json');
		return all
			.filter(({ name }) => name.startsWith(`${packageName}.`))
			.sort((a, b) => a.name.localeCompare(b.name));
	}

	async createCredential(credential: CredentialInput) {
		return await this.request<Credential>('POST', '/rest/credentials', credential);
	}

	async updateCredential(id: string, credential: CredentialInput) {
		return await this.request<Credential>('PATCH', `/rest/credentials/${id}`, credential);
	}

	async listCredentials() {
		return await this.request<Credential[]>('GET', '/rest/credentials');
	}

	/**
	 * Saves a workflow: in place of another one, or by default as a new one. Nodes that use one of the given credential types
	 * get the credential of this type.
	 */
	async importWorkflow(
		{ name, nodes, connections, settings = {}, pinData = {} }: Workflow,
		{
			credentials = {},
			replaces = '',
		}: { credentials?: Record<string, Credential>; replaces?: string } = {},
	) {
		const completed = nodes.map((node) => {
			if (!node.credentials) return node;
			const references = Object.entries(node.credentials).map(([type, reference]) => {
				const known = credentials[type];
				return [type, known ? { id: known.id, name: known.name } : reference];
			});
			return {
				...node,
				credentials: Object.fromEntries(references) as WorkflowNode['credentials'],
			};
		});
		const workflow = { name, nodes: completed, connections, settings, pinData };
		const method = replaces ? 'PATCH' : 'POST';
		const { id } = await this.request<Credential>(method, `/rest/workflows/${replaces}`, workflow);
		return { id };
	}

	async getWorkflow(id: string) {
		return await this.request<Workflow & { versionId: string }>('GET', `/rest/workflows/${id}`);
	}

	/**
	 * Activates (publishes) a workflow and waits until its triggers are active.
	 * @throws {Error} with what the triggers reported. n8n answers the request before it tries them
	 */
	async activate(id: string) {
		const { versionId } = await this.getWorkflow(id);
		await this.request('POST', `/rest/workflows/${id}/activate`, { versionId });
		// A busy n8n may not have begun to publish yet.
		const { status, triggers } = await this.#waitForPublication(id, [
			'in_progress',
			'not_published',
		]);
		if (status === 'published') return;
		const reasons = triggers.flatMap(({ errorMessage }) => errorMessage ?? []);
		throw new Error(
			`n8n did not activate workflow ${id}: it is ${status}. ${reasons.join('; ') || this.readLogTail()}`,
		);
	}

	async deactivate(id: string) {
		await this.request('POST', `/rest/workflows/${id}/deactivate`, {});
		await this.#waitForPublication(id, ['in_progress']);
	}

	/**
	 * Waits until the publication of a workflow has none of these statuses. An older n8n has no such status: it answers the
	 * request to activate when the workflow is active.
	 */
	async #waitForPublication(id: string, underway: string[]) {
		interface Publication {
			status: string;
			triggers: Array<{ errorMessage?: string }>;
		}
		const url = `/rest/workflows/${id}/publication-status`;
		return await poll(
			async () => {
				const answer = await this.request<Publication>('GET', url).catch((error: Error) => {
					if (error.cause !== 404) throw error;
					return { status: 'published', triggers: [] };
				});
				return underway.includes(answer.status) ? undefined : answer;
			},
			{ what: `workflow ${id} to be published`, details: () => this.readLogTail() },
		);
	}

	/**
	 * Runs a workflow as the editor's "Execute workflow" does. As in the editor, pinned data is saved with the workflow.
	 * @returns the execution's id
	 */
	async run(workflowId: string, { pinData, trigger, destinationNode }: RunOptions = {}) {
		const url = `/rest/workflows/${workflowId}`;
		if (pinData) await this.request('PATCH', url, { pinData });
		const { name } = findStartNode(await this.getWorkflow(workflowId), trigger);
		const { executionId } = await this.request<{ executionId?: string }>('POST', `${url}/run`, {
			triggerToStartFrom: { name },
			...(destinationNode && {
				destinationNode: { nodeName: destinationNode, mode: 'inclusive' },
			}),
		});
		return String(executionId);
	}

	/** Starts what the editor's "Listen for test event" starts, and returns the test URL, which takes one request. */
	async listenForTestEvent(workflowId: string) {
		await this.run(workflowId);
		const node = findStartNode(await this.getWorkflow(workflowId));
		return `${this.url}/webhook-test/${findWebhookPath(node)}`;
	}

	async getExecution(id: string) {
		// n8n's library for the form in which it stores execution data.
		const { parse } = createRequire(this.options.bin)('flatted') as {
			parse: (text: string) => IRunExecutionData;
		};
		const stored = await this.request<ExecutionSummary & { data: string }>(
			'GET',
			`/rest/executions/${id}`,
		);
		const { status, data, stoppedAt } = stored;
		const ended = stoppedAt && ENDED.includes(status) ? Date.parse(stoppedAt) : undefined;
		return new Execution(id, status, parse(data), ended);
	}

	/** Waits until an execution has one of the given statuses, by default until it has ended. */
	async waitForExecution(id: string, { until = ENDED }: { until?: string[] } = {}) {
		let last = '';
		return await poll(
			async () => {
				const execution = await this.getExecution(id);
				last = execution.status;
				if (until.includes(last)) return execution;
				if (ENDED.includes(last))
					throw new Error(`Execution ${id} ended as ${last}: ${execution.getError()?.message}`);
				return undefined;
			},
			{
				what: `execution ${id} to be ${until.join(' or ')}`,
				details: () => `It is ${last}. ${this.readLogTail()}`,
			},
		);
	}

	/** Returns executions, the newest first. */
	async listExecutions(filter: ExecutionFilter) {
		const query = new URLSearchParams({ filter: JSON.stringify(filter), limit: `${PAGE}` });
		const all: ExecutionSummary[] = [];
		for (;;) {
			const url = `/rest/executions?${query.toString()}`;
			const { results, nextCursor } = await this.request<{
				results: ExecutionSummary[];
				nextCursor?: string | null;
			}>('GET', url);
			all.push(...results);
			// An older n8n has no cursor.
			const last = nextCursor === undefined ? results[PAGE - 1]?.id : nextCursor;
			if (!last) return all;
			query.set(nextCursor ? 'cursor' : 'lastId', last);
		}
	}

	/**
	 * Waits until a workflow has at least `count` executions with one of the given statuses; by default, ended executions.
	 * @returns the executions, the oldest first
	 */
	async waitForExecutions({
		workflowId,
		count,
		status = ENDED,
	}: ExecutionFilter & { count: number }) {
		let number = 0;
		const summaries = await poll(
			async () => {
				const list = await this.listExecutions({ workflowId, status });
				number = list.length;
				return number >= count ? list : undefined;
			},
			{
				what: `${count} executions of workflow ${workflowId}`,
				details: () => `There are ${number}. ${this.readLogTail()}`,
			},
		);
		return await Promise.all(summaries.reverse().map(({ id }) => this.getExecution(id)));
	}

	/** Returns the production URL of a webhook path. */
	buildWebhookUrl(path: string) {
		return `${this.setup.webhookBase ?? this.url}/webhook/${path}`;
	}

	/** Returns the production URL of the trigger of a saved workflow. */
	async getProductionWebhookUrl(id: string, trigger?: string) {
		const node = findStartNode(await this.getWorkflow(id), trigger);
		return this.buildWebhookUrl(findWebhookPath(node));
	}

	/** Ends n8n gracefully. A temporary user folder is removed. */
	override async stop() {
		await super.stop();
		if (this.setup.isTemporary) fs.rmSync(this.options.folder, { recursive: true, force: true });
	}

	/** Ends n8n gracefully, if it runs, and starts it again. After `kill`, n8n itself pauses for 10 seconds first. */
	async restart() {
		await super.stop();
		await this.start();
	}
}
