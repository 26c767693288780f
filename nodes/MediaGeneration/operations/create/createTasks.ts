import type { IExecuteFunctions } from 'n8n-workflow';
import { newTask } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { stopsOnError } from '../errors';
import { hasFailed } from '../operation';
import type { RunRecord } from '../record/runRecord';
import { isRequest, type Created, type RequestWork, type Step } from '../work';
import { readPace } from './request';
import { CreationSender } from './sendCreation';

/**
 * Creates a task for each request, at the rate in Options. A request is sent once, save where the
 * service refused it for its rate, or recognizes it by its idempotency key.
 * @returns the steps with a task in place of each request, or why there is none; undefined where
 *   the execution was stopped before, or an error ended it
 */
export async function createTasks(
	context: IExecuteFunctions,
	record: RunRecord,
	steps: Step[],
): Promise<Created[]> {
	const option = steps.find(isRequest)?.item.option ?? (() => undefined);
	const { rate, concurrency } = readPace(option);
	const signal = context.getExecutionCancelSignal();
	const senders = new Map<string, CreationSender>();
	const findSender = ({ item }: RequestWork): CreationSender => {
		const { account } = item.service;
		const sender = senders.get(account) ?? new CreationSender(record, account, rate, signal);
		senders.set(account, sender);
		return sender;
	};
	const create = async (step: Step): Promise<Created> => {
		if (!isRequest(step)) return step;
		if (signal?.aborted) return undefined;
		const created = await findSender(step).create(step);
		if (hasFailed(created)) return created;
		const { index, item, request } = step;
		return {
			index,
			getService: async () => item.service,
			task: newTask(created.taskId, request.model, request.warning),
		};
	};
	const isLast = (step: Created) => stopsOnError(context) && hasFailed(step);
	return await mapConcurrent(steps, create, { concurrency, isLast });
}
