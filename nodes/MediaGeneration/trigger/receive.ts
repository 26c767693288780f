import type {
	IDataObject,
	IHookFunctions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import type { Acceptance } from '../service/callback';
import { ServiceError, TaskService } from '../service/client';
import {
	answer,
	DETAILS_SETTINGS,
	judgeRequest,
	refuse,
	TASK_NOT_ENDED,
} from '../service/receiver';
import type { Task, TaskStatus } from '../service/task';
import { optionsOf } from './options';
import { REMEMBERED_SECONDS, RememberedEvents } from './remembered';

const EVENT_OF: Partial<Record<TaskStatus, string>> = {
	completed: 'taskCompleted',
	failed: 'taskFailed',
};

interface Details {
	details: 'fetched' | 'unavailable' | 'off';
	task: Task;
}

/**
 * One callback: verified, held against the task's details, and emitted once as the Task; or refused, with the reason in
 * the answer. Only the task id and the timestamp of a callback are signed, so its body decides nothing.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const options = optionsOf(context.getNodeParameter('options', {}) as object);
	const now = Date.now();
	const service = await TaskService.connect(context);
	const verifies = context.getNodeParameter('verifySignature') as boolean;
	if (verifies && !service.signingKeys)
		return refuse(context, {
			status: 401,
			reason: 'keyMissing',
			message: 'The receiver has no key to verify signatures with',
		});
	const verdict = judgeRequest(context, {
		keys: verifies ? service.signingKeys : undefined,
		toleranceSeconds: options.toleranceSeconds,
		now,
	});
	if (!verdict.accepted) return refuse(context, verdict);
	const found = options.fetchDetails
		? await detailsOf(service, verdict)
		: { details: 'off' as const, task: claimedTask(verdict) };
	if (found === undefined)
		return refuse(context, {
			status: 404,
			reason: 'taskUnknown',
			message: 'The service that is asked for the details knows no such task',
		});
	const { task, details } = found;
	const status = details === 'unavailable' ? verdict.claimedStatus : task.status;
	const event = status && EVENT_OF[status];
	if (!event) return refuse(context, TASK_NOT_ENDED);
	if (!(context.getNodeParameter('events') as string[]).includes(event))
		return answer(context, 200, { accepted: true, emitted: false, reason: 'eventNotWanted' });
	if (options.deduplicate) {
		const remembered = rememberedEvents(context, now, options.toleranceSeconds);
		const key = `${verdict.taskId}:${event}`;
		if (remembered.has(key))
			return answer(context, 200, { accepted: true, emitted: false, reason: 'duplicate' });
		remembered.add(key);
	}
	const json = {
		...task,
		callback: context.getBodyData(),
		verification: { signature: verdict.signature, details },
	} as unknown as IDataObject;
	return answer(context, 200, { accepted: true, emitted: true }, [{ json }]);
}

/** The trigger's memory of what it emitted. */
export function rememberedEvents(
	context: IWebhookFunctions | IHookFunctions,
	now = Date.now(),
	toleranceSeconds = 0,
): RememberedEvents {
	return new RememberedEvents(
		`${context.getWorkflow().id}:${context.getNode().id}`,
		context.getWorkflowStaticData('node'),
		Math.floor(now / 1000),
		Math.max(REMEMBERED_SECONDS, 2 * toleranceSeconds),
	);
}

/** The task by its details; only its id where they can't be had; undefined when the service does not know it. */
async function detailsOf(
	service: TaskService,
	{ taskId }: Acceptance,
): Promise<Details | undefined> {
	try {
		const task = await service.getTask(taskId, DETAILS_SETTINGS);
		return { details: 'fetched', task };
	} catch (error) {
		const unknown = error instanceof ServiceError && (error.code === 404 || error.code === 422);
		return unknown ? undefined : { details: 'unavailable', task: { taskId } };
	}
}

/** The task as the callback claims it, for a user who chose not to fetch details. */
function claimedTask({ taskId, claimedStatus }: Acceptance): Task {
	return { taskId, status: claimedStatus };
}
