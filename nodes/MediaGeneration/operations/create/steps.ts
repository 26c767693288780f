import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { newTask } from '../../api/task';
import { readItem, readService } from '../items';
import { hasFailed, type CreatingOperation } from '../operation';
import type { RunRecord } from '../record/runRecord';
import type { Wait } from '../record/wait';
import type { WaitDecision } from '../wait/decide';
import { isRequest, isTask, type Step } from '../work';

/** A run that creates tasks. */
export interface CreatingRun {
	context: IExecuteFunctions;
	operation: CreatingOperation;
	record: RunRecord;
}

/**
 * Recalls what an earlier try made of an item, or else turns the item into a request. A woken run
 * creates nothing.
 * @throws {UserError} for a field or file that can't be sent
 */
export async function readStep(
	{ context, operation, record }: CreatingRun,
	index: number,
): Promise<Step> {
	const recalled = record.recall(index);
	if (hasFailed(recalled)) return recalled;
	if (recalled) {
		const { taskId, model, warning, elsewhere } = recalled;
		// Only the credential is read: other expressions may return another value than before.
		let service: Promise<TaskService> | undefined;
		const getService = async () => await (service ??= readService(context, index));
		// A run that may sleep reads it now, so that its error is the item's.
		if (!record.woken) await getService();
		return { index, getService, task: newTask(taskId, model, warning), elsewhere };
	}
	if (record.woken) return undefined;
	const item = await readItem(context, operation, index);
	return { index, item, request: await operation.request(item) };
}

/** Opens the wait, by the settings of the first item; undefined for an operation that doesn't wait. */
export function openWait(
	{ operation: { readWait }, record }: CreatingRun,
	steps: Step[],
): Wait | undefined {
	if (!readWait) return undefined;
	const first = steps.find(isRequest);
	return first ? record.openWait(() => readWait(first.item)) : record.wait;
}

/** Puts the task of the execution that this one retries in place of the same request. */
export function matchEarlier(record: RunRecord, step: Step): Step {
	if (!isRequest(step)) return step;
	const { index, item, request } = step;
	const same = record.findSame(index, request);
	if (!same) return step;
	return {
		index,
		getService: async () => item.service,
		task: newTask(same.taskId, same.model, same.warning),
		elsewhere: true,
	};
}

/** Why a retry stays awake: the service sends callbacks to the execution that created the tasks. */
const CALLED_BACK_ELSEWHERE = {
	reason: 'because tasks of this run were created by an earlier execution',
};

/** Decides how to wait for the tasks there are, and for those that will be created. */
export async function decide(
	{ context, record }: CreatingRun,
	wait: Wait | undefined,
	steps: Step[],
): Promise<WaitDecision> {
	if (!wait || record.woken) return {};
	const tasks = steps.filter(isTask);
	if (tasks.some(({ elsewhere }) => elsewhere)) return CALLED_BACK_ELSEWHERE;
	const { decideWait } = await import('../wait/decide');
	const ofTasks = await Promise.all(tasks.map(async ({ getService }) => await getService()));
	const ofRequests = steps.filter(isRequest).map(({ item }) => item.service);
	const credentials = [...ofTasks, ...ofRequests].map((service) => service.credentials);
	return await decideWait(context, wait.settings.howToWait, credentials);
}
