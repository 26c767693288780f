import { randomUUID } from 'crypto';
import {
	type IExecuteFunctions,
	type INodeExecutionData,
	type IWebhookFunctions,
	type NodeExecutionHint,
} from 'n8n-workflow';
import { UnknownOutcomeError, type UnknownOutcome } from '../api/failure';
import { newTask, type StoredTask, type Task } from '../api/task';
import { getNodeContext, isMixedUp, isTool, showInExecution } from '../host/execution';
import { readResumeSecrets } from '../host/resumeUrl';
import { readNodeContext } from '../host/sleep';
import { BoundedMap } from '../lib/boundedMap';
import { NODE_NAME } from '../lib/brand';
import { digest } from '../lib/json';
import { digestCall, openShared, type Shared } from './agentCalls';
import { restoreError } from './errors';
import type { Failed, Failures } from './operation';

/** What was sent for one item: the task's ID, or why it's unknown whether a task was created. */
interface Sent {
	/** Digest of the request. */
	request: string;
	model: string;
	/** The execution in its idempotency key: this one, or the first that this one retries. */
	origin: string;
	taskId?: string;
	unknown?: UnknownOutcome;
	/** It is of an earlier execution, and the service calls that one's resume URL. */
	elsewhere?: boolean;
}

/** A task from an earlier try or execution. It takes the place of the item's request. */
export type RecalledTask = Pick<Sent, 'model' | 'elsewhere'> & { taskId: string };

/** The wait of a run. Retry On Fail continues it, with the same limit. */
export interface Wait<Settings> {
	settings: Settings;
	/** When all tasks were created, in milliseconds since 1970. */
	begun?: number;
	/** Present while the execution sleeps. */
	asleep?: Sleep;
}

/** What a run keeps for its continuation while the execution sleeps. */
export interface Sleep {
	/** Counts the sleeps of the node in this execution. */
	number: number;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
	/** The input of the node: n8n stores other items in its place. */
	input: Array<INodeExecutionData[] | null>;
	/** The errors of the items that have no task, by item. */
	failures: Failures;
	/** The hints of the run so far. */
	hints?: NodeExecutionHint[];
	/** What may keep callbacks away, as the end of a sentence. */
	obstacle?: string;
	/** The tasks that have ended, once a webhook wakes the execution. Only a webhook sets it. */
	woken?: StoredTask[];
}

/** What n8n keeps with the execution. */
interface Stored {
	run: number;
	executionId: string;
	sent: Record<number, Sent>;
	wait?: Wait<unknown>;
	/** What the executions sent that this one retries. */
	earlier?: Stored['sent'];
	shared: Shared;
}

/** The entry of the node's context. */
const ENTRY = 'run';

/** What this process remembers of a run. */
type Remembered = Pick<Stored, 'sent' | 'shared'> & { settings?: unknown };

/**
 * The runs of this process. Where an execution waits long for a slot of the concurrency limit, n8n
 * may run it again with the data of before (`wait-tracker.js`, 2.41.1): its tasks exist all the same.
 */
const runsHere = new BoundedMap<string, Remembered>(10_000);

/** The part of a request to create a task that tells it from others. */
interface Request {
	model: string;
	input: object;
}

const records = new WeakMap<IExecuteFunctions, RunRecord>();

/** Opens the record of a run, once for each try: n8n's data proxy is slow. */
export function openRecord(context: IExecuteFunctions): RunRecord {
	const record = records.get(context) ?? new RunRecord(context);
	records.set(context, record);
	return record;
}

/**
 * Remembers what a run of the node has sent, item by item. The same run of the same execution is
 * another try of n8n, the same run of another execution is its retry, anything else is new
 * (docs/generate.md, "What n8n repeats").
 */
export class RunRecord {
	/** The sleep that this run was woken from. */
	readonly woken?: Sleep;
	private readonly stored: Stored;

	constructor(private readonly context: IExecuteFunctions) {
		// What n8n keeps under the number of a call that it mixes up is another call's.
		const kept = isMixedUp(context) ? undefined : getNodeContext(context);
		this.stored = continueRecord(kept?.[ENTRY] as Stored | undefined, context);
		if (kept) kept[ENTRY] = this.stored;
		remember(context, this.stored);
		context.getExecutionCancelSignal()?.addEventListener('abort', this.showTaskIds, { once: true });
		const { wait } = this.stored;
		if (!wait?.asleep?.woken) return;
		this.woken = wait.asleep;
		// n8n need not store it any longer.
		delete wait.asleep;
	}

	/** Recalls an item's task or error, before its expressions are read: they may return others. */
	recall(item: number): RecalledTask | Failed | undefined {
		const { sent, shared } = this.stored;
		const known = sent[item];
		if (known?.unknown) return { error: new UnknownOutcomeError(known.unknown) };
		if (known) return known as RecalledTask;
		const failure = this.woken?.failures[item];
		if (failure) return { error: restoreError(failure) };
		const unknown =
			isTool(this.context) && shared.unknownCalls[digestCall(this.context.getInputData()[item])];
		return unknown ? { error: new UnknownOutcomeError(unknown) } : undefined;
	}

	/** Finds the task of the same request for an item in the execution that this one retries. */
	findSame(item: number, request: Request): RecalledTask | undefined {
		const place = this.stored.earlier?.[item];
		const isSame = place?.taskId !== undefined && place.request === digestRequest(request);
		if (!isSame) return undefined;
		// It stays the task of this item, whatever its expressions return at the next try.
		return (this.stored.sent[item] = { ...place, elsewhere: true }) as RecalledTask;
	}

