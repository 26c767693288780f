import { randomUUID } from 'crypto';
import { UserError, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';
import type { CreateTaskRequest, TaskService } from '../../api/client';
import { identifyAccount } from '../../api/endpoints';
import { UnknownOutcomeError, type UnknownOutcome } from '../../api/errors';
import { digest } from '../../lib/json';
import type { ModelRequest } from '../../models/model';
import {
	getRunNotes,
	hasExecution,
	isTool,
	readExecutionId,
	readShared,
	writeShared,
} from '../nodeContext';
import type { Failed, KeyedCreation, LostCreation, RecalledTask } from '../operation';

/** What was sent for one item of one run: the task's ID, or why it's unknown whether a task was created. */
interface Place {
	/** The execution that sent it, or that has taken its task over. */
	executionId: string;
	/** The task was taken over from an earlier execution. The service calls that one's resume URL. */
	elsewhere?: true;
	/** Digest of the request. */
	request: string;
	model: string;
	/** Digest of base URL and access token. */
	account: string;
	taskId?: string;
	unknown?: UnknownOutcome;
	/** For an unknown outcome: the execution in its idempotency key. It is this one, or the one that it retries. */
	origin?: string;
}

type TaskPlace = Place & { taskId: string };

interface Kept {
	run: number;
	/** By item. */
	places: Record<number, Place>;
}

/** The request of an item, and the service that it goes to. */
interface Sending {
	index: number;
	request: Pick<ModelRequest, 'model' | 'input'>;
	service: TaskService;
}

const records = new WeakMap<IExecuteFunctions, CreationRecord>();

/**
 * Creations that may be sent again, by their place. They hold the callback URL, and n8n must not store its token twice. So they are
 * only in memory, and last while n8n repeats the run in this process.
 */
const lostCreations = new WeakMap<Place, LostCreation>();

/** Opens the record of a run. It is opened once for each try, because n8n's data proxy is slow. */
export function openRecord(context: IExecuteFunctions): CreationRecord {
	const record = records.get(context) ?? new CreationRecord(context);
	records.set(context, record);
	return record;
}

/**
 * Remembers what a run of the node has sent, by place: the run and the item. A place that has a task, or an unknown outcome, is
 * never sent again, whatever its expressions return now. It is recalled before they are read. With an idempotency header, a
 * creation of unknown outcome is sent again unchanged. n8n keeps the node's context with the execution. n8n repeats a run in these
 * cases (`workflow-execute.js` of n8n-core 2.41):
 * - Retry On Fail, after an error or when the first output item has `json.error`, also when the run has parked: the same run index.
 *   Expressions are evaluated again, so a random seed makes another request.
 * - Retry from the executions list: a new execution with the old one's context and run index. The user may have corrected the
 *   workflow, so a task counts only for the same request. An unknown outcome does not count, because the user has decided to send
 *   again. An equal body has the idempotency key of the first sending, so the service does not charge it twice.
 * - Retry of an execution that crashed after it had parked: the same, but the node's input is what it parked, or what its webhook
 *   output. An item that is one of the record's tasks stands for that task, and an error item for its error.
 * - Loops, and a node that is reached twice: another run index each time, so nothing is a repeat.
 * - Tools: outside of the newest agent, n8n raises the run index at each try (`get-input-connection-data.js`). A model may also ask
 *   again after it was told of an unknown outcome. So an unknown outcome is also recognized by what the model asked for.
 * - n8n's Agents: each call is run 0, without an execution. So places are not kept, and the next prompt gets a task of its own.
 *   Only unknown outcomes are shared.
 * - A partial execution, a sub-workflow that its caller runs again, and the retry of an execution that was stopped or crashed
 *   before it had parked begin with an empty context. n8n leaves nothing to recognize them by.
 */
export class CreationRecord {
	private readonly kept: Kept;
	private readonly executionId: string;
	/** The tasks of earlier executions, by their IDs. */
	private readonly earlier: Map<string, TaskPlace>;
	/** An earlier execution has parked this run, so the input is what it parked, or what resumed it. */
	private readonly hasParkedElsewhere: boolean;

	constructor(private readonly context: IExecuteFunctions) {
		const notes = getRunNotes(context);
		const run = context.getWorkflowDataProxy(0).$runIndex as number;
		const before = notes.creations as Kept | undefined;
		this.kept = {
			run,
			places: before?.run === run ? before.places : {},
		};
		notes.creations = this.kept;
		this.executionId = readExecutionId(context);
		this.earlier = new Map(
			Object.values(this.kept.places)
				.filter(hasTask)
				.filter(({ executionId }) => executionId !== this.executionId)
				.map((place) => [place.taskId, place]),
		);
		const parked = notes.parked as { run: number; executionId: string } | undefined;
		this.hasParkedElsewhere = parked?.run === run && parked.executionId !== this.executionId;
	}

	/**
	 * Recalls an item without its request, so it needs neither its credential nor its expressions.
	 * @returns its task, lost creation or error from an earlier try or execution; undefined if nothing is known of it
	 */
	recall(item: number): RecalledTask | LostCreation | Failed | undefined {
		const place = this.kept.places[item];
		if (place?.executionId === this.executionId) return toRecalled(place);
		const unknown = isTool(this.context) && readShared(this.context, this.nameUnknownCall(item));
		if (unknown) return { error: new UnknownOutcomeError(unknown as UnknownOutcome) };
		const json = this.readInput(item);
		const earlier = this.earlier.get(String(json.taskId));
		if (earlier) return this.takeOver(item, earlier);
		return this.hasParkedElsewhere && isErrorItem(json) ? { error: restoreError(json) } : undefined;
	}

	/** Finds the task that an item has from an earlier execution for the same request. */
	findSame({ index, request }: Omit<Sending, 'service'>): RecalledTask | undefined {
		const place = this.kept.places[index];
		if (!place || !hasTask(place)) return undefined;
		if (place.executionId === this.executionId) return toRecalledTask(place);
		return place.request === digestRequest(request) ? this.takeOver(index, place) : undefined;
	}

	/** Notes that a task exists. From now on its ID can be found, whatever happens to the run. */
	addTask(sending: Sending, taskId: string): void {
		this.add(sending, { taskId });
		this.context.logger.info(`${this.describe(sending.index)} created task ${taskId}`);
		keepForStop(this.context, taskId);
	}

	/**
	 * Makes the idempotency key of a creation from its place, account and body. The service recognizes the creation by it. Without
	 * an execution there is no place, so each creation has a random key.
	 */
	buildIdempotencyKey(index: number, service: TaskService, body: CreateTaskRequest): string {
		const execution = this.findOrigin(index);
		if (!execution) return randomUUID();
		const { id: workflow } = this.context.getWorkflow();
		const place = [this.context.getInstanceId(), workflow, execution, this.context.getNode().id];
		return digest([...place, this.kept.run, index, identifyAccount(service.credentials), body]);
	}

	/**
	 * Notes a sending whose outcome is unknown.
	 * @param lost what was sent, if it may be sent again
	 */
	addUnknown(sending: Sending, unknown: UnknownOutcome, lost?: KeyedCreation): void {
		const place = this.add(sending, { unknown, origin: this.findOrigin(sending.index) });
		if (lost) {
			const { account } = place;
			const { request } = sending;
			lostCreations.set(place, { ...lost, request, account, outcome: unknown });
		}
		if (isTool(this.context))
			writeShared(this.context, this.nameUnknownCall(sending.index), unknown);
		const { message, taskId } = unknown;
		const named = taskId ? ` (the service named it ${taskId})` : '';
		this.context.logger.warn(
			`${this.describe(sending.index)} may have created a task${named}: ${message}`,
		);
	}

	/** Lists the tasks that this run has, in the order of their items. */
	listTaskIds(): string[] {
		return Object.keys(this.kept.places).flatMap((item) => this.findTaskId(Number(item)) ?? []);
	}

	/** Finds the task that an item has in this execution. */
	findTaskId(item: number): string | undefined {
		const place = this.kept.places[item];
		return place?.executionId === this.executionId ? place.taskId : undefined;
	}

	/** Makes the task the one of this item in this execution, whatever its expressions return at the next try. */
	private takeOver(item: number, place: TaskPlace): RecalledTask {
		const own = { ...place, executionId: this.executionId, elsewhere: true as const };
		this.kept.places[item] = own;
		return toRecalledTask(own);
	}

	private add(
		{ index, request, service }: Sending,
		outcome: Pick<Place, 'taskId' | 'unknown' | 'origin'>,
	): Place {
		const place = {
			executionId: this.executionId,
			request: digestRequest(request),
			model: request.model,
			account: identifyAccount(service.credentials),
			...outcome,
		};
		this.kept.places[index] = place;
		return place;
	}

	/** Finds the execution that first sent an item's creation of unknown outcome, or else this one. */
	private findOrigin(index: number): string {
		const place = this.kept.places[index];
		return place?.unknown ? (place.origin ?? place.executionId) : this.executionId;
	}

	private describe(item: number): string {
		const { name } = this.context.getNode();
		const place = hasExecution(this.context)
			? `workflow ${this.context.getWorkflow().id}, execution ${this.executionId || 'without ID'}, item ${item}`
			: "a tool of n8n's Agents";
		return `"${name}" (${place})`;
	}

	private readInput(item: number): IDataObject {
		return this.context.getInputData()[item]?.json ?? {};
	}

	/** Names the note of an unknown outcome by what the agent's model asked for. n8n numbers its calls; the number is left out. */
	private nameUnknownCall(item: number): string {
		const asked = Object.entries(this.readInput(item)).filter(([key]) => key !== 'toolCallId');
		return `unknown ${digest(normalize(Object.fromEntries(asked)))}`;
	}
}

const digestRequest = ({ model, input }: Sending['request']): string => digest([model, input]);

const hasTask = (place: Place): place is TaskPlace => place.taskId !== undefined;

const toRecalledTask = ({ taskId, model, account, elsewhere }: TaskPlace): RecalledTask => ({
	taskId,
	model,
	account,
	elsewhere: elsewhere === true,
});

function toRecalled(place: Place): RecalledTask | LostCreation | Failed | undefined {
	if (hasTask(place)) return toRecalledTask(place);
	return (
		lostCreations.get(place) ?? (place.unknown && { error: new UnknownOutcomeError(place.unknown) })
	);
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

/**
 * Makes requests of a model equal that differ only in the order of keys, capitals, spaces or punctuation. Combining marks are kept,
 * because in many scripts they belong to the letters.
 */
function normalize(value: unknown): unknown {
	if (typeof value === 'string')
		return value
			.normalize('NFKC')
			.toLowerCase()
			.replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
	if (Array.isArray(value)) return value.map(normalize);
	if (typeof value !== 'object' || value === null) return value;
	return Object.entries(value)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([key, one]) => [key, normalize(one)]);
}

/** The IDs of the tasks that an execution has created, by the signal that stops it. */
const createdIds = new WeakMap<AbortSignal, string[]>();

/**
 * Shows the IDs in the executions list if the execution is stopped, by hand or by its timeout. n8n then drops what its nodes
 * returned, but saves its custom data.
 */
function keepForStop(context: IExecuteFunctions, taskId: string): void {
	const signal = context.getExecutionCancelSignal();
	if (!signal) return;
	const ids = createdIds.get(signal) ?? [];
	if (!ids.length) {
		createdIds.set(signal, ids);
		signal.addEventListener('abort', () => setCustomData(context, ids), { once: true });
	}
	ids.push(taskId);
}

/** n8n keeps ten entries of custom data for all nodes, and logs an error for a value of more than 255 characters. */
const ENTRIES = 5;
const ENTRY_LENGTH = 255;

function setCustomData(context: IExecuteFunctions, ids: string[]): void {
	const { customData } = context.getWorkflowDataProxy(0).$execution as {
		customData: { set: (key: string, value: string) => void };
	};
	const rest = [...ids];
	for (let entry = 1; entry <= ENTRIES && rest.length; entry++) {
		let value = '';
		while (rest[0] && `${value}, ${rest[0]}`.length <= ENTRY_LENGTH)
			value += `${value && ', '}${rest.shift()}`;
		customData.set(`Media_Generation_tasks_${entry}`, value);
	}
	if (rest.length)
		customData.set('Media_Generation_more_tasks', `${rest.length}, named in the log of n8n`);
}
