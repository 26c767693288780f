import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import type { Ledger, Sleep } from '../../../nodes/MediaGeneration/run/ledger';
import { buildContext, type Run } from '../n8n';
import { buildFileHelpers } from './fileHost.cts';

jest.mock('../../../nodes/MediaGeneration/host/waiter', () => ({ findWaiter: () => undefined }));
jest.mock('../../../nodes/MediaGeneration/host/reachability', () => ({
	findAnswerer: () => ({ who: 'n8n' }),
}));
jest.mock('../../../nodes/MediaGeneration/run/nap');

beforeEach(() => void jest.useFakeTimers({ now: 1e12 }));
afterEach(() => jest.useRealTimers());

/** How a task ends: with a file, one that its host refuses, with a failure, by silence, never; or how its creation does. */
export type Fate =
	| 'good'
	| 'expired'
	| 'failed'
	| 'silent'
	| 'endless'
	| 'refused'
	| 'unknown'
	| 'busy';

export interface Settings {
	/** The fates of each item's tasks, one creation after the other; the last one stays. */
	items: Fate[][];
	onError?: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	/** 0: no Retry On Fail. */
	maxTries?: number;
	failedTasks?: 'error' | 'output';
	options?: object;
	operation?: 'generate' | 'start' | 'wait';
	/** Of the node's context: how an agent calls it, or what stops it. */
	agent?: Run;
	/** What its expressions make of an item, or why they can't, in place of a new value in each call. */
	read?: (item: number) => object;
	/** The execution sleeps where it may. */
	sleeps?: boolean;
}

/** A creation: its item, and what the item's expressions had made of it. */
interface Sent {
	item: number;
	executionId: string;
	input: object;
	callBackUrl?: string;
}

const MINUTE = 60_000;
const TOKEN = 'resume-token';

let executions = 0;
let accounts = 0;

/** An account of the service, which keeps its tasks. */
export class Account {
	/** Each has its own: limits of its rate outlive a test, whose clock begins anew. */
	readonly token = `token-${++accounts}`;
	/** What was sent for each item, in order; not all became tasks. */
	readonly sent: Array<Sent & { taskId?: string }> = [];
	readonly fates = new Map<string, Fate>();
	/** What was asked, in order: for credits, and to create tasks. */
	readonly asked: string[] = [];
	/** The requests for files. */
	readonly files: string[] = [];
	credits = 1_000;
	/** Runs while a creation is answered. */
	onCreation?: (item: number) => void | Promise<void>;

	constructor(private readonly items: Fate[][]) {}

	listIds(item: number): string[] {
		return this.sent.flatMap((one) => (one.item === item ? (one.taskId ?? []) : []));
	}

	/** Counts what was sent for each item. */
	count(): number[] {
		return this.items.map((_, item) => this.sent.filter((one) => one.item === item).length);
	}

	async create({ item, ...more }: Sent): Promise<object> {
		this.asked.push(`create ${item}`);
		const before = this.sent.filter((one) => one.item === item);
		const fates = this.items[item] ?? [];
		const fate = fates[Math.min(before.length, fates.length - 1)] as Fate;
		const isTask = !['refused', 'unknown', 'busy'].includes(fate);
		const taskId = isTask ? `task-${item}-${before.length + 1}` : undefined;
		this.sent.push({ item, ...more, taskId });
		await this.onCreation?.(item);
		if (taskId) this.fates.set(taskId, fate);
		if (fate === 'refused') return { statusCode: 200, body: '{"code":422,"msg":"no"}' };
		if (fate === 'busy')
			return { statusCode: 200, body: '{"code":402,"msg":"Credits insufficient"}' };
		if (fate === 'unknown') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
		return say({ taskId });
	}

	/** Returns what the service says of a task. */
	look(taskId: string): { statusCode: number; body: string } {
		const resultUrls = [`https://files.example/${taskId}.png`];
		switch (this.fates.get(taskId)) {
			case 'good':
			case 'expired':
				return say({ taskId, state: 'success', resultJson: { resultUrls } });
			case 'failed':
				return say({ taskId, state: 'fail', failCode: '501', failMsg: `blocked ${taskId}` });
			case 'silent':
				return { statusCode: 200, body: '{"code":408,"msg":"upstream is silent"}' };
			default:
				return say({ taskId, state: 'generating' });
		}
	}

	hasEnded(taskId: string): boolean {
		return this.fates.get(taskId) !== 'endless' && this.fates.get(taskId) !== undefined;
	}
}

const say = (data: object) => ({ statusCode: 200, body: JSON.stringify({ code: 200, data }) });

/** What came of a run of the node, with all of n8n's tries. */
export interface Came {
	error?: Error & { description?: string };
	output: INodeExecutionData[];
	/** What n8n's error output gets. */
	errors: INodeExecutionData[];
	sleeps: boolean;
	/** How often n8n called the node. */
	calls: number;
}

