import type { IExecuteFunctions } from 'n8n-workflow';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { stopsOnError } from '../errors';
import { hasFailed } from '../operation';
import type { RunRecord } from '../record/runRecord';
import { isRequest, type Created, type RequestWork, type Step } from '../work';
import { readPace } from './request';
import { toStep } from './steps';
import { TimelySender } from './timelySender';

/**
 * Creates a task for each request, at the rate in Options. A request is sent once, save where the
 * service refused it for its rate.
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
	const senders = new Map<string, TimelySender>();
	const findSender = ({ item }: RequestWork): TimelySender => {
		const { account } = item.service;
		const sender = senders.get(account) ?? new TimelySender(record, account, rate, signal);
		senders.set(account, sender);
		return sender;
	};
	const send = async (step: RequestWork): Promise<Created> => {
		if (signal?.aborted) return undefined;
		const { index, item, failed } = step;
		if (!record.hasSent(index, failed?.task.taskId)) {
			const created = await findSender(step).create(step);
			if (hasFailed(created)) return created;
		}
		return toStep(index, async () => item.service, record.recall(index));
	};
	const create = async (step: Step): Promise<Created> =>
		isRequest(step) ? await record.inTurn(step.index, async () => await send(step)) : step;
	const isLast = (step: Created) => stopsOnError(context) && hasFailed(step);
	return await mapConcurrent(steps, create, { concurrency, isLast });
}
