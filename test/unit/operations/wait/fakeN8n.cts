import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { hmac } from '../../dev/fixtures/callbackCases.cts';
import type { executeOperation } from '../../nodes/MediaGeneration/operations/execute';
import type { resumeExecution } from '../../nodes/MediaGeneration/operations/wait/resume';
import { makeResponse } from './webhook.ts';

/**
 * n8n's side of a wait, as small as it can be: executions that run, wait and end, processes that are killed, callbacks that reach
 * one of them. The engine and end-to-end suites hold the real n8n to what this assumes: an input that is replaced before
 * parking is stored; the webhook sees it; its items become the output, once; when the wait ends by itself, the input does.
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
async function aliveOnly<T>(work: Promise<T>): Promise<T> {
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
	download: (url: string) => Promise<object>;
}

const SECRET = 'a-key-for-webhooks';
const TOKEN = 'access-token-of-the-account';
const CREDENTIALS = { baseUrl: 'https://api.example', accessToken: TOKEN, webhookSecret: SECRET };
const RESUME_TOKEN = 'resume-token-of-n8n';

/** What must be in no output, log or message. */
export const SECRETS = {
	all: [TOKEN, SECRET, RESUME_TOKEN],
	ofCredential: [TOKEN, SECRET],
};
const RESUME_URL = 'https://n8n.example/webhook-waiting/';
const NODE = 'Media Generation';

/** The functions behind the node's `execute()` and `webhook()`. */
export interface Product {
	executeOperation: typeof executeOperation;
	resumeExecution: typeof resumeExecution;
}

let executions = 0;

/** One execution of one node, in an n8n of several processes. */
export class FakeN8n {
	readonly id = String(++executions);
	private readonly processes = [new Process(), new Process()];
	status: 'running' | 'waiting' | 'done' | 'error' = 'running';
	/** Each output of the node that the workflow went on with. */
	readonly outputs: INodeExecutionData[][] = [];
	error?: Error;
	/** Callbacks and looks that nobody has answered. */
	open = 0;
	/** How often the node handed its items over. */
	handedOver = 0;
	/** How often n8n will fail to store what it is handed. */
	storeFailures = 0;
	/** n8n fails to let the execution sleep, after it has noted until when. */
	parkingFails = false;
	/** When n8n ends the execution if it is awake then, on the clock. */
	deadline = Infinity;
	/** The lines of n8n's log. */
	readonly log: string[] = [];
	/** When the node's output came, on the clock. */
	endedAt?: number;
	private stored: { input: INodeExecutionData[]; kept: IDataObject; waitTill?: number };
	private readonly cancelled = new AbortController();

	constructor(
		private readonly product: Product,
		private readonly service: Service,
		private readonly parameters: IDataObject,
		count: number,
	) {
		const input = Array.from({ length: count }, (_, item) => ({ json: { item } }));
		this.stored = { input, kept: {} };
	}

	/** Runs the node in the first process this number of times: n8n repeats a node that throws. */
	async run(tries: number): Promise<void> {
		const process = this.processes[0] as Process;
		if (this.deadline < Infinity)
			setTimeout(() => {
				if (this.status === 'running') this.stop();
			}, this.deadline - Date.now());
		await running.run(process, async () => {
			for (let attempt = 1; attempt <= tries; attempt++) {
				delete this.stored.waitTill;
				this.error = undefined;
				try {
					const [output = []] = await aliveOnly(
						this.product.executeOperation(this.buildExecuteContext()),
					);
					if (this.cancelled.signal.aborted) return;
					if (this.stored.waitTill !== undefined) return this.startWaiting(this.stored.waitTill);
					return this.end(output);
				} catch (error) {
					this.error = error as Error;
				}
			}
			this.status = 'error';
		});
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
		this.processes[index] = new Process();
		if (index === 0 && this.status === 'running') this.status = 'error';
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
	async callBack(taskId: string, index: number): Promise<{ status: number; answer: unknown }> {
		const timestamp = String(Math.floor(Date.now() / 1000));
		return await this.deliver(
			{ taskId, code: 200, data: { task_id: taskId, callbackType: 'task_completed' } },
			{
				'x-webhook-timestamp': timestamp,
				'x-webhook-signature': hmac(taskId, timestamp, SECRET).toString('base64'),
			},
			index,
		);
	}

	private async take(process: Process, body: IDataObject, headers: IDataObject) {
		const response = makeResponse();
		const stored = structuredClone(this.stored);
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
			if (items) this.handedOver++;
			const isStored = this.status === 'waiting' && (!items || this.storeFailures-- <= 0);
			if (items && isStored) this.end(structuredClone(items));
			if (result.noWebhookResponse) return;
			if (isStored) response.json(result.webhookResponse).close();
			else response.status(500).json({}).close();
		});
		await Promise.race([answered, handled]);
		return { status: response.statusCode, answer: response.answer };
	}

	private startWaiting(waitTill: number): void {
		this.status = 'waiting';
		// What n8n stores is a copy.
		this.stored = structuredClone(this.stored);
		const until = new Date(waitTill).getTime();
		if (Number.isNaN(until)) throw new Error('n8n never wakes this execution');
		setTimeout(() => {
			if (this.status === 'waiting') this.end(this.stored.input);
		}, until - Date.now());
	}

	private end(items: INodeExecutionData[]): void {
		this.status = 'done';
		this.outputs.push(items);
		this.endedAt = Date.now();
	}

	private get base() {
		const { service, id } = this;
		const log = (line: string) => this.log.push(line);
		return {
			getNode: () => ({ id: 'node', name: NODE, type: 'mediaGeneration', typeVersion: 1.1 }),
			getWorkflow: () => ({ id: 'workflow', name: 'Workflow' }),
			getMode: () => 'trigger',
			getExecutionId: () => id,
			getCredentials: async () => ({ ...CREDENTIALS }),
			logger: { info: log, warn: log, error: log, debug: log },
			helpers: {
				httpRequestWithAuthentication: async (
					_type: string,
					{ url, body }: { url: string; body?: { input?: { item?: number } } },
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
		const { stored, parameters, id } = this;
		return {
			...this.base,
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
			getContext: () => stored.kept,
			getWorkflowDataProxy: () => ({ $runIndex: 0, $execution: { customData: { set() {} } } }),
			getWorkflowSettings: () => ({ executionOrder: 'v1' }),
			getExecutionCancelSignal: () => this.cancelled.signal,
			isToolExecution: () => false,
			continueOnFail: () => parameters.onError === true,
			addExecutionHints() {},
			setMetadata() {},
			evaluateExpression: () => `${RESUME_URL}${id}?signature=${RESUME_TOKEN}`,
			additionalData: { executionTimeoutTimestamp: this.deadline },
			putExecutionToWait: async (until?: Date) => {
				stored.waitTill = until?.getTime();
				if (this.parkingFails) throw new Error('No active execution found');
			},
		} as unknown as IExecuteFunctions;
	}

	private buildWebhookContext(
		{ input: items, kept }: typeof this.stored,
		body: IDataObject,
		headers: IDataObject,
		response: ReturnType<typeof makeResponse>,
	): IWebhookFunctions {
		const { parked, wait } = kept as { parked: object; wait: { settings: object } };
		return {
			...this.base,
			getHeaderData: () => headers,
			getBodyData: () => body,
			getQueryData: () => ({ signature: RESUME_TOKEN }),
			getResponseObject: () => response,
			evaluateExpression: () => ({ items, parked, settings: wait.settings }),
		} as unknown as IWebhookFunctions;
	}
}