/** An execution with our node, as n8n runs it, repeats it, lets it sleep, and wakes it. */
export class NodeExecution {
	kept: { run?: Ledger };
	readonly id = String(++executions);
	readonly hints: string[] = [];
	/** What n8n has in its log. */
	readonly log: string[] = [];
	/** What n8n keeps of an execution that is stopped. */
	readonly customData = new Map<string, string>();
	/** The items whose credentials were read, in order. */
	readonly credentials: number[] = [];
	/** What n8n does when a credential is read, or the node falls asleep, beside that; it may throw. */
	onCredential?: () => void;
	onSleep?: () => void;
	resumeUrl = 'https://n8n.example/webhook-waiting/1';
	/** How often its expressions were read: they return another value each time. */
	private reads = 0;
	data: { main: INodeExecutionData[][] };
	private sleepsUntil?: number;
	/** Runs between two tries of n8n. */
	betweenTries?: () => void | Promise<void>;

	constructor(
		readonly account: Account,
		readonly settings: Settings,
		kept: object = {},
		private readonly input: INodeExecutionData[] = settings.items.map((_, item) => ({
			json: { item },
		})),
	) {
		this.kept = kept;
		this.data = { main: [[...this.input]] };
	}

	get ledger(): Ledger {
		return this.kept.run as Ledger;
	}

	/** Runs the node, and lets all time pass that it waits. */
	async run(): Promise<Came> {
		const { maxTries = 0, onError } = this.settings;
		const most = maxTries ? Math.min(5, Math.max(2, maxTries)) : 1;
		const came: Came = { output: [], errors: [], sleeps: false, calls: 0 };
		// As `workflow-execute.js` of n8n does.
		for (let index = 0; index < most; index++) {
			came.error = undefined;
			try {
				if (index) await this.betweenTries?.();
				let output = await this.call(came);
				while (output[0]?.json.error && index < most - 1) {
					await this.betweenTries?.();
					output = await this.call(came);
					index++;
				}
				came.output = output;
				break;
			} catch (error) {
				came.error = error as Error;
			}
		}
		came.sleeps = this.sleepsUntil !== undefined;
		if (came.sleeps) this.kept = copy(this.kept);
		const isError = ({ json }: INodeExecutionData) =>
			json.error && Object.keys(json).every((key) => ['error', 'message', 'details'].includes(key));
		if (onError !== 'continueErrorOutput') return came;
		return {
			...came,
			output: came.output.filter((item) => !isError(item)),
			errors: came.output.filter(isError),
		};
	}

	/** The node is called as n8n does it once. */
	private async call(came: Came): Promise<INodeExecutionData[]> {
		came.calls++;
		this.sleepsUntil = undefined;
		const done = executeOperation(this.buildContext()).then(
			([output = []]) => ({ output }),
			(error: unknown) => ({ error }),
		);
		let isDone = false;
		void done.then(() => (isDone = true));
		for (let passed = 0; !isDone && passed < 100; passed++)
			await jest.advanceTimersByTimeAsync(MINUTE / 4);
		const result = await done;
		if ('error' in result) throw result.error;
		return result.output;
	}

	/** A webhook wakes the execution, when its tasks have ended or its limit has passed. */
	async wake(): Promise<Came> {
		this.noteWoken(this.kept);
		return await this.run();
	}

	/** Notes in what n8n has stored that a webhook wakes the run. */
	noteWoken(kept: { run?: Ledger }): void {
		const { run: ledger } = kept;
		const sleep = ledger?.sleep as Sleep;
		const taskIds = ledger?.entries.flatMap(({ attempts }) => attempts.at(-1)?.taskId ?? []) ?? [];
		const isOver = taskIds.every((taskId) => this.account.hasEnded(taskId));
		if (!isOver) jest.setSystemTime((ledger?.begun ?? 0) + (ledger?.settings?.limit ?? 0));
		sleep.woken = true;
		this.data = { main: [[...this.input]] };
	}

	/** The user retries it from the list of executions, with the workflow as it is saved now. */
	retry(settings: Partial<Settings> = {}): NodeExecution {
		return new NodeExecution(
			this.account,
			{ ...this.settings, ...settings },
			copy(this.kept),
			this.input,
		);
	}

	/** The node's next run in the execution, as in a loop. */
	loop(): NodeExecution {
		const { agent } = this.settings;
		const next = { ...agent, run: (agent?.run ?? 0) + 1 };
		const settings = { ...this.settings, agent: next };
		const loop = new NodeExecution(this.account, settings, this.kept, this.input);
		return Object.assign(loop, { id: this.id });
	}

