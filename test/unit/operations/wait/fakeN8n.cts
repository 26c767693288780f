import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { hmac } from '../../../../dev/fixtures/callbackCases.cts';
import type { executeOperation } from '../../../../nodes/MediaGeneration/operations/execute';
import type { resumeExecution } from '../../../../nodes/MediaGeneration/operations/wait/resume';
import { makeResponse } from '../../webhook.ts';

/**
 * n8n's side of the waits of one execution, as small as it can be: nodes that run, sleep and end,
 * processes that are killed, callbacks that reach one of them, and n8n's WaitTracker. The engine and
 * end-to-end suites hold the real n8n to what this assumes.
 */

/** A process of n8n, until it is killed. What its modules keep is its own, and is gone then. */
class Process {
	readonly killer = new AbortController();
	readonly killed = once(this.killer.signal, 'abort');
	readonly maps = new Map<object, Map<unknown, unknown>>();
	/** WaitTracker has set a timer for the execution. */
	hasTimer = false;

	get isAlive(): boolean {
		return !this.killer.signal.aborted;
	}
}

/** The process that runs the present code. */
const running = new AsyncLocalStorage<Process>();

/** A map that each process has for itself, in place of the package's own. */
export class MapOfProcess<K, V> {
	private get map(): Map<K, V> {
		const { maps } = running.getStore() as Process;
		const known = maps.get(this) ?? new Map<unknown, unknown>();
		maps.set(this, known);
		return known as Map<K, V>;
	}

	get = (key: K) => this.map.get(key);
	has = (key: K) => this.map.has(key);
	set = (key: K, value: V) => this.map.set(key, value);
	delete = (key: K) => this.map.delete(key);
	[Symbol.iterator] = () => this.map[Symbol.iterator]();
}

/** Runs a function after some milliseconds, unless its process was killed by then. */
export function runInProcessAfter(milliseconds: number, run: () => void): void {
	const process = running.getStore() as Process;
	setTimeout(() => process.isAlive && running.run(process, run), milliseconds);
}

const never = new Promise<never>(() => {});

/** Whatever a process waits for never comes once it is killed. */
export async function aliveOnly<T>(work: Promise<T>): Promise<T> {
	const process = running.getStore() as Process;
	const result = await work.then(
		(value) => ({ value }),
		(error: unknown) => ({ error }),
	);
	if (!process.isAlive) return await never;
	if ('error' in result) throw result.error;
	return result.value;
}

export interface Service {
	/** Answers a request by the token, as n8n's HTTP helper returns it. */
	answer: (path: string, body?: { input?: Place }) => Promise<{ statusCode: number; body: string }>;
	/** Answers a request for a file. */
	download: (url: string) => Promise<object>;
}

/** Where a task belongs: the input of each item names it. */
export interface Place {
	leg: number;
	item: number;
}

const SECRET = 'a-key-for-webhooks';
const TOKEN = 'access-token-of-the-account';
const CREDENTIALS = { baseUrl: 'https://api.example', accessToken: TOKEN, webhookSecret: SECRET };
const RESUME_TOKEN = 'resume-token-of-n8n';
const RESUME_URL = 'https://n8n.example/webhook-waiting/';

/** What must be in no output, log or message. */
export const SECRETS = {
	all: [TOKEN, SECRET, RESUME_TOKEN],
	ofCredential: [TOKEN, SECRET],
};

/** The functions behind the node's `execute()` and `webhook()`. */
export interface Product {
	executeOperation: typeof executeOperation;
	resumeExecution: typeof resumeExecution;
}

/** A run of a node, in a loop or behind another one. */
export interface Leg {
	node: string;
	run: number;
	/** Each output that the workflow went on with. */
	outputs: INodeExecutionData[][];
	/** On the clock, as all times. */
	startedAt?: number;
	parkedAt?: number;
	endedAt?: number;
}

