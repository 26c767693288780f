import { AsyncLocalStorage } from 'node:async_hooks';
import { once, setMaxListeners } from 'node:events';
import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type ITaskDataConnections,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import type { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import type { wakeExecution } from '../../../nodes/MediaGeneration/run/wake';
import { buildContext, makeResponse } from '../n8n';

/**
 * n8n's side of sleeps, as small as it can be. The engine and end-to-end suites hold the real n8n to
 * what this assumes: n8n runs the node again if a webhook enables it, with the input that the webhook
 * returns; the input that the node stores comes out when n8n ends the sleep by itself.
 */

/** A process of n8n, until it is killed. What its modules keep is its own, and is gone then. */
class Process {
	readonly killer = new AbortController();
	readonly killed = once(this.killer.signal, 'abort');
	readonly maps = new Map<object, Map<unknown, unknown>>();

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
	set = (key: K, value: V) => this.map.set(key, value);
	delete = (key: K) => this.map.delete(key);
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
	answer: (path: string, body?: { input?: { item?: number } }) => Promise<object>;
	/** Answers a request for a file. */
	download: () => Promise<object>;
}

const SECRET = 'a-key-for-webhooks';
const TOKEN = 'access-token-of-the-account';
const BASE_URL = 'https://api.example';
export const CREDENTIALS = { baseUrl: BASE_URL, accessToken: TOKEN, webhookSecret: SECRET };
const HOOK = { name: 'Hook', type: 'n8n-nodes-base.webhook', disabled: false };
const RESUME_TOKEN = 'resume-token-of-n8n';

export const RESUME_URL = 'https://n8n.example/webhook-waiting/';

/** The functions behind the node's `execute()` and `webhook()`. */
export interface Product {
	executeOperation: typeof executeOperation;
	wakeExecution: typeof wakeExecution;
}

let executions = 0;

/** The nodes of the execution, in the order of their runs: one in a loop, or several in a row. */
interface Step {
	/** `Wait` is n8n's Wait node, which sleeps until somebody calls its own webhook. */
	node: string;
	/** How many items come in. */
	count: number;
}

/** What n8n is like. */
export interface Conditions {
	/** The nodes that run one after the other. */
	steps: Step[];
	/** n8n repeats a node that throws. */
	tries: number;
	/** The trigger answers its caller at once, or with the last node. */
	responseMode: 'onReceived' | 'lastNode';
	/** When its WaitTracker starts, in milliseconds. */
	trackerAt: number;
	/** It fails to let the execution sleep, after it has noted until when. */
	parkingFails: boolean;
	/** How often it fails to store that the execution continues. */
	storeFailures: number;
	/** How long an execution that a webhook has woken waits for a free slot, in milliseconds. */
	slotWait: number;
}

/** n8n's Wait node goes on after this time, in milliseconds, when somebody approves. */
const APPROVED_AFTER = 20_000;

/** What the sender of a callback gets. */
interface Answer {
	status: number;
	answer: unknown;
}

/** What came of a step. */
export interface Ended {
	items: INodeExecutionData[];
	begunAt: number;
	/** When it began to sleep, if it slept. */
	sleptAt?: number;
	endedAt: number;
}

/** What n8n stores with the execution. */
interface Stored {
	step: number;
	/** The input of the node, and what the node keeps beside it. */
	data: { main: INodeExecutionData[][] } & ITaskDataConnections;
	/** The contexts of the nodes. */
	kept: Record<string, IDataObject>;
	waitTill?: number;
	/** How often the execution has slept. */
	sleep: number;
}

/** What n8n has read for a webhook. It disables the node that sleeps. */
interface WebhookData extends Pick<Stored, 'step' | 'kept' | 'sleep'> {
	entry: { node: { disabled: boolean }; data: Stored['data'] };
}

/** n8n's WaitTracker: it looks this often for waits that end within this time, in milliseconds. */
const TRACKS_EVERY = 60_000;
const TRACKS_AHEAD = 70_000;

/** One execution of some nodes, in an n8n of two processes, of which the first runs it. */
export class FakeN8n {
	readonly id = String(++executions);
	private readonly processes = [new Process(), new Process()];
	status: 'running' | 'waiting' | 'done' | 'error' = 'running';
	/** What came of each step, and how many sleeps were ended by data of an earlier step. */
	readonly ended: Ended[] = [];
	overwritten = 0;
	error?: Error;
	/** Callbacks and nudges that nobody has answered. */
	open = 0;
	/** The lines of n8n's log. */
	readonly log: string[] = [];
	private storeFailures: number;
	private stored: Stored;
	private begunAt = Date.now();
	private sleptAt?: number;
	/** The timer of n8n's WaitTracker for this execution, and the interval of its looks. */
	private wakesUp?: NodeJS.Timeout;
	private tracker?: NodeJS.Timeout;
	private readonly cancelled = new AbortController();

	constructor(
		private readonly product: Product,
		private readonly service: Service,
		private readonly conditions: Conditions,
		private readonly parameters: IDataObject,
	) {
		this.storeFailures = conditions.storeFailures;
		// As n8n does (`workflow-execute.js`, 2.41.1).
		setMaxListeners(Infinity, this.cancelled.signal);
		this.stored = { step: 0, data: this.buildInput(0), kept: {}, sleep: 0 };
		setTimeout(() => this.startTracking(), conditions.trackerAt);
	}

	/** Starts the first process's WaitTracker, which looks at once (`wait-tracker.js`, 2.41.1). */
	private startTracking(): void {
		const look = () => {
			const { waitTill = Infinity } = this.stored;
			const isFound = this.status === 'waiting' && waitTill <= Date.now() + TRACKS_AHEAD;
			// Nothing clears the timer when a webhook resumes the execution.
			if (isFound) this.wakesUp ??= setTimeout(() => this.wakeUp(), waitTill - Date.now());
		};
		this.tracker = setInterval(look, TRACKS_EVERY);
		look();
	}

	/** Ends whatever wait the execution has now, by the input of the node that parked. */
	private wakeUp(): void {
		this.wakesUp = undefined;
		if (this.status === 'waiting') this.end(this.stored.data.main[0] ?? []);
	}

	/** Runs the nodes in the first process until the execution sleeps or ends. */
	async run(): Promise<void> {
		this.status = 'running';
		await running.run(this.processes[0] as Process, async () => await this.runStep());
	}

	private async runStep(): Promise<void> {
		if (this.isWaitNode) return this.startWaitNode();
		for (let attempt = 1; attempt <= this.conditions.tries; attempt++) {
			delete this.stored.waitTill;
			this.error = undefined;
			try {
				const [output = []] = await aliveOnly(
					this.product.executeOperation(this.buildExecuteContext()),
				);
				if (this.cancelled.signal.aborted) return;
				if (this.stored.waitTill === undefined) return this.end(output);
				return this.startWaiting(this.stored.waitTill);
			} catch (error) {
				this.error = error as Error;
			}
		}
		this.status = 'error';
	}

	get isWaitNode(): boolean {
		return this.conditions.steps[this.stored.step]?.node === 'Wait';
	}

	/** n8n's Wait node sleeps until its own webhook is called. */
	private startWaitNode(): void {
		const { step } = this.stored;
		this.startWaiting(Infinity);
		setTimeout(() => {
			if (this.status === 'waiting' && this.stored.step === step)
				this.end(this.stored.data.main[0] ?? []);
		}, APPROVED_AFTER);
	}

	/** The user stops the execution. */
	stop(): void {
		if (this.status !== 'running' && this.status !== 'waiting') return;
		this.status = 'error';
		clearTimeout(this.wakesUp);
		this.cancelled.abort();
	}

	/** Kills a process and starts it again. An execution that runs in it is lost. */
	kill(index: number): void {
		const process = this.processes[index] as Process;
		process.killer.abort();
		this.processes[index] = new Process();
		if (index !== 0) return;
		if (this.status === 'running') this.status = 'error';
		clearTimeout(this.wakesUp);
		clearInterval(this.tracker);
		this.wakesUp = undefined;
		this.startTracking();
	}

	/** Brings a callback, or a nudge, to a process. */
	async deliver(body: IDataObject, headers: IDataObject, index: number): Promise<Answer> {
		const process = this.processes[index] as Process;
		const refusal = this.refuse();
		if (refusal) return refusal;
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

	/** n8n's own answer, before it calls the node's webhook (`waiting-webhooks.js`, 2.41.1). */
	private refuse(): Answer | undefined {
		const say = (code: number, message: string) => ({ status: code, answer: { code, message } });
		if (this.status === 'running')
			return say(409, `The execution "${this.id}" is running already.`);
		if (this.status === 'error')
			return say(409, `The execution "${this.id}" has finished with error.`);
		if (this.status === 'done') return say(409, `The execution "${this.id} has finished already.`);
		if (!this.isWaitNode) return undefined;
		const unmatched = 'does not contain a waiting webhook with a matching path/method.';
		return say(404, `The workflow for execution "${this.id}" ${unmatched}`);
	}

	/** The service calls back for a task. */
	async callBack(taskId: string, index: number, callbackType = 'done'): Promise<Answer> {
		const body = { taskId, code: 200, data: { task_id: taskId, callbackType } };
		return await this.deliver(body, signHeaders(body, SECRET), index);
	}

	private async take(process: Process, body: IDataObject, headers: IDataObject) {
		const response = makeResponse();
		const { data, ...stored } = structuredClone(this.stored);
		const read = { ...stored, entry: { node: { disabled: true }, data } };
		const answered = new Promise<void>((resolve) => {
			const json = response.json.bind(response);
			response.json = (answer: unknown) => {
				resolve();
				return json(answer);
			};
		});
		const handled = running.run(process, async () => {
			const context = this.buildWebhookContext(read, body, headers, response);
			const result = await aliveOnly(this.product.wakeExecution(context));
			if (result.noWebhookResponse) return;
			const { status, answer } = await this.continue(read, result);
			response.status(status).json(answer).close();
		});
		await Promise.race([answered, handled]);
		return { status: response.statusCode, answer: response.answer };
	}

	/** Continues the execution with what a webhook has returned, if it still sleeps. */
	private async continue(
		read: WebhookData,
		{ workflowData, webhookResponse }: IWebhookResponseData,
	): Promise<Answer> {
		if (this.conditions.slotWait) await aliveOnly(sleep(this.conditions.slotWait));
		const refusal = this.status === 'waiting' ? undefined : this.refuse();
		if (refusal) return refusal;
		if (this.storeFailures-- > 0) return { status: 500, answer: {} };
		const answer = { status: 200, answer: webhookResponse as unknown };
		// n8n continues an execution that sleeps, whichever of its sleeps the webhook has read.
		if (read.sleep !== this.stored.sleep) {
			this.overwritten++;
			return answer;
		}
		const main = workflowData as INodeExecutionData[][];
		const { node, data } = read.entry;
		this.stored = structuredClone({ ...this.stored, data: { ...data, main }, kept: read.kept });
		if (node.disabled) this.end(main[0] ?? []);
		else void this.run();
		return answer;
	}

	private startWaiting(waitTill: number): void {
		if (Number.isNaN(waitTill)) throw new Error('n8n never wakes this execution');
		this.status = 'waiting';
		this.sleptAt = Date.now();
		// What n8n stores is a copy.
		this.stored = structuredClone({ ...this.stored, waitTill, sleep: this.stored.sleep + 1 });
	}

	/** Ends a step, and goes on with the next one. */
	private end(items: INodeExecutionData[]): void {
		const { begunAt, sleptAt, stored } = this;
		this.ended.push({ items, begunAt, sleptAt, endedAt: Date.now() });
		const step = stored.step + 1;
		if (step < this.conditions.steps.length) {
			this.stored = { ...stored, step, data: this.buildInput(step), waitTill: undefined };
			this.begunAt = Date.now();
			this.sleptAt = undefined;
			void this.run();
			return;
		}
		this.status = 'done';
		clearInterval(this.tracker);
	}

	private buildInput(step: number): Stored['data'] {
		const { count } = this.conditions.steps[step] as Step;
		return {
			main: [Array.from({ length: count }, (_, item) => ({ json: { item: 10 * step + item } }))],
		};
	}

	/** The node of a step, and which of its runs it is. */
	private findRun(step: number): { name: string; run: number } {
		const { node } = this.conditions.steps[step] as Step;
		return {
			name: node,
			run: this.conditions.steps.slice(0, step).filter((one) => one.node === node).length,
		};
	}

	/** What the node is given in a run and in a webhook. */
	private buildBase(step: number) {
		const { service, id, conditions } = this;
		const { tries } = conditions;
		const { name } = this.findRun(step);
		const log = (line: string) => this.log.push(line);
		return {
			getNode: () => ({
				...{ id: name, name, type: 'mediaGeneration' },
				...{ retryOnFail: tries > 1, maxTries: tries },
			}),
			getMode: () => 'trigger',
			getExecutionId: () => id,
			getCredentials: async () => ({ ...CREDENTIALS }),
			logger: { info: log, warn: log, error: log, debug: log },
			helpers: {
				httpRequestWithAuthentication: async (
					_type: string,
					{ url, body }: { url: string; body?: { input?: { item?: number } } },
				) => await aliveOnly(service.answer(url.slice(CREDENTIALS.baseUrl.length), body)),
				httpRequest: async () => await aliveOnly(service.download()),
				prepareBinaryData: async (_file: unknown, fileName: string) => ({ data: '', fileName }),
				constructExecutionMetaData: (items: INodeExecutionData[], { itemData }: IDataObject) =>
					items.map((item) => ({ ...item, pairedItem: itemData })),
			},
		};
	}

	private get resumeUrl(): string {
		return `${RESUME_URL}${this.id}?signature=${RESUME_TOKEN}`;
	}

	private buildExecuteContext(): IExecuteFunctions {
		const { stored, parameters, conditions } = this;
		const { name: node, run } = this.findRun(stored.step);
		const kept = (stored.kept[node] ??= {});
		const parents = [{ ...HOOK, parameters: { responseMode: conditions.responseMode } }];
		return buildContext(
			{ kept, signal: this.cancelled.signal },
			{
				...this.buildBase(stored.step),
				getInputData: () => stored.data.main[0],
				getExecuteData: () => stored,
				// The input names its item, by an expression on it.
				getNodeParameter: (name: string, item: number, fallback: unknown) =>
					name === 'anyInput' ? stored.data.main[0]?.[item]?.json : (parameters[name] ?? fallback),
				getWorkflowDataProxy: () => ({ $runIndex: run, $execution: { customData: { set() {} } } }),
				getWorkflowSettings: () => ({}),
				getChildNodes: () => [],
				getParentNodes: () => parents,
				addExecutionHints() {},
				evaluateExpression: () => this.resumeUrl,
				putExecutionToWait: async (until?: Date) => {
					stored.waitTill = until?.getTime();
					if (conditions.parkingFails) throw new Error('No active execution found');
				},
			},
		);
	}

	private buildWebhookContext(
		{ step, kept, entry }: WebhookData,
		body: IDataObject,
		headers: IDataObject,
		response: ReturnType<typeof makeResponse>,
	): IWebhookFunctions {
		const { name } = this.findRun(step);
		return {
			...this.buildBase(step),
			getHeaderData: () => headers,
			getBodyData: () => body,
			getRequestObject: () => ({ rawBody: Buffer.from(JSON.stringify(body)) }),
			getQueryData: () => ({ signature: RESUME_TOKEN }),
			getResponseObject: () => response,
			getWorkflow: () => ({ id: 'workflow' }),
			evaluateExpression: () => this.resumeUrl,
			runExecutionData: {
				executionData: {
					contextData: { [`node:${name}`]: kept[name] },
					nodeExecutionStack: [entry],
				},
			},
		} as unknown as IWebhookFunctions;
	}
}
