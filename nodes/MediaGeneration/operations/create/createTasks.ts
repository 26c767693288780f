import type { IExecuteFunctions } from 'n8n-workflow';
import { identifyAccount, readIdempotencyHeader } from '../../api/endpoints';
import { UnknownOutcomeError } from '../../api/errors';
import { newTask, type Task } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { stopsOnError } from '../errors';
import {
	hasFailed,
	readNumberOption,
	type Failed,
	type Item,
	type Prepared,
	type RecalledTask,
} from '../operation';
import { openRecord } from '../record';
import { giveBack, takeBudget } from './budget';
import { uploadFiles } from './inputFile';
import { concurrencyOption, rateOption, type TaskRequest } from './request';
import { CreationSender } from './sendCreation';

/** A task to create, with the URL that the service calls at its end, or the one that an item has. */
export type CreateRequest = (TaskRequest & { callBackUrl?: string }) | RecalledTask;

/** The task, or why there is none; undefined: it was not begun. */
export type CreateResult = { task: Task } | Failed | undefined;

/**
 * Creates a task for every item that has none yet, at the rate in Options. A request is sent once, save
 * where the service refused it for its rate, or recognizes it by its idempotency key. Once further
 * requests would fail too, the rest is not sent. With On Error "continue", a run that Options forbid is
 * an error of the items that have no task.
 * @returns `elsewhere`: a task is of an earlier execution, and the service calls that one back
 * @throws {UserError} with On Error "stop", before anything is created, when Options forbid the run
 */
export async function createTasks(
	prepared: Array<Prepared<CreateRequest>>,
	context: IExecuteFunctions,
): Promise<{ results: CreateResult[]; elsewhere: boolean }> {
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
	const sender = new CreationSender(readNumberOption(option, rateOption), signal);
	const create = async ({ item, request }: Prepared<CreateRequest>, order: number) => {
		const known = recalled[order];
		if (known) return { task: newTask(known.taskId, known.model) };
		if (refusal || signal?.aborted || 'taskId' in request) return refusal;
		const result = await createTask(item, request, sender);
		if (hasFailed(result) && !(result.error instanceof UnknownOutcomeError)) return result;
		sent++;
		return result;
	};
	let sent = 0;
	const results = await mapConcurrent<Prepared<CreateRequest>, CreateResult>(prepared, create, {
		concurrency: readNumberOption(option, concurrencyOption),
		isLast: (result) => isStopping && hasFailed(result),
	});
	if (!refusal) giveBack(unsent.length - sent, context);
	return { results, elsewhere: recalled.some((task) => task?.elsewhere) };
}

/** Uploads the files of an item, creates its task, and notes the outcome before anything else. */
async function createTask(
	item: Item,
	request: TaskRequest & { callBackUrl?: string },
	sender: CreationSender,
): Promise<{ task: Task } | Failed> {
	const { index, service, context } = item;
	const { credentials } = service;
	const record = openRecord(context);
	const { model, callBackUrl } = request;
	try {
		sender.check(service);
		const body = { model, callBackUrl, input: await uploadFiles(item, request.input) };
		const key = readIdempotencyHeader(credentials)
			? record.buildIdempotencyKey(index, identifyAccount(credentials), body)
			: undefined;
		const taskId = await sender.send(item, body, key);
		record.addTask(index, request, taskId);
		return { task: newTask(taskId, model) };
	} catch (error) {
		if (error instanceof UnknownOutcomeError) record.addUnknown(index, request, error.outcome);
		return { error };
	}
}
