import type { IExecuteFunctions } from 'n8n-workflow';
import { identifyAccount, readIdempotencyHeader } from '../../api/endpoints';
import { UnknownOutcomeError } from '../../api/errors';
import { newTask, type Task } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { buildFieldError } from '../../models/field';
import { stopsOnError } from '../errors';
import {
	hasFailed,
	readNumberOption,
	type Failed,
	type Item,
	type Prepared,
	type RecalledTask,
} from '../operation';
import { openRecord, type Sending } from '../record';
import { traceTasks } from '../traceTasks';
import { checkCredits, giveBack, takeBudget } from './budget';
import { concurrencyOption, rateOption, uploadFiles, type TaskRequest } from './request';
import { CreationSender } from './sendCreation';

/** A task to create, with the URL that the service calls at its end, or the one that an item has. */
export type CreateRequest = (TaskRequest & { callBackUrl?: string }) | RecalledTask;

/** The task, or why there is none; undefined: it was not begun. */
export type CreateResult = { task: Task } | Failed | undefined;

/** A task, and whether the service calls back an earlier execution for it. */
type Created = { task: Task; elsewhere?: boolean } | Failed | undefined;

/**
 * Creates a task for every item that has none yet, at the rate in Options. A request is sent once, save
 * where the service refused it for its rate, or recognizes it by its idempotency key. Once further
 * requests would fail too, the rest is not sent. With On Error "continue", a run that Options forbid
 * is an error of the items that have no task.
 * @returns `elsewhere`: a task is of an earlier execution, and the service calls that one back
 * @throws {UserError} with On Error "stop", before anything is created, when the run asks for more
 *   than Options allow
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
	const refusal = await findRefusal(unsent, context);
	if (refusal && isStopping) throw refusal;
	const option = unsent[0]?.item.option ?? (() => undefined);
	const sender = new CreationSender(readNumberOption(option, rateOption), signal);
	const create = async ({ item, request }: Prepared<CreateRequest>, order: number) => {
		const known = recalled[order];
		if (known) return await adopt(item, known);
		if (refusal) return { error: refusal };
		if (signal?.aborted || 'taskId' in request) return undefined;
		return await createTask(item, request, sender);
	};
	const results = await mapConcurrent<Prepared<CreateRequest>, Created>(prepared, create, {
		concurrency: readNumberOption(option, concurrencyOption),
		isLast: (result) => isStopping && hasFailed(result),
	});
	if (!refusal)
		giveBack(
			results.filter((result, order) => !recalled[order] && !isSent(result)).length,
			context,
		);
	traceTasks(
		context,
		results.flatMap((result) => (result && 'task' in result ? result.task : [])),
	);
	return {
		results,
		elsewhere: results.some((result) => result && 'task' in result && result.elsewhere),
	};
}

/** Says whether a task was created, or may have been. */
const isSent = (result: Created): boolean =>
	result !== undefined && (!hasFailed(result) || result.error instanceof UnknownOutcomeError);

/** Uploads the files of an item, creates its task, and notes the outcome before anything else. */
async function createTask(
	item: Item,
	request: TaskRequest & { callBackUrl?: string },
	sender: CreationSender,
): Promise<Created> {
	const { index, service, context } = item;
	const record = openRecord(context);
	const sending: Sending = { index, request, service };
	const { model, callBackUrl } = request;
	try {
		sender.check(service);
		const body = { model, callBackUrl, input: await uploadFiles(item, request) };
		const key = readIdempotencyHeader(service.credentials)
			? record.buildIdempotencyKey(index, service, body)
			: undefined;
		const taskId = await sender.send(item, body, key);
		record.addTask(sending, taskId);
		return { task: newTask(taskId, model) };
	} catch (error) {
		if (error instanceof UnknownOutcomeError) record.addUnknown(sending, error.outcome);
		return { error };
	}
}

/**
 * Takes the unsent tasks from the budget, and checks the accounts' credits.
 * @returns why nothing may be sent, and then nothing is taken from the budget; undefined if it may
 */
async function findRefusal(
	unsent: Array<Prepared<unknown>>,
	context: IExecuteFunctions,
): Promise<unknown> {
	const [first] = unsent;
	if (!first) return undefined;
	try {
		takeBudget(unsent.length, first.item.option, context);
	} catch (error) {
		return error;
	}
	try {
		await checkCredits(unsent);
		return undefined;
	} catch (error) {
		giveBack(unsent.length, context);
		return error;
	}
}

/** Takes over the task that an item has. If another account created it, this account must show it. */
async function adopt(
	{ service, settings }: Item,
	{ taskId, model, account, elsewhere }: RecalledTask,
): Promise<Created> {
	if (!elsewhere || account === identifyAccount(service.credentials))
		return { task: newTask(taskId, model), elsewhere };
	try {
		return { task: await service.getTask(taskId, settings), elsewhere };
	} catch (error) {
		return {
			error: buildFieldError(
				`Task ${taskId} of this item was created by an earlier execution with another account's access token, and this account does not show it: ${(error as Error).message}`,
				'Nothing was sent for this item. Choose the credential of the other account to retry this execution, or run the workflow anew to create the task with this account.',
			),
		};
	}
}
