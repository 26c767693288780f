const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const os = require('node:os');
const path = require('node:path');
const { Execution } = require('./execution.cts');
const { freePort } = require('./port.cts');
const { N8nProcess } = require('./process.cts');
const { provideN8n } = require('./provide.cts');
const { poll } = require('./wait.cts');
const { startNode, webhookPath } = require('./workflow.cts');

/**
 * @typedef {import('./execution.cts').Item} Item
 * @typedef {import('./workflow.cts').Workflow} Workflow
 * @typedef {{ id: string, name: string, type?: string }} Credential
 * @typedef {{ id: string, workflowId: string, status: string, mode: string, [key: string]: any }} ExecutionSummary
 */

const OWNER = {
	email: 'owner@example.com',
	password: 'Media-generation-1',
	firstName: 'Dev',
	lastName: 'Owner',
};
const REQUEST_LIMIT = 60_000;
/** What n8n answers before it does anything, while its own look at the database takes too long on a busy machine. */
const BUSY_DATABASE = 'Database is not ready!';
const ENDED = ['success', 'error', 'canceled', 'crashed'];

/**
 * Starts the pinned n8n with a packed package installed in it, as production has it, and an owner who is logged in.
 * @param {{
 *   tarball?: string,
 *   folder?: string,
 *   port?: number,
 *   env?: Record<string, string>,
 *   log?: (line: string) => void,
 * }} [options] `tarball`: what `npm pack` made; `folder`: n8n's user folder, kept afterwards (default: a temporary one, removed by `stop`); `port`: the preferred one, taken if it is free
 */
async function startN8n({ tarball, folder, port = 0, env = {}, log } = {}) {
	const provided = await provideN8n({ log });
	const userFolder = folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-n8n-'));
	fs.mkdirSync(userFolder, { recursive: true });
	if (tarball) installPackage(userFolder, tarball);
	const child = new N8nProcess({
		node: provided.node,
		bin: provided.bin,
		folder: userFolder,
		port: await freePort(port),
		brokerPort: await freePort(),
		env,
	});
	const n8n = new N8n(child, { folder: userFolder, temporary: !folder, bin: provided.bin });
	try {
		await child.start();
		await n8n.setUpOwner();
	} catch (error) {
		await n8n.stop();
		throw error;
	}
	return n8n;
}

/**
 * Puts a packed package where n8n looks for community packages.
 * @param {string} userFolder
 * @param {string} tarball
 */
function installPackage(userFolder, tarball) {
	const nodeModules = path.join(userFolder, '.n8n', 'nodes', 'node_modules');
	const draft = path.join(nodeModules, '.unpacked');
	fs.rmSync(draft, { recursive: true, force: true });
	fs.mkdirSync(draft, { recursive: true });
	execFileSync('tar', ['-xzf', tarball, '-C', draft, '--strip-components=1']);
	const { name } = JSON.parse(fs.readFileSync(path.join(draft, 'package.json'), 'utf8'));
	const target = path.join(nodeModules, name);
	fs.rmSync(target, { recursive: true, force: true });
	fs.mkdirSync(path.dirname(target), { recursive: true });
	fs.renameSync(draft, target);
}

/** A running n8n, used as its editor uses it: through the editor's own REST API, logged in by cookie. */
class N8n {
	#child;
	#temporary;
	#webhookBase;
	#parse;
	#cookie = '';

	/**
	 * @param {N8nProcess} child
	 * @param {{ folder: string, temporary: boolean, bin: string, webhookBase?: string }} options `webhookBase`: where production webhooks are called (default: the process itself)
	 */
	constructor(child, { folder, temporary, bin, webhookBase = child.url }) {
		this.#child = child;
		this.#temporary = temporary;
		this.#webhookBase = webhookBase;
		this.#parse = createRequire(bin)('flatted').parse;
		this.folder = folder;
		this.url = child.url;
		this.owner = { email: OWNER.email, password: OWNER.password };
	}

	get pid() {
		return this.#child.pid;
	}

	/** What n8n has logged so far. */
	log() {
		return this.#child.log();
	}

