import type {
	IDataObject,
	IHookFunctions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { judgeCallback, type Acceptance } from '../service/callback';
import { ServiceError, TaskService } from '../service/client';
import type { Task, TaskStatus } from '../service/task';
import { optionsOf } from './options';
import { REMEMBERED_SECONDS, RememberedEvents } from './remembered';

/** Time for task details: senders of this kind give up on a receiver after 5 to 15 seconds. */
const DETAILS_TIMEOUT_SECONDS = 4;

const EVENT_OF: Partial<Record<TaskStatus, string>> = {
	completed: 'taskCompleted',
	failed: 'taskFailed',
};

interface Details {
	details: 'fetched' | 'unavailable' | 'off';
	task: Task;
}

/** Answers the sender, and says what n8n is to do: start the workflow with an item, or nothing. */
function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
	item?: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return {
		noWebhookResponse: true,
		...(item && { workflowData: [[{ json: item }]] }),
	};
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
		return answer(context, 401, {
			accepted: false,
			reason: 'keyMissing',
			message: 'The receiver has no key to verify signatures with',
		});
	const body: unknown = context.getBodyData();
	const verdict = judgeCallback(context.getHeaderData(), body, {
		keys: verifies ? service.signingKeys : undefined,
		toleranceSeconds: options.toleranceSeconds,
		now,
	});
	if (!verdict.accepted) {
		const { status, ...refusal } = verdict;
		return answer(context, status, { ...refusal });
	}
	const found = options.fetchDetails
		? await detailsOf(service, verdict)
		: { details: 'off' as const, task: claimedTask(verdict) };
	if (found === undefined)
		return answer(context, 404, {
			accepted: false,
			reason: 'taskUnknown',
			message: 'The service that is asked for the details knows no such task',
		});
	const { task, details } = found;
	const status = details === 'unavailable' ? verdict.claimedStatus : task.status;
	const event = status && EVENT_OF[status];
	if (!event)
		return answer(context, 503, {
			accepted: false,
			reason: 'taskNotEnded',
			message: 'By its details the task has not ended; call again when it has',
		});
	if (!(context.getNodeParameter('events') as string[]).includes(event))
		return answer(context, 200, { accepted: true, emitted: false, reason: 'eventNotWanted' });
	if (options.deduplicate) {
		const remembered = rememberedEvents(context, now, options.toleranceSeconds);
		const key = `${verdict.taskId}:${event}`;
		if (remembered.has(key))
			return answer(context, 200, { accepted: true, emitted: false, reason: 'duplicate' });
		remembered.add(key);
	}
	return answer(context, 200, { accepted: true, emitted: true }, {
		...task,
		callback: body as IDataObject,
		verification: { signature: verdict.signature, details },
	} as IDataObject);
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
		const task = await service.getTask(taskId, { timeoutSeconds: DETAILS_TIMEOUT_SECONDS });
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