export interface Setup {
	parameters: IDataObject;
	/** The name of the node of each run, in their order. */
	nodes: string[];
	/** How many items come to each run. */
	count: number;
	/** How often n8n runs a node that fails. */
	tries: number;
	/** For how long a node may be awake, in milliseconds. */
	timeout: number;
	/** The work of other nodes before each run, in milliseconds. */
	gap: number;
	/** When WaitTracker looks first, in milliseconds. */
	trackerAt: number;
	/** How long n8n takes to store that an execution continues, in milliseconds. */
	storeTakes: number;
	/** How often it fails. */
	storeFailures: number;
	/** The caller of the workflow waits for its end. */
	hasWaiter: boolean;
}

interface Stored {
	leg: number;
	input: INodeExecutionData[];
	/** The contexts of the nodes. */
	kept: Record<string, IDataObject>;
	waitTill?: number;
}

let executions = 0;

/** n8n stores JSON. */
const copy = <T,>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** One execution, in an n8n of several processes. */
export class FakeN8n {
	readonly id = String(++executions);
	private readonly processes = [new Process(), new Process()];
	/** The process that runs the execution. */
	private runner = this.processes[0] as Process;
	status: 'running' | 'waiting' | 'done' | 'error' = 'running';
	readonly legs: Leg[];
	error?: Error;
	/** Callbacks and looks that nobody has answered. */
	open = 0;
	/** When n8n ends the execution if the node is awake then. */
	private deadline = Infinity;
	/** The lines of n8n's log. */
	readonly log: string[] = [];
	private stored: Stored = { leg: 0, input: [], kept: {} };
	private readonly cancelled = new AbortController();

	constructor(
		private readonly product: Product,
		private readonly service: Service,
		private readonly setup: Setup,
	) {
		const { nodes } = setup;
		this.legs = nodes.map((node, leg) => ({
			node,
			run: nodes.slice(0, leg).filter((name) => name === node).length,
			outputs: [],
		}));
	}

	start(): void {
		const process = this.runner;
		running.run(process, () => runInProcessAfter(this.setup.trackerAt, () => this.track(process)));
		this.work(process, 0);
	}

	/** The run that n8n is at. */
	get leg(): Leg {
		return this.legs[this.stored.leg] as Leg;
	}

	/**
	 * WaitTracker: every 60 seconds it sets timers for the executions whose wait ends within 70. A
	 * timer stays when a webhook resumes the execution, and ends whatever wait it is in then
	 * (`wait-tracker.js` and `getWaitingExecutions` of `execution.repository.js`, 2.41.1).
	 */
	private track(process: Process): void {
		const { waitTill = Infinity } = this.stored;
		if (this.status === 'waiting' && !process.hasTimer && waitTill <= Date.now() + 70_000) {
			process.hasTimer = true;
			runInProcessAfter(Math.max(0, waitTill - Date.now()), () => {
				process.hasTimer = false;
				this.resume(this.stored, this.stored.input, process);
			});
		}
		runInProcessAfter(60_000, () => this.track(process));
	}

	/** Runs the nodes from this one on, until one sleeps. */
	private work(process: Process, from: number): void {
		this.status = 'running';
		this.runner = process;
		running.run(process, () => {
			void (async () => {
				for (let leg = from; leg < this.legs.length; leg++) if (!(await this.runNode(leg))) return;
				this.status = 'done';
			})();
		});
	}

	/** @returns false if the execution does not go on */
	private async runNode(index: number): Promise<boolean> {
		const { setup, stored } = this;
		await aliveOnly(sleep(setup.gap));
		if (this.status !== 'running') return false;
		const input = Array.from({ length: setup.count }, (_, item) => ({
			json: { leg: index, item },
		}));
		Object.assign(stored, { leg: index, input });
		const leg = this.leg;
		leg.startedAt = Date.now();
		this.deadline = leg.startedAt + setup.timeout;
		if (setup.timeout < Infinity)
			runInProcessAfter(setup.timeout, () => {
				if (this.status === 'running' && this.leg === leg) this.stop();
			});
		for (let attempt = 1; attempt <= setup.tries; attempt++) {
			delete stored.waitTill;
			this.error = undefined;
			try {
				const context = this.buildExecuteContext();
				const [output = []] = await aliveOnly(this.product.executeOperation(context));
				if (this.cancelled.signal.aborted) return false;
				if (output[0]?.json.error !== undefined && attempt < setup.tries) continue;
				if (stored.waitTill !== undefined) return this.startWaiting();
				this.end(leg, output);
				return true;
			} catch (error) {
				this.error = error as Error;
			}
		}
		if (!this.cancelled.signal.aborted) this.status = 'error';
		return false;
	}