	/** Makes the owner of a new n8n and logs in; logs in when there is one. */
	async setUpOwner() {
		const { data } = await this.#send('GET', '/rest/settings');
		const isNew = data.userManagement.showSetupOnFirstLoad;
		const answer = isNew
			? await this.#send('POST', '/rest/owner/setup', OWNER)
			: await this.#send('POST', '/rest/login', {
					emailOrLdapLoginId: OWNER.email,
					password: OWNER.password,
				});
		this.#cookie = answer.cookies.map((cookie) => cookie.split(';')[0]).join('; ');
	}

	/**
	 * A request of the editor's REST API; what n8n refuses is thrown with n8n's own message.
	 * @param {string} method
	 * @param {string} path
	 * @param {unknown} [body]
	 * @returns {Promise<any>} the answer's `data`
	 */
	async request(method, path, body) {
		return (await this.#send(method, path, body)).data;
	}

	/**
	 * @param {string} method
	 * @param {string} path
	 * @param {unknown} [body]
	 * @returns {Promise<{ data: any, cookies: string[] }>}
	 */
	async #send(method, path, body) {
		const { response, text } = await poll(
			async () => {
				const response = await fetch(`${this.url}${path}`, {
					method,
					headers: {
						...(this.#cookie ? { cookie: this.#cookie } : {}),
						...(body === undefined ? {} : { 'content-type': 'application/json' }),
					},
					body: body === undefined ? undefined : JSON.stringify(body),
					signal: AbortSignal.timeout(REQUEST_LIMIT),
				});
				const text = await response.text();
				return text.includes(BUSY_DATABASE) ? undefined : { response, text };
			},
			{ timeout: REQUEST_LIMIT, what: 'the database of n8n', every: 500 },
		);
		const answer = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
		if (!response.ok) {
			throw Object.assign(
				new Error(
					`n8n answered ${method} ${path} with ${response.status}: ${answer.message ?? text}`,
				),
				{ status: response.status },
			);
		}
		return { data: answer.data ?? answer, cookies: response.headers.getSetCookie() };
	}

	/**
	 * The descriptions of the nodes of one package, as the editor gets them, by name.
	 * @param {string} packageName
	 * @returns {Promise<Array<{ name: string, [key: string]: any }>>}
	 */
	async nodeTypes(packageName) {
		/** @type {Array<{ name: string }>} */
		const all = await this.request('GET', '/types/nodes.json');
		return all
			.filter(({ name }) => name.startsWith(`${packageName}.`))
			.sort((a, b) => a.name.localeCompare(b.name));
	}

	/**
	 * @param {{ name: string, type: string, data: object }} credential
	 * @returns {Promise<Credential>}
	 */
	async createCredential({ name, type, data }) {
		const { id } = await this.request('POST', '/rest/credentials', { name, type, data });
		return { id, name, type };
	}

	/**
	 * @param {string} id
	 * @param {{ name: string, type: string, data: object }} credential
	 * @returns {Promise<Credential>}
	 */
	async updateCredential(id, { name, type, data }) {
		await this.request('PATCH', `/rest/credentials/${id}`, { name, type, data });
		return { id, name, type };
	}

	/** @returns {Promise<Credential[]>} */
	async credentials() {
		return await this.request('GET', '/rest/credentials');
	}

	/**
	 * The editor's test of a credential, which it saves first.
	 * @param {{ type: string, data: object }} credential
	 * @returns {Promise<{ status: 'OK' | 'Error', message: string }>}
	 */
	async testCredential({ type, data }) {
		const saved = await this.createCredential({ name: 'Tested', type, data });
		return await this.request('POST', '/rest/credentials/test', {
			credentials: { ...saved, data },
		});
	}

	/**
	 * Saves a workflow as a new one. Nodes that use one of the given credential types get that credential.
	 * @param {Workflow} workflow
	 * @param {{ credentials?: Record<string, Credential> }} [options]
	 * @returns {Promise<{ id: string }>}
	 */
	async importWorkflow(workflow, { credentials = {} } = {}) {
		const nodes = workflow.nodes.map((node) => {
			if (!node.credentials) return node;
			const given = Object.entries(node.credentials).map(([type, reference]) => {
				const known = credentials[type];
				return [type, known ? { id: known.id, name: known.name } : reference];
			});
			return { ...node, credentials: Object.fromEntries(given) };
		});
		const { id } = await this.request('POST', '/rest/workflows', {
			name: workflow.name,
			nodes,
			connections: workflow.connections,
			settings: workflow.settings ?? {},
			pinData: workflow.pinData ?? {},
		});
		return { id };
	}

	/**
	 * @param {string} id
	 * @returns {Promise<Workflow>}
	 */
	async workflow(id) {
		return await this.request('GET', `/rest/workflows/${id}`);
	}

	/** @returns {Promise<Array<{ id: string, name: string }>>} */
	async workflows() {
		return await this.request('GET', '/rest/workflows');
	}

	/**
	 * Activates (publishes) a workflow and waits until its triggers are. n8n says yes before it tries them, so what a trigger
	 * has against it is read from the publication's status, and thrown.
	 * @param {string} id
	 * @param {{ timeout?: number }} [options]
	 */
	async activate(id, { timeout = 30_000 } = {}) {
		const { versionId } = await this.workflow(id);
		await this.request('POST', `/rest/workflows/${id}/activate`, { versionId });
		const { status, triggers } = await this.#publication(id, timeout, 'active');
		if (status === 'published') return;
		const reasons = triggers
			.map(({ errorMessage }) => errorMessage)
			.filter(Boolean)
			.join('; ');
		throw new Error(
			`n8n did not activate workflow ${id}: ${reasons || `it is ${status}. ${this.#child.logTail()}`}`,
		);
	}

	/**
	 * @param {string} id
	 * @param {{ timeout?: number }} [options]
	 */
	async deactivate(id, { timeout = 30_000 } = {}) {
		await this.request('POST', `/rest/workflows/${id}/deactivate`, {});
		await this.#publication(id, timeout, 'inactive');
	}

	/**
	 * What became of a request to activate or to deactivate; older n8n have no such status, for they answer that request when it is done.
	 * @param {string} id
	 * @param {number} timeout
	 * @param {'active' | 'inactive'} goal
	 * @returns {Promise<{ status: string, triggers: Array<{ errorMessage?: string }> }>}
	 */
	async #publication(id, timeout, goal) {
		// A busy n8n may not have begun to publish when it is asked.
		const underway = ['in_progress', ...(goal === 'active' ? ['not_published'] : [])];
		return await poll(
			async () => {
				const answer = await this.request('GET', `/rest/workflows/${id}/publication-status`).catch(
					(error) => {
						if (error.status !== 404) throw error;
						return { status: 'published', triggers: [] };
					},
				);
				return underway.includes(answer.status) ? undefined : answer;
			},
			{
				timeout,
				what: `workflow ${id} to be ${goal}`,
				details: () => this.#child.logTail(),
			},
		);
	}

	/**
	 * Deletes a workflow and its executions; an active one is deactivated first.
	 * @param {string} id
	 */
	async deleteWorkflow(id) {
		const { activeVersionId } = await this.workflow(id);
		if (activeVersionId) await this.deactivate(id);
		await this.request('POST', `/rest/workflows/${id}/archive`, {});
		await this.request('DELETE', `/rest/workflows/${id}`);
	}

	/**
	 * Runs a workflow by hand, as the editor's "Execute workflow" does. As in the editor, pinned data is saved with the workflow.
	 * @param {string} workflowId
	 * @param {{ pinData?: Record<string, Item[]>, trigger?: string, destinationNode?: string }} [options] `trigger`: the node to start from (default: the first node that nothing leads to)
	 * @returns {Promise<string>} the execution's id
	 */
	async run(workflowId, { pinData, trigger, destinationNode } = {}) {
		if (pinData) await this.request('PATCH', `/rest/workflows/${workflowId}`, { pinData });
		const answer = await this.#runManually(workflowId, trigger, destinationNode);
		if (!answer.executionId) {
			throw new Error(`Workflow ${workflowId} waits for its webhook: it starts with a trigger`);
		}
		return answer.executionId;
	}

	/**
	 * Does what the editor's "Listen for test event" does: the trigger's test URL takes one request.
	 * @param {string} workflowId
	 * @param {{ trigger?: string }} [options]
	 * @returns {Promise<string>} the test URL
	 */
	async listenForTestEvent(workflowId, { trigger } = {}) {
		const workflow = await this.workflow(workflowId);
		const node = startNode(workflow, trigger);
		const answer = await this.#runManually(workflowId, node.name);
		if (!answer.waitingForWebhook) {
			throw new Error(`Workflow ${workflowId} does not wait for a webhook: it ran`);
		}
		return `${this.url}/webhook-test/${webhookPath(node)}`;
	}

	/**
	 * @param {string} workflowId
	 * @param {string} [trigger]
	 * @param {string} [destinationNode]
	 * @returns {Promise<{ executionId?: string, waitingForWebhook?: boolean }>}
	 */
	async #runManually(workflowId, trigger, destinationNode) {
		const workflow = await this.workflow(workflowId);
		return await this.request('POST', `/rest/workflows/${workflowId}/run`, {
			triggerToStartFrom: { name: startNode(workflow, trigger).name },
			...(destinationNode
				? { destinationNode: { nodeName: destinationNode, mode: 'inclusive' } }
				: {}),
		});
	}

	/**
	 * @param {string} id
	 * @returns {Promise<Execution>}
	 */
	async execution(id) {
		const execution = await this.request('GET', `/rest/executions/${id}`);
		return new Execution({ ...execution, data: this.#parse(execution.data) });
	}

	/**
	 * Waits until an execution has one of the given statuses (default: has ended).
	 * @param {string} id
	 * @param {{ timeout?: number, until?: string[] }} [options]
	 */
	async waitForExecution(id, { timeout = 60_000, until = ENDED } = {}) {
		let last = '';
		return await poll(
			async () => {
				const execution = await this.execution(id);
				last = execution.status;
				if (until.includes(last)) return execution;
				if (ENDED.includes(last)) {
					throw new Error(`Execution ${id} ended as ${last}: ${execution.error()?.message}`);
				}
				return undefined;
			},
			{
				timeout,
				what: `execution ${id} to be ${until.join(' or ')}`,
				details: () => `It is ${last}. ${this.#child.logTail()}`,
			},
		);
	}

	/**
	 * Executions, the newest first, 100 at most.
	 * @param {{ workflowId?: string, status?: string | string[] }} [filter]
	 * @returns {Promise<ExecutionSummary[]>}
	 */
	async executions(filter) {
		return (await this.#executionPage(filter)).results;
	}

	/**
	 * All executions, the newest first.
	 * @param {{ workflowId?: string, status?: string | string[] }} [filter]
	 */
	async allExecutions(filter) {
		/** @type {ExecutionSummary[]} */
		const all = [];
		/** @type {string | undefined} */
		let cursor;
		do {
			const page = await this.#executionPage(filter, cursor);
			all.push(...page.results);
			cursor = page.nextCursor;
		} while (cursor);
		return all;
	}

	/**
	 * @param {{ workflowId?: string, status?: string | string[] }} [filter]
	 * @param {string} [cursor]
	 * @returns {Promise<{ results: ExecutionSummary[], nextCursor?: string }>}
	 */
	async #executionPage({ workflowId, status } = {}, cursor) {
		const filter = {
			...(workflowId ? { workflowId } : {}),
			...(status ? { status: [status].flat() } : {}),
		};
		const query = new URLSearchParams({
			filter: JSON.stringify(filter),
			limit: '100',
			...(cursor ? { cursor } : {}),
		});
		return await this.request('GET', `/rest/executions?${query}`);
	}

	/**
	 * Waits until a workflow has at least `count` executions with one of the given statuses (default: that have ended), and
	 * gives them out, the oldest first.
	 * @param {{ workflowId: string, count: number, status?: string | string[], timeout?: number }} options
	 */
	async waitForExecutions({ workflowId, count, status = ENDED, timeout = 60_000 }) {
		let found = 0;
		const summaries = await poll(
			async () => {
				const list = await this.executions({ workflowId, status });
				found = list.length;
				return found >= count ? list : undefined;
			},
			{
				timeout,
				what: `${count} executions of workflow ${workflowId}`,
				details: () => `There are ${found}. ${this.#child.logTail()}`,
			},
		);
		return await Promise.all(summaries.reverse().map(({ id }) => this.execution(id)));
	}

	/**
	 * The production URL of a webhook path.
	 * @param {string} path
	 */
	webhookUrl(path) {
		return `${this.#webhookBase}/webhook/${path}`;
	}

	/**
	 * The production URL of a workflow's trigger.
	 * @param {string | Workflow} workflow an id, or a workflow whose trigger has a `webhookId`
	 * @param {string} [trigger]
	 */
	async productionWebhookUrl(workflow, trigger) {
		const { nodes, connections } =
			typeof workflow === 'string' ? await this.workflow(workflow) : workflow;
		return this.webhookUrl(webhookPath(startNode({ nodes, connections }, trigger)));
	}

	/** Ends n8n in peace; a temporary user folder is removed. */
	async stop() {
		await this.#child.stop();
		if (this.#temporary) fs.rmSync(this.folder, { recursive: true, force: true });
	}

	/** kill -9 */
	async kill() {
		await this.#child.kill();
	}

	/** Starts n8n again with the same folder and port, after ending it in peace or after `kill`; then n8n itself pauses for 10 seconds first. */
	async restart() {
		await this.#child.stop();
		await this.#child.start();
	}
}

module.exports = { startN8n, installPackage, N8n };
