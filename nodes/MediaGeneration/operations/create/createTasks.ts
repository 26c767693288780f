import type { IExecuteFunctions } from 'n8n-workflow';
import { isRateLimited, UnknownOutcomeError } from '../../api/client';
import { RateLimiter } from '../../lib/rateLimiter';
import { newTask, type Task } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { stopsOnError } from '../nodeContext';
import { hasFailed, readNumberOption, type Failed, type Prepared } from '../operation';
import { checkCredits, TaskBudget } from './budget';
import { CreationRecord } from './creationRecord';
import { concurrencyOption, rateOption, uploadMedia, type TaskRequest } from './request';

/** Services of this kind count creations over ten seconds. */
const CREATION_LIMITS = { period: 10_000, patience: 60_000, isTooFast: isRateLimited };

export interface CreateRequest extends TaskRequest {
	callBackUrl?: string;
}

/** The task, or why there is none; undefined: it was not begun. */
export type CreateResult = { task: Task } | Failed | undefined;

interface Created {
	results: CreateResult[];
	/** A task is of an earlier execution, whose resume URL the service calls back. */
	elsewhere: boolean;
}

/**
 * Creates a task for every item, at the rate in Options. A refusal for the rate is waited out, as it surely created nothing. Any
 * other request is sent once, and not again when n8n repeats the run.
 * @throws {UserError} before anything is created, when the run asks for more than Options allow
 */
export async function createTasks(
	prepared: Array<Prepared<CreateRequest>>,
	context: IExecuteFunctions,
): Promise<Created> {
	const option = prepared[0]?.item.option ?? (() => undefined);
	const signal = context.getExecutionCancelSignal();
	const limiter = new RateLimiter(
		{ ...CREATION_LIMITS, requests: readNumberOption(option, rateOption) },
		signal,
	);
	const record = new CreationRecord(context);
	const isStopping = stopsOnError(context);
	const budget = new TaskBudget(context);
	let elsewhere = false;
	let sent = 0;

	const unsent = prepared.filter(({ item, request }) => !record.find(item.index, request));
	if (unsent.length) {
		budget.take(unsent.length, option, context);
		await checkCredits(unsent).catch((error: Error) => {
			budget.giveBack(unsent.length);
			throw error;
		});
	}

	const create = async ({ item, request }: Prepared<CreateRequest>): Promise<CreateResult> => {
		const { model, callBackUrl } = request;
		const earlier = record.find(item.index, request);
		if (earlier && 'unknown' in earlier) return { error: new UnknownOutcomeError(earlier.unknown) };
		if (earlier) {
			elsewhere ||= earlier.elsewhere;
			return { task: newTask(earlier.taskId, model) };
		}
		if (signal?.aborted) return undefined;
		try {
			const input = await uploadMedia(item, request);
			const taskId = await limiter.run(
				async () => await item.service.createTask({ model, callBackUrl, input }, item.settings),
			);
			sent++;
			record.addTask(item.index, request, taskId);
			return { task: newTask(taskId, model) };
		} catch (error) {
			if (error instanceof UnknownOutcomeError) {
				sent++;
				record.addUnknown(item.index, request, error.outcome);
			}
			return { error };
		}
	};

	const results = await mapConcurrent(prepared, create, {
		concurrency: readNumberOption(option, concurrencyOption),
		isLast: (result) => isStopping && hasFailed(result),
	});
	budget.giveBack(unsent.length - sent);
	if (isStopping) nameCreatedTasks(results);
	return { results, elsewhere };
}

/** Adds to the error that will stop the run the IDs of the tasks that exist all the same. */
function nameCreatedTasks(results: CreateResult[]): void {
	const ids = results.flatMap((result) => (result && 'task' in result ? [result.task.taskId] : []));
	const failed = results.find(hasFailed);
	if (failed && ids.length) failed.createdTaskIds = ids;
}