	/** Notes that a task exists. From now on its ID can be found, whatever happens. */
	addTask(item: number, request: Request, taskId: string): void {
		this.add(item, request, { taskId });
		this.context.logger.info(`${this.describe(item)} created task ${taskId}`);
	}

	addUnknown(item: number, request: Request, unknown: UnknownOutcome): void {
		this.add(item, request, { unknown });
		if (isTool(this.context))
			this.stored.shared.unknownCalls[digestCall(this.context.getInputData()[item])] = unknown;
		const task = unknown.taskId ? `task ${unknown.taskId}` : 'a task';
		this.context.logger.warn(`${this.describe(item)} may have created ${task}: ${unknown.message}`);
	}

	/** Makes a creation's idempotency key of place, account and body; random without a place. */
	buildIdempotencyKey(item: number, account: string, body: Request): string {
		const { context } = this;
		const origin = this.findOrigin(item);
		if (!origin) return randomUUID();
		const place = [context.getInstanceId(), context.getWorkflow().id, origin, context.getNode().id];
		return digest([...place, this.stored.run, item, account, body]);
	}

	hasSent(item: number): boolean {
		return this.stored.sent[item] !== undefined;
	}

	listTaskIds(): string[] {
		return Object.values(this.stored.sent).flatMap(({ taskId }) => taskId ?? []);
	}

	findTaskId(item: number): string | undefined {
		return this.stored.sent[item]?.taskId;
	}

	get shared(): Pick<Shared, 'count'> {
		return this.stored.shared;
	}

	/** The sleep of this run, from which no webhook has woken it. */
	get asleep(): Sleep | undefined {
		return this.stored.wait?.asleep;
	}

	/** Notes that the run sleeps. */
	sleep<Settings>(sleep: Omit<Sleep, 'number'>): SleepingRun<Settings> {
		const wait = this.stored.wait as Wait<Settings>;
		const asleep = { number: ++this.stored.shared.sleeps, ...sleep };
		wait.asleep = asleep;
		return toSleepingRun(this.stored, wait, asleep);
	}

	/** Opens the wait of the run, or of an earlier try. */
	openWait<Settings>(read: () => Settings): Wait<Settings> {
		this.stored.wait ??= { settings: read() };
		remember(this.context, this.stored);
		return this.stored.wait as Wait<Settings>;
	}

	private add(item: number, request: Request, outcome: Pick<Sent, 'taskId' | 'unknown'>): void {
		const { model } = request;
		const origin = this.findOrigin(item);
		this.stored.sent[item] = { request: digestRequest(request), model, origin, ...outcome };
	}

	/** An item of unknown outcome keeps its key in a retry, so that it isn't charged twice. */
	private findOrigin(item: number): string {
		const place = this.stored.earlier?.[item];
		return place?.unknown ? place.origin : this.stored.executionId;
	}

	private describe(item: number): string {
		const { id = 'none' } = this.context.getWorkflow();
		const execution = this.stored.executionId || 'none';
		return `"${this.context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item})`;
	}

	private readonly showTaskIds = (): void => {
		const taskIds = this.listTaskIds().join(', ');
		if (taskIds) showInExecution(this.context, `${NODE_NAME.replaceAll(' ', '_')}_tasks`, taskIds);
	};
}

/** Continues the record of another try, begins the one of a retry, or a new one. */
function continueRecord(before: Stored | undefined, context: IExecuteFunctions): Stored {
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	// A call of an MCP server has no execution ID, and must not look like an earlier execution.
	const executionId = (context.getExecutionId() as string | undefined) ?? '';
	const isSameExecution = before?.executionId === executionId;
	if (isSameExecution && before.run === run) return before;
	const known = runsHere.get(identifyRun(context, { executionId, run }));
	if (known) {
		const { sent, shared, settings } = known;
		return { run, executionId, sent, shared, wait: settings ? { settings } : undefined };
	}
	const shared = isSameExecution ? before.shared : openShared(context);
	const begun: Stored = { run, executionId, sent: {}, shared };
	if (isSameExecution || before?.run !== run) return begun;
	return { ...begun, earlier: { ...before.earlier, ...before.sent } };
}

/** Identifies a run by n8n's secret of the execution; blank without one, and for an agent's calls. */
function identifyRun(
	context: IExecuteFunctions,
	{ executionId, run }: Pick<Stored, 'executionId' | 'run'>,
): string {
	const { token } = readResumeSecrets(context);
	if (!token || isTool(context)) return '';
	return digest([token, executionId, context.getNode().name, run]);
}

function remember(context: IExecuteFunctions, stored: Stored): void {
	const key = identifyRun(context, stored);
	const { sent, shared, wait } = stored;
	if (key) runsHere.set(key, { sent, shared, settings: wait?.settings });
}

const digestRequest = ({ model, input }: Request): string => digest([model, input]);

/** The run that sleeps where a webhook is called. */
export interface SleepingRun<Settings> {
	tasks: Task[];
	settings: Settings;
	asleep: Sleep;
}

/** Reads the record of the run that sleeps where a webhook is called; undefined if none does. */
export function readSleepingRun<Settings>(
	context: IWebhookFunctions,
): SleepingRun<Settings> | undefined {
	const stored = readNodeContext(context)?.[ENTRY] as Stored | undefined;
	const wait = stored?.wait as Wait<Settings> | undefined;
	return stored && wait?.asleep ? toSleepingRun(stored, wait, wait.asleep) : undefined;
}

const toSleepingRun = <Settings>(
	{ sent }: Stored,
	{ settings }: Wait<Settings>,
	asleep: Sleep,
): SleepingRun<Settings> => ({
	tasks: Object.values(sent).flatMap(({ taskId, model }) => (taskId ? newTask(taskId, model) : [])),
	settings,
	asleep,
});
