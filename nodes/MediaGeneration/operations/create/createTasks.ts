import type { IExecuteFunctions } from 'n8n-workflow';
import { newTask } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { stopsOnError } from '../errors';
import { hasFailed, type Failed, type Outcome, type Prepared } from '../operation';
import { openRecord, type RecalledTask } from '../record';
import type { TaskWork } from '../work';
import { takeBudget } from './budget';
import { readPace, type CreateRequest } from './request';
import { CreationSender } from './sendCreation';

/** The task of an item, or why there is none; undefined: it was not begun. */
export type CreateResult = TaskWork | Failed | undefined;

export interface Creations {
	results: CreateResult[];
	/** A task is of an earlier execution, and the service calls that one back. */
	elsewhere: boolean;
	/** The run ends now: it was stopped, or an error ends it. */
	isOver: boolean;
}

/**
 * Creates a task for every item that has none yet, at the rate in Options. A request is sent once,
 * save where the service refused it for its rate, or recognizes it by its idempotency key. With On
 * Error "continue", a run that Options forbid is an error of the items that have no task.
 * @throws {UserError} with On Error "stop", before anything is created, when Options forbid the run
 */
export async function createTasks(
	prepared: Array<Prepared<CreateRequest | RecalledTask>>,
	context: IExecuteFunctions,
): Promise<Creations> {
	const record = openRecord(context);
	const signal = context.getExecutionCancelSignal();
	const isStopping = stopsOnError(context);
	const recalled = prepared.map(({ item, request }) =>
		'taskId' in request ? request : record.findSame(item.index, request),
	);
	const unsent = prepared.filter((_, order) => !recalled[order]);
	const refusal = await takeBudget(unsent, context).catch((error: unknown) => ({ error }));
	if (refusal && isStopping) throw refusal.error;
	const option = unsent[0]?.item.option ?? (() => undefined);
	const { rate, concurrency } = readPace(option);
	const senders = new Map<string, CreationSender>();
	const create = async (
		{ item, request }: (typeof prepared)[number],
		order: number,
	): Promise<CreateResult> => {
		const { index, service } = item;
		const known = recalled[order];
		if (known) return { index, service, task: newTask(known.taskId, known.model) };
		if (refusal || signal?.aborted || 'taskId' in request) return refusal;
		const account = service.account;
		const sender = senders.get(account) ?? new CreationSender(account, rate, signal);
		senders.set(account, sender);
		const result = await sender.create(item, request);
		if (hasFailed(result)) return result;
		return { index, service, task: newTask(result.taskId, request.model) };
	};
	const isLast = (result: CreateResult) => isStopping && hasFailed(result);
	const results = await mapConcurrent(prepared, create, { concurrency, isLast });
	const isUnsent = ({ item }: Prepared<unknown>) => !record.hasSent(item.index);
	if (!refusal) record.shared.count -= unsent.filter(isUnsent).length;
	return {
		results,
		elsewhere: recalled.some((task) => task?.elsewhere),
		isOver: signal?.aborted === true || (isStopping && results.some(hasFailed)),
	};
}

/** Makes the output of creations whose end nobody waits for. */
export const showTasks = (results: CreateResult[]): Outcome[] =>
	results.map((one) => (one && 'task' in one ? { items: [{ json: one.task }] } : one));
