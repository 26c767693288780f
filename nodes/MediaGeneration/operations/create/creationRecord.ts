import { createHash } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { UnknownOutcome } from '../../api/client';
import type { ModelRequest } from '../../models/model';
import { isTool } from '../nodeContext';

/** The sending for one item of one run: the task's ID, or the reason for which nobody knows if there is a task. */
interface Place {
	executionId: string;
	/** Digest of the request. */
	request: string;
	taskId?: string;
	unknown?: UnknownOutcome;
}

interface Kept {
	run: number;
	/** By item. */
	places: Record<number, Place>;
	/** Calls of an AI agent whose outcome is unknown: why, by digest of what the agent's model asked for. */
	unknownCalls: Record<string, UnknownOutcome>;
}

/** The earlier outcome of an item. */
export type Earlier =
	/** `elsewhere`: in another execution, whose resume URL the service calls back. */
	{ taskId: string; elsewhere: boolean } | { unknown: UnknownOutcome };

/**
 * Remembers what a run of the node has sent, by place: the run and the item. A place that has a task, or whose outcome is
 * unknown, is never sent again, whatever its expressions return now. n8n keeps the node's context with the execution. These are n8n's repeats, in
 * `workflow-execute.js` of n8n-core 2.41:
 * - Retry On Fail, after an error or when the first output item has `json.error`, also when the run has parked: the same run index.
 *   Expressions are evaluated anew, so a random seed makes another request.
 * - Retry from the executions list: a new execution with the old one's context and run index. The user may have corrected the workflow, so
 *   a task counts only for the same request, and an unknown outcome not at all: the user has decided.
 * - Loops, and a node that is reached twice: another run index each time, so nothing is a repeat.
 * - Tools: outside of the newest agent, n8n raises the run index at each try (`get-input-connection-data.js`); a model too may ask
 *   again after it heard of an unknown outcome. So that is also recognized by what the model asked for.
 * - A partial execution, a sub-workflow that its caller runs again, and the retry of an execution that was stopped or crashed begin with an
 *   empty context: n8n leaves nothing to recognize them by.
 */
export class CreationRecord {
	private readonly kept: Kept;
	private readonly executionId: string;

	constructor(private readonly context: IExecuteFunctions) {
		const nodeContext = context.getContext('node');
		const run = context.getWorkflowDataProxy(0).$runIndex as number;
		const before = nodeContext.creations as Kept | undefined;
		this.kept = {
			run,
			places: before?.run === run ? before.places : {},
			unknownCalls: before?.unknownCalls ?? {},
		};
		nodeContext.creations = this.kept;
		this.executionId = context.getExecutionId();
	}

	find(item: number, request: ModelRequest): Earlier | undefined {
		const call = isTool(this.context) ? this.kept.unknownCalls[this.digestCall(item)] : undefined;
		if (call !== undefined) return { unknown: call };
		const place = this.kept.places[item];
		if (!place) return undefined;
		const { executionId, taskId, unknown } = place;
		const elsewhere = executionId !== this.executionId;
		if (taskId !== undefined)
			return !elsewhere || place.request === digest([request.model, request.input])
				? { taskId, elsewhere }
				: undefined;
		return unknown === undefined || elsewhere ? undefined : { unknown };
	}

	/** Notes that a task exists. From here on its ID can be found, whatever becomes of the run. */
	addTask(item: number, request: ModelRequest, taskId: string): void {
		this.add(item, request, { taskId });
		this.context.logger.info(`${this.describe(item)} created task ${taskId}`);
		keepForStop(this.context, taskId);
	}

	/** Notes a sending whose outcome is unknown. */
	addUnknown(item: number, request: ModelRequest, unknown: UnknownOutcome): void {
		this.add(item, request, { unknown });
		if (isTool(this.context)) this.kept.unknownCalls[this.digestCall(item)] = unknown;
		const { message, taskId } = unknown;
		const named = taskId ? ` (the service named it ${taskId})` : '';
		this.context.logger.warn(`${this.describe(item)} may have created a task${named}: ${message}`);
	}

	private add(
		item: number,
		{ model, input }: ModelRequest,
		outcome: Pick<Place, 'taskId' | 'unknown'>,
	): void {
		const request = digest([model, input]);
		this.kept.places[item] = { executionId: this.executionId, request, ...outcome };
	}

	private describe(item: number): string {
		const { name } = this.context.getNode();
		return `"${name}" (workflow ${this.context.getWorkflow().id}, execution ${this.executionId}, item ${item})`;
	}

	/** n8n numbers an agent's calls; the number is no part of what the model asked for. */
	private digestCall(item: number): string {
		const asked = Object.entries(this.context.getInputData()[item]?.json ?? {});
		return digest(asked.filter(([key]) => key !== 'toolCallId'));
	}
}

const digest = (value: unknown): string =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/** The IDs of the tasks that an execution has created, by the signal that stops it. */
const createdIds = new WeakMap<AbortSignal, string[]>();

/**
 * Shows the IDs in the executions list if the execution is stopped, by hand or by its timeout: n8n drops then what its nodes
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

/** n8n keeps ten entries of custom data, for all nodes, and logs a complaint about a value of more than 255 characters. */
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