	/** The user stops the execution. */
	stop(): void {
		if (this.status !== 'running' && this.status !== 'waiting') return;
		this.status = 'error';
		this.cancelled.abort();
	}

	/** Kills a process and starts it again. An execution that runs in it is lost. */
	kill(index: number): void {
		const process = this.processes[index] as Process;
		process.killer.abort();
		const next = (this.processes[index] = new Process());
		if (this.runner === process && this.status === 'running') this.status = 'error';
		if (index === 0) running.run(next, () => this.track(next));
	}

	/** Brings a callback, or a look, to a process. @returns the answer's status and body */
	async deliver(
		body: IDataObject,
		headers: IDataObject,
		index: number,
	): Promise<{ status: number; answer: unknown }> {
		const process = this.processes[index] as Process;
		if (this.status !== 'waiting') return { status: 409, answer: {} };
		this.open++;
		try {
			return await Promise.race([
				this.take(process, body, headers),
				process.killed.then(() => ({ status: 502, answer: {} })),
			]);
		} finally {
			this.open--;
		}
	}

	/** The service calls back for a task. */
	async callBack(taskId: string, index: number, callbackType = 'task_completed') {
		const timestamp = String(Math.floor(Date.now() / 1000));
		return await this.deliver(
			{ taskId, code: 200, data: { task_id: taskId, callbackType } },
			{
				'x-webhook-timestamp': timestamp,
				'x-webhook-signature': hmac(taskId, timestamp, SECRET).toString('base64'),
			},
			index,
		);
	}

	private async take(process: Process, body: IDataObject, headers: IDataObject) {
		const response = makeResponse();
		const stored = copy(this.stored);
		const answered = new Promise<void>((resolve) => {
			const json = response.json.bind(response);
			response.json = (answer: unknown) => {
				resolve();
				return json(answer);
			};
		});
		const handled = running.run(process, async () => {
			const context = this.buildWebhookContext(stored, body, headers, response);
			const result = await aliveOnly(this.product.resumeExecution(context));
			const items = result.workflowData?.[0];
			if (items) await aliveOnly(sleep(this.setup.storeTakes));
			const isStored = !items || this.resume(stored, copy(items), process);
			if (result.noWebhookResponse) return;
			if (isStored) response.json(result.webhookResponse).close();
			else response.status(500).json({}).close();
		});
		await Promise.race([answered, handled]);
		return { status: response.statusCode, answer: response.answer };
	}

	private startWaiting(): false {
		this.status = 'waiting';
		this.leg.parkedAt = Date.now();
		// What n8n stores is a copy.
		this.stored = copy(this.stored);
		if (Number.isNaN(new Date(this.stored.waitTill ?? NaN).getTime()))
			throw new Error('n8n never wakes this execution');
		return false;
	}

	/**
	 * n8n lets a webhook continue an execution that waits, whichever wait that webhook has read. In
	 * another process the node can't know, so this is kinder than n8n there.
	 */
	private resume(stored: Stored, items: INodeExecutionData[], process: Process): boolean {
		if (this.status !== 'waiting') return false;
		if (process !== this.runner && stored.waitTill !== this.stored.waitTill) return false;
		if (items !== stored.input && this.setup.storeFailures-- > 0) return false;
		this.stored = stored;
		this.end(this.leg, items);
		this.work(process, stored.leg + 1);
		return true;
	}