	/** The same execution, as another process or another slot of n8n runs it with other data. */
	withData(kept: object): NodeExecution {
		const other = new NodeExecution(this.account, this.settings, kept, this.input);
		Object.assign(other, { id: this.id });
		return other;
	}

	/** What expressions make of an item: another value in each call, and the same again in a retry. */
	private read(item: number): object {
		const sent = this.account.sent.filter((one) => one.item === item);
		const before = sent.filter(({ executionId }) => executionId !== this.id).at(-1);
		return before?.input ?? { item, prompt: `read ${++this.reads}` };
	}

	private buildContext(): IExecuteFunctions {
		const { account, settings, data } = this;
		const { onError, maxTries = 0, failedTasks, operation = 'generate' } = settings;
		const read = settings.read ?? ((item: number) => this.read(item));
		const log = (line: string) => void this.log.push(line);
		const { type = 'mediaGeneration', ...run } = settings.agent ?? {};
		const { helpers } = buildFileHelpers(({ url }) => {
			account.files.push(url);
			const taskId = /(task-[\d-]+)\.png/.exec(url)?.[1] ?? '';
			return account.fates.get(taskId) === 'good'
				? { headers: { 'content-type': 'image/png' }, chunks: [Buffer.from('file')] }
				: { statusCode: 403 };
		});
		const request = async (_: string, { url, body }: Request) => {
			if (url.endsWith('/jobs/createTask') && body) {
				const { input, callBackUrl } = body;
				const { item } = input;
				return await account.create({ item, executionId: this.id, input, callBackUrl });
			}
			if (url.includes('/api/v1/jobs/recordInfo'))
				return account.look(new URL(url).searchParams.get('taskId') ?? '');
			if (url.includes('credit')) account.asked.push('credits');
			if (url.includes('credit'))
				return { statusCode: 200, body: JSON.stringify({ code: 200, data: account.credits }) };
			return { statusCode: 404, body: '{"code":404,"msg":"none"}' };
		};
		const options = {
			tasksPer10Seconds: 0,
			concurrency: 1,
			howToWait: settings.sleeps ? 'callback' : 'polling',
			waitLimit: 1,
			agentWait: 1,
			...(failedTasks && { failedTasks }),
			...settings.options,
		};
		const parameters: IDataObject = {
			resource: 'task',
			operation,
			model: 'any',
			anyModel: 'a/b',
			inputMode: 'json',
			options,
		};
		const node = {
			id: 'node',
			name: 'Node',
			type,
			parameters: {},
			onError,
			retryOnFail: maxTries > 0,
			maxTries,
		};
		const context = buildContext(
			{ kept: this.kept, goesOn: onError?.startsWith('continue'), executionId: this.id, ...run },
			{
				getNode: () => node,
				getInputData: () => data.main[0],
				getExecuteData: () => ({ data }),
				getNodeParameter: (name: string, item: number, fallback: unknown) => {
					const json = data.main[0]?.[item]?.json;
					if (name === 'anyInput') return read(item);
					return name === 'taskId' ? json?.taskId : (parameters[name] ?? fallback);
				},
				getCredentials: async (_: string, item: number) => {
					this.credentials.push(item);
					this.onCredential?.();
					return { baseUrl: 'https://api.example', accessToken: account.token };
				},
				getWorkflow: () => ({ id: 'workflow', name: 'Films' }),
				getWorkflowSettings: () => ({}),
				getWorkflowDataProxy: () => ({
					$runIndex: run.run ?? 0,
					$execution: { customData: this.customData },
				}),
				logger: { info: log, warn: log },
				addExecutionHints: ({ message }: { message: string }) => this.hints.push(message),
				putExecutionToWait: async (until: Date) => {
					this.onSleep?.();
					this.sleepsUntil = until.getTime();
				},
				helpers: {
					...helpers,
					httpRequestWithAuthentication: request,
					constructExecutionMetaData: (items: object[], { itemData }: { itemData: object }) =>
						items.map((item) => ({ ...item, pairedItem: itemData })),
				},
			},
		);
		// n8n has it beside its documented API.
		return Object.assign(context, {
			additionalKeys: { $execution: { resumeUrl: this.resumeUrl } },
			runExecutionData: { resumeToken: TOKEN },
		});
	}
}

/** Wakes an execution until it sleeps no more. @param came of its last run */
export async function finish(execution: NodeExecution, came: Came): Promise<Came> {
	let last = came;
	for (let sleeps = 0; last.sleeps && sleeps < 20; sleeps++) last = await execution.wake();
	return last;
}

export const readStatuses = ({ output }: Came) => output.map(({ json }) => json.status);

/** What n8n has stored, as another slot or process reads it. */
export const copy = <Kept extends object>(kept: Kept): Kept =>
	JSON.parse(JSON.stringify(kept)) as Kept;

interface Request {
	url: string;
	body?: { input: { item: number }; callBackUrl?: string };
}
