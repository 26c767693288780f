import type { IExecuteFunctions } from 'n8n-workflow';
import { identifyAccount, readIdempotencyHeader } from '../../api/endpoints';
import { UnknownOutcomeError } from '../../api/errors';
import { newTask, type Task } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { buildFieldError } from '../../models/field';
import { stopsOnError } from '../nodeContext';
import {
	hasFailed,
	readNumberOption,
	type Failed,
	type Item,
	type KeyedCreation,
	type LostCreation,
	type Prepared,
	type RecalledTask,
} from '../operation';
import { traceTasks } from '../traceTasks';
import { checkCredits, TaskBudget } from './budget';
import { openRecord } from './creationRecord';
import {
	concurrencyOption,
	rateOption,
	uploadFiles,
	type RecalledRequest,
	type TaskRequest,
} from './request';
import { CreationSender } from './sendCreation';

export type CreateRequest = (TaskRequest & { callBackUrl?: string }) | RecalledRequest;

/** The task, or why there is none; undefined: it was not begun. */
export type CreateResult = { task: Task } | Failed | undefined;

interface Created {
	results: CreateResult[];
	/** A task is of an earlier execution. The service calls that one's resume URL. */
	elsewhere: boolean;
}

/**
 * Creates a task for every item that has none yet, at the rate in Options. A refusal for the rate certainly created nothing, so the
 * request is sent again later. Any other request is sent once, and not again when n8n repeats the run. A creation whose answer got
 * lost is sent again only if the credential names an idempotency header. Once further requests would fail too, the rest is not
 * sent. With On Error "continue", a run that Options forbid is an error of the items that have no task.
 * @throws {UserError} with On Error "stop", before anything is created, when the run asks for more than Options allow
 */
export async function createTasks(
	prepared: Array<Prepared<CreateRequest>>,
	context: IExecuteFunctions,
): Promise<Created> {
	const signal = context.getExecutionCancelSignal();
	const record = openRecord(context);
	const isStopping = stopsOnError(context);
	const budget = new TaskBudget(context);
	let sent = 0;
	let elsewhere = false;

	const recall = ({ item: { index }, request }: Prepared<CreateRequest>) =>
		'recalled' in request ? request.recalled : record.findSame({ index, request });
	const unsent = prepared.filter((one) => !recall(one));
	const refusal = await findRefusal(unsent, budget, context);
	if (refusal && isStopping) throw refusal;
	const option = unsent[0]?.item.option ?? (() => undefined);
	const sender = new CreationSender(readNumberOption(option, rateOption), signal);

	/** Sends the creation of an earlier try again. Unless its task comes back, the outcome stays unknown. */
	const askAgain = async (item: Item, lost: LostCreation): Promise<CreateResult> => {
		const { index, service } = item;
		const unknown = new UnknownOutcomeError(lost.outcome);
		try {
			const canAsk =
				readIdempotencyHeader(service.credentials) &&
				lost.account === identifyAccount(service.credentials);
			if (!canAsk) return { error: unknown };
			const taskId = await sender.send(item, lost, unknown);
			record.addTask({ index, request: lost.request, service }, taskId);
			return { task: newTask(taskId, lost.body.model) };
		} catch {
			return { error: unknown };
		}
	};

	const create = async (one: Prepared<CreateRequest>): Promise<CreateResult> => {
		const { item, request } = one;
		const recalled = recall(one);
		if (recalled && 'taskId' in recalled) {
			const result = await adopt(item, recalled);
			if (!hasFailed(result)) elsewhere ||= recalled.elsewhere;
			return result;
		}
		if (recalled) return await askAgain(item, recalled);
		if (refusal) return { error: refusal };
		if (signal?.aborted || 'recalled' in request) return undefined;
		const { index, service } = item;
		const sending = { index, request, service };
		let lost: KeyedCreation | undefined;
		try {
			sender.check(item);
			const header = readIdempotencyHeader(service.credentials);
			const { model, callBackUrl } = request;
			const body = { model, callBackUrl, input: await uploadFiles(item, request) };
			if (header) lost = { body, idempotencyKey: record.buildIdempotencyKey(index, service, body) };
			const taskId = await sender.send(item, lost ?? { body });
			sent++;
			record.addTask(sending, taskId);
			return { task: newTask(taskId, model) };
		} catch (error) {
			if (error instanceof UnknownOutcomeError) {
				sent++;
				record.addUnknown(sending, error.outcome, lost);
			}
			return { error };
		}
	};

	const results = await mapConcurrent(prepared, create, {
		concurrency: readNumberOption(option, concurrencyOption),
		isLast: (result) => isStopping && hasFailed(result),
	});
	if (!refusal) budget.giveBack(unsent.length - sent);
	traceTasks(
		context,
		results.flatMap((result) => (result && 'task' in result ? result.task : [])),
	);
	return { results, elsewhere };
}

/**
 * Takes the unsent tasks from the budget, and checks the accounts' credits.
 * @returns why nothing may be sent, and then nothing is taken from the budget; undefined if it may
 */
async function findRefusal(
	unsent: Array<Prepared<unknown>>,
	budget: TaskBudget,
	context: IExecuteFunctions,
): Promise<unknown> {
	const [first] = unsent;
	if (!first) return undefined;
	try {
		budget.take(unsent.length, first.item.option, context);
	} catch (error) {
		return error;
	}
	try {
		await checkCredits(unsent);
		return undefined;
	} catch (error) {
		budget.giveBack(unsent.length);
		return error;
	}
}

/** Takes over the task that an item has. If another account created it, this account must show it too. */
async function adopt(
	{ service, settings }: Item,
	{ taskId, model, account, elsewhere }: RecalledTask,
): Promise<CreateResult> {
	if (!elsewhere || account === identifyAccount(service.credentials))
		return { task: newTask(taskId, model) };
	try {
		return { task: await service.getTask(taskId, settings) };
	} catch (error) {
		return {
			error: buildFieldError(
				`Task ${taskId} of this item was created by an earlier execution with another account's access token, and this account does not show it: ${(error as Error).message}`,
				'Nothing was sent for this item. Choose the credential of the other account to retry this execution, or run the workflow anew to create the task with this account.',
			),
		};
	}
}
