import { randomUUID } from 'crypto';
import { UserError, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';
import type { CreateTaskRequest, TaskService } from '../api/client';
import { CREDENTIAL, identifyAccount } from '../api/endpoints';
import { UnknownOutcomeError, type UnknownOutcome } from '../api/errors';
import { getNodeContext } from '../host/nodeContext';
import { isTool } from '../host/starter';
import { BoundedMap } from '../lib/boundedMap';
import { digest } from '../lib/json';
import { cutText } from '../lib/text';
import type { Failed, RecalledTask } from './operation';

/** What was sent for one item: the task's ID, or why it's unknown whether a task was created. */
interface Sent {
	/** Digest of the request. */
	request: string;
	model: string;
	/** Digest of base URL and access token. */
	account: string;
	/** The execution in its idempotency key: this one, or the first that this one retries. */
	origin: string;
	taskId?: string;
	unknown?: UnknownOutcome;
	/** The task was taken over from an earlier execution. The service calls that one's resume URL. */
	elsewhere?: true;
}

type SentItems = Record<number, Sent>;

/** The wait of a run. Retry On Fail continues it, with the same limit. */
export interface Wait<Settings> {
	settings: Settings;
	/** When all tasks were created, in milliseconds since 1970. */
	begun?: number;
	/** The wait limit, in milliseconds since 1970; set once the execution is parked. */
	parkedUntil?: number;
	/** Where callbacks are sent, without the token, which n8n keeps. */
	resumeUrl?: string;
}

/** What all runs of a node share in one execution. */
interface Shared {
	/** The number of tasks that it has sent. */
	count: number;
	/** The calls of an agent whose outcome is unknown, by a digest of what its model asked for. */
	unknownCalls: Record<string, UnknownOutcome>;
}

/** What n8n keeps with the execution. */
interface Stored {
	run: number;
	executionId: string;
	sent: SentItems;
	wait?: Wait<unknown>;
	/** Of the execution that this one retries. */
	earlier?: { sent: SentItems; wait?: Wait<unknown> };
	shared: Shared;
}

/** The entry of the node's context. */
const ENTRY = 'run';

/** Where a webhook finds the wait in the node's context. */
export const STORED_WAIT = `${ENTRY}.wait`;

/** The request of an item, and the service that it goes to. */
export interface Sending {
	index: number;
	request: Pick<CreateTaskRequest, 'model' | 'input'>;
	service: TaskService;
}

const records = new WeakMap<IExecuteFunctions, RunRecord>();

/** Opens the record of a run, once for each try, because n8n's data proxy is slow. */
export function openRecord(context: IExecuteFunctions): RunRecord {
	const record = records.get(context) ?? new RunRecord(context);
	records.set(context, record);
	return record;
}

/**
 * Remembers what a run of the node has sent, item by item. n8n may repeat a run: the same run of the
 * same execution is another try, the same run of another execution is its retry, and anything else
 * is new. An item that was sent is recalled before its expressions are read, and never sent again by
 * n8n's own repeats. docs/generate.md, "What n8n repeats", has the whole table.
 */
export class RunRecord {
	private readonly stored: Stored;

	constructor(private readonly context: IExecuteFunctions) {
		const kept = getNodeContext(context);
		const before = kept?.[ENTRY] as Stored | undefined;
		this.stored = continueRecord(before, identifyRun(context), () => openShared(context));
		if (kept) kept[ENTRY] = this.stored;
	}

	/**
	 * Recalls an item without its request, so it needs none of its expressions.
	 * @returns its task or error from an earlier try or execution; undefined if nothing is known of it
	 */
	recall(item: number): RecalledTask | Failed | undefined {
		const { sent, earlier, shared } = this.stored;
		const own = sent[item];
		if (own) return toRecalled(own);
		const unknown = isTool(this.context) && shared.unknownCalls[this.digestCall(item)];
		if (unknown) return { error: new UnknownOutcomeError(unknown) };
		if (!earlier) return undefined;
		const json = this.readInput(item);
		const place = Object.values(earlier.sent).find(
			({ taskId }) => taskId && taskId === json.taskId,
		);
		if (place) return this.takeOver(item, place);
		const hasParked = earlier.wait?.parkedUntil !== undefined;
		return hasParked && isErrorItem(json) ? { error: restoreError(json) } : undefined;
	}

	/** Finds the task that an item has from the execution that this one retries, for the same request. */
	findSame(item: number, request: Sending['request']): RecalledTask | undefined {
		const place = this.stored.earlier?.sent[item];
		const isSame = place?.taskId !== undefined && place.request === digestRequest(request);
		return isSame ? this.takeOver(item, place) : undefined;
	}

	/** Notes that a task exists. From now on its ID can be found, whatever happens to the run. */
	addTask(sending: Sending, taskId: string): void {
		this.add(sending, { taskId });
		this.context.logger.info(`${this.describe(sending.index)} created task ${taskId}`);
		showWhenStopped(this.context, taskId);
	}

	/** Notes a sending whose outcome is unknown. */
	addUnknown(sending: Sending, unknown: UnknownOutcome): void {
		this.add(sending, { unknown });
		if (isTool(this.context))
			this.stored.shared.unknownCalls[this.digestCall(sending.index)] = unknown;
		const named = unknown.taskId ? ` (the service named it ${unknown.taskId})` : '';
		this.context.logger.warn(
			`${this.describe(sending.index)} may have created a task${named}: ${unknown.message}`,
		);
	}

	/**
	 * Makes the idempotency key of a creation from its place, account and body. Without an execution
	 * there is no place, so each creation has a random key.
	 */
	buildIdempotencyKey(item: number, service: TaskService, body: CreateTaskRequest): string {
		const { context } = this;
		const origin = this.findOrigin(item);
		if (!origin) return randomUUID();
		const place = [context.getInstanceId(), context.getWorkflow().id, origin, context.getNode().id];
		return digest([...place, this.stored.run, item, identifyAccount(service.credentials), body]);
	}

	/** Lists the tasks that this run has, in the order of their items. */
	listTaskIds(): string[] {
		return Object.values(this.stored.sent).flatMap(({ taskId }) => taskId ?? []);
	}

	/** Finds the task that an item has in this run. */
	findTaskId(item: number): string | undefined {
		return this.stored.sent[item]?.taskId;
	}

	/** The tasks that the node has sent in this execution, over all its runs. */
	get shared(): Pick<Shared, 'count'> {
		return this.stored.shared;
	}

	/**
	 * Opens the wait of the run, or the one of an earlier try. Where the execution that this one retries
	 * had parked, its settings count, because the input is what it parked.
	 * @param read reads the settings from the node's parameters
	 */
	openWait<Settings>(read: () => Settings): Wait<Settings> {
		const { earlier } = this.stored;
		const before = earlier?.wait?.parkedUntil === undefined ? undefined : earlier.wait;
		this.stored.wait ??= { settings: before ? before.settings : read() };
		return this.stored.wait as Wait<Settings>;
	}

	/** The wait of the run, once it is open. */
	get wait(): Wait<unknown> | undefined {
		return this.stored.wait;
	}

	/** Makes the task the one of this item, whatever its expressions return at the next try. */
	private takeOver(item: number, place: Sent): RecalledTask {
		const own: Sent = { ...place, elsewhere: true };
		this.stored.sent[item] = own;
		return toRecalled(own) as RecalledTask;
	}

	private add(
		{ index, request, service }: Sending,
		outcome: Pick<Sent, 'taskId' | 'unknown'>,
	): void {
		this.stored.sent[index] = {
			request: digestRequest(request),
			model: request.model,
			account: identifyAccount(service.credentials),
			origin: this.findOrigin(index),
			...outcome,
		};
	}

	/** An item of unknown outcome keeps its key in a retry, so the service doesn't charge it twice. */
	private findOrigin(item: number): string {
		const place = this.stored.earlier?.sent[item];
		return place?.unknown ? place.origin : this.stored.executionId;
	}

	private describe(item: number): string {
		const { executionId } = this.stored;
		const where = getNodeContext(this.context)
			? `workflow ${this.context.getWorkflow().id}, execution ${executionId || 'without ID'}, item ${item}`
			: "a tool of n8n's Agents";
		return `"${this.context.getNode().name}" (${where})`;
	}

	private readInput(item: number): IDataObject {
		return this.context.getInputData()[item]?.json ?? {};
	}

	/** Digests what the agent's model asked for. n8n numbers its calls; the number is left out. */
	private digestCall(item: number): string {
		const { toolCallId, ...asked } = this.readInput(item);
		return digest(asked);
	}
}

/** A call of an MCP server has no execution ID, and must not look like an earlier execution. */
const identifyRun = (context: IExecuteFunctions): Pick<Stored, 'run' | 'executionId'> => ({
	run: context.getWorkflowDataProxy(0).$runIndex as number,
	executionId: (context.getExecutionId() as string | undefined) ?? '',
});

/** Continues the record of another try, begins the one of a retry, or a new one. */
function continueRecord(
	before: Stored | undefined,
	now: Pick<Stored, 'run' | 'executionId'>,
	open: () => Shared,
): Stored {
	const isSameExecution = before?.executionId === now.executionId;
	if (isSameExecution && before.run === now.run) return before;
	if (isSameExecution) return { ...now, sent: {}, shared: before.shared };
	if (before?.run !== now.run) return { ...now, sent: {}, shared: open() };
	const earlier = {
		sent: { ...before.earlier?.sent, ...before.sent },
		wait: before.wait ?? before.earlier?.wait,
	};
	return { ...now, sent: {}, earlier, shared: open() };
}

/** Calls without an execution share what they know this long, in milliseconds. */
const SHARED_FOR = 3_600_000;

const sharedByTool = new BoundedMap<string, Shared & { until: number }>(10_000);

/**
 * Opens what the runs of an execution share. Without one, this process keeps it for an hour: the calls
 * of one tool have the same parameters, as its owner set them, and the same credential.
 */
function openShared(context: IExecuteFunctions): Shared {
	const begin = (): Shared => ({ count: 0, unknownCalls: {} });
	if (getNodeContext(context)) return begin();
	const { parameters, credentials } = context.getNode();
	const tool = digest([parameters, credentials?.[CREDENTIAL]]);
	const known = sharedByTool.get(tool);
	if (known && known.until > Date.now()) return known;
	const begun = { ...begin(), until: Date.now() + SHARED_FOR };
	sharedByTool.set(tool, begun);
	return begun;
}

const digestRequest = ({ model, input }: Sending['request']): string => digest([model, input]);

function toRecalled({ taskId, model, account, unknown, elsewhere }: Sent): RecalledTask | Failed {
	if (taskId === undefined) return { error: new UnknownOutcomeError(unknown as UnknownOutcome) };
	return { taskId, model, account, elsewhere: elsewhere === true };
}

/** Recognizes an error item of `toErrorItem`. */
const isErrorItem = (json: IDataObject): boolean =>
	typeof json.error === 'string' &&
	Object.keys(json).every((key) => key === 'error' || key === 'message');

/** Makes the error of an error item again. Its item number is added again at the output. */
const restoreError = ({ error, message }: IDataObject): UserError =>
	new UserError(String(error).replace(/ \[item \d+\]$/, ''), {
		description: typeof message === 'string' ? message : undefined,
	});

/** The IDs of the tasks that an execution has created, newest first, by the signal that stops it. */
const createdIds = new WeakMap<AbortSignal, string[]>();

/** n8n logs an error for longer custom data, in characters. */
const LONGEST_CUSTOM_DATA = 255;

/**
 * Shows the newest IDs in the executions list if the execution is stopped. n8n then drops what the
 * node returned, but saves its custom data.
 */
function showWhenStopped(context: IExecuteFunctions, taskId: string): void {
	const signal = context.getExecutionCancelSignal();
	const known = signal && createdIds.get(signal);
	if (!signal || known) return void known?.unshift(taskId);
	const ids = [taskId];
	createdIds.set(signal, ids);
	const show = () =>
		(
			context.getWorkflowDataProxy(0).$execution as {
				customData: { set: (key: string, value: string) => void };
			}
		).customData.set('Media_Generation_tasks', cutText(ids.join(', '), LONGEST_CUSTOM_DATA));
	signal.addEventListener('abort', show, { once: true });
}
