import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { newTask } from '../api/task';
import { FailedTaskError } from './failedTask';
import { readItem, readService } from './item';
import { hasFailed, type CreatingOperation, type Failed, type Outcome } from '../operations/operation';
import type { RecalledTask, RunRecord } from '../operations/record/runRecord';
import type { Wait } from '../operations/record/wait';
import type { WaitDecision } from './decide';
import { isRequest, isTask, type Created, type Step, type TaskWork } from '../operations/work';

/** A run that creates tasks. */
export interface CreatingRun {
	context: IExecuteFunctions;
	operation: CreatingOperation;
	record: RunRecord;
	/** When n8n called the node, in milliseconds since 1970. */
	called: number;
}

/**
 * Recalls what an earlier try made of an item, or else turns the item into a request; also where its
 * task failed, and this try creates it again. A woken run creates nothing.
 * @throws {UserError} for a field or file that can't be sent
 */
export async function readStep(
	{ context, operation, record }: CreatingRun,
	index: number,
): Promise<Step> {
	const task = toStep(index, createGetService(context, index), record.recall(index));
	if (hasFailed(task)) return task;
	// A run that may sleep reads the credential now, so that its error is the item's.
	if (!record.woken) await task?.getService();
	if (task && !record.createsAgain(index)) return task;
	if (record.woken) return undefined;
	const item = await readItem(context, operation, index);
	return { index, item, request: await operation.request(item), failed: task };
}

/** Only the credential is read: other expressions may return another value than before. */
function createGetService(context: IExecuteFunctions, index: number): TaskWork['getService'] {
	let service: Promise<TaskService> | undefined;
	return async () => await (service ??= readService(context, index));
}

/** Makes the step of an item of what was sent for it before. */
export function toStep(
	index: number,
	getService: TaskWork['getService'],
	recalled: RecalledTask | Failed | undefined,
): Created {
	if (!recalled || hasFailed(recalled)) return recalled;
	const { taskId, model, warning, failed, words, elsewhere } = recalled;
	const task = failed ?? newTask(taskId, model, warning);
	return { index, getService, task, words, elsewhere };
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
	if (!isRequest(step) || step.failed) return step;
	const { index, item, request } = step;
	const same = record.findSame(index, request);
	return toStep(index, async () => item.service, same) ?? step;
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
	const { decideWait } = await import('./decide');
	const ofTasks = await Promise.all(tasks.map(async ({ getService }) => await getService()));
	const ofRequests = steps.filter(isRequest).map(({ item }) => item.service);
	const credentials = [...ofTasks, ...ofRequests].map((service) => service.credentials);
	return await decideWait(context, wait.settings.howToWait, credentials);
}

/** Notes the failed tasks that n8n gets as errors. */
export function noteFailed(record: RunRecord, outcomes: Outcome[]): void {
	for (const [item, outcome] of outcomes.entries())
		if (hasFailed(outcome) && outcome.error instanceof FailedTaskError)
			record.addFailed(item, outcome.error.task);
}