	private end(leg: Leg, items: INodeExecutionData[]): void {
		leg.outputs.push(items);
		leg.endedAt = Date.now();
	}

	private buildBase({ leg }: Stored) {
		const { service, id, legs } = this;
		const name = (legs[leg] as Leg).node;
		const log = (line: string) => this.log.push(line);
		return {
			getNode: () => ({ id: name, name, type: 'mediaGeneration', typeVersion: 1 }),
			getWorkflow: () => ({ id: 'workflow', name: 'Workflow' }),
			getMode: () => 'webhook',
			getExecutionId: () => id,
			getInstanceId: () => 'instance',
			getCredentials: async () => ({ ...CREDENTIALS }),
			logger: { info: log, warn: log, error: log, debug: log },
			helpers: {
				httpRequestWithAuthentication: async (
					_type: string,
					{ url, body }: { url: string; body?: { input?: Place } },
				) => await aliveOnly(service.answer(url.slice(CREDENTIALS.baseUrl.length), body)),
				httpRequest: async ({ url }: { url: string }) => await aliveOnly(service.download(url)),
				prepareBinaryData: async (
					stream: AsyncIterable<Buffer>,
					fileName: string,
					mimeType: string,
				) => {
					for await (const chunk of stream) void chunk;
					return { data: '', fileName, mimeType };
				},
				constructExecutionMetaData: (items: INodeExecutionData[], { itemData }: IDataObject) =>
					items.map((item) => ({ ...item, pairedItem: itemData })),
			},
		};
	}

	private buildExecuteContext(): IExecuteFunctions {
		const { stored, id, leg, setup } = this;
		const { parameters, hasWaiter } = setup;
		const trigger = { name: 'Webhook', type: 'n8n-nodes-base.webhook', disabled: false };
		const responseMode = hasWaiter ? 'lastNode' : 'onReceived';
		return {
			...this.buildBase(stored),
			getInputData: () => stored.input,
			getExecuteData: () => ({
				data: {
					set main([input]: [INodeExecutionData[]]) {
						stored.input = input;
					},
					get main() {
						return [stored.input];
					},
				},
			}),
			// The input names its item, by an expression on it.
			getNodeParameter: (name: string, item: number, fallback: unknown) =>
				name === 'customInput' ? stored.input[item]?.json : (parameters[name] ?? fallback),
			getContext: () => (stored.kept[leg.node] ??= {}),
			getWorkflowDataProxy: () => ({
				$runIndex: leg.run,
				$execution: { customData: { set() {} } },
			}),
			getWorkflowSettings: () => ({ executionOrder: 'v1' }),
			getExecutionContext: () => ({ triggerNode: { name: 'Webhook' } }),
			getParentNodes: () => [{ ...trigger, parameters: { responseMode } }],
			getExecutionCancelSignal: () => this.cancelled.signal,
			isToolExecution: () => false,
			continueOnFail: () => parameters.onError === true,
			addExecutionHints() {},
			evaluateExpression: () => `${RESUME_URL}${id}?signature=${RESUME_TOKEN}`,
			additionalData: { executionTimeoutTimestamp: this.deadline },
			putExecutionToWait: async (until: Date) => {
				stored.waitTill = until.getTime();
			},
		} as unknown as IExecuteFunctions;
	}

	private buildWebhookContext(
		stored: Stored,
		body: IDataObject,
		headers: IDataObject,
		response: ReturnType<typeof makeResponse>,
	): IWebhookFunctions {
		const { input: items, kept, leg } = stored;
		const { run } = kept[(this.legs[leg] as Leg).node] as { run: { wait: object } };
		return {
			...this.buildBase(stored),
			getHeaderData: () => headers,
			getBodyData: () => body,
			getQueryData: () => ({ signature: RESUME_TOKEN }),
			getResponseObject: () => response,
			evaluateExpression: () => ({ items, entry: run.wait }),
		} as unknown as IWebhookFunctions;
	}
}
