import { readMcpDeadline } from '../host/mcpCall';
import { mapConcurrent } from '../lib/mapConcurrent';
import { stopsOnError } from './errors';
import { hasFailed } from '../operations/operation';
import type { Wait } from '../operations/record/wait';
import { isRequest, isTask, type Created, type RequestWork, type Step } from '../operations/work';
import { limitCreations, TaskLimit } from './overTasks';
import { readPace } from './request';
import { CreationSender } from './sender';
import { toStep, type CreatingRun } from './plan';

/**
 * Creates a task for each request, at the rate in Options. A request is sent once, save where the
 * service refused it for its rate, or for tasks at once.
 * @param wait begins with the first of these refusals, at the latest after the last task
 * @returns the steps with a task in place of each request, or why there is none; undefined where
 *   the execution was stopped before, or an error ended it
 */
export async function createTasks(
	run: Omit<CreatingRun, 'operation'>,
	steps: Step[],
	wait?: Wait,
): Promise<Created[]> {
	const begunBefore = wait?.begun;
	const created = await createAll(run, steps, limitCreations(run, wait));
	const hasCreated = created.some((step, item) => isTask(step) && isRequest(steps[item]));
	// The limit counts anew for the tasks of this try: all others have ended, or were given up.
	if (begunBefore !== undefined && hasCreated) delete wait?.begun;
	return created;
}

async function createAll(
	{ context, record }: Pick<CreatingRun, 'context' | 'record'>,
	steps: Step[],
	findEnd: () => number,
): Promise<Created[]> {
	const option = steps.find(isRequest)?.item.option ?? (() => undefined);
	const { rate, concurrency } = readPace(option);
	const signal = context.getExecutionCancelSignal();
	const over = new AbortController();
	const either = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
	const limits = { requests: rate, answerBy: readMcpDeadline(context), signal: either };
	const senders = new Map<string, CreationSender>();
	const findSender = ({ item }: RequestWork): CreationSender => {
		const { account } = item.service;
		const taskLimit = new TaskLimit(findEnd, either);
		const sender =
			senders.get(account) ?? new CreationSender(record, account, { ...limits, taskLimit });
		senders.set(account, sender);
		return sender;
	};
	const send = async (step: RequestWork): Promise<Created> => {
		if (signal?.aborted) return undefined;
		const { index, item, failed } = step;
		if (!record.hasSent(index, failed?.task.taskId)) {
			const created = await findSender(step).create(step);
			// It waited while another item ended the run.
			if (hasFailed(created) && created.error === over.signal.reason) return undefined;
			if (hasFailed(created)) return created;
		}
		return toStep(index, async () => item.service, record.recall(index));
	};
	const create = async (step: Step): Promise<Created> =>
		isRequest(step) ? await record.inTurn(step.index, async () => await send(step)) : step;
	const isLast = (step: Created) => {
		const endsRun = stopsOnError(context) && hasFailed(step);
		if (endsRun) over.abort(new Error('Another item ended the run'));
		return endsRun;
	};
	return await mapConcurrent(steps, create, { concurrency, isLast });
}
