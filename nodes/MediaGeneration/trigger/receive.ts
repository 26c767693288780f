import {
	sleep,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { refusalByHeaders, type Acceptance } from '../service/callback';
import { ServiceError, TaskService } from '../service/client';
import {
	answer,
	DETAILS_SETTINGS,
	handOver,
	judgeRequest,
	refuse,
	TASK_NOT_ENDED,
} from '../service/receiver';
import type { Refused } from '../service/refusals';
import type { Task, TaskStatus } from '../service/task';
import { Claim } from './claim';
import { optionsOf } from './options';
import { REMEMBERED_SECONDS, RememberedEvents } from './remembered';
import { noteKey } from './rotation';

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
 * the answer and in n8n's log. Only the task id and the timestamp of a callback are signed, so its body decides nothing.
 * Nothing is thrown: n8n would answer 500 and start an execution, for a sender that nobody has verified.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await receive(context);
	} catch (error) {
		context.logger.error(`A callback could not be worked on: ${(error as Error).message}`);
		return refuse(context, RECEIVER_TROUBLED);
	}
}

async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const now = Date.now();
	const trigger = triggerOf(context);
	const options = optionsOf(context.getNodeParameter('options', {}) as object);
	const { toleranceSeconds } = options;
	const signed = context.getNodeParameter('verifySignature') as boolean;
	const byHeaders = refusalByHeaders(context.getHeaderData(), { signed, toleranceSeconds, now });
	if (byHeaders) return refuse(context, byHeaders);
	const service = await TaskService.connectShared(context);
	const keys = signed ? service.signingKeys : undefined;
	if (signed && !keys) return refuse(context, KEY_MISSING);
	const verdict = judgeRequest(context, { keys, toleranceSeconds, now });
	if (!verdict.accepted) return refuse(context, verdict);
	const { taskId, signature } = verdict;
	if (keys && signature !== 'off') noteKey(context.logger, trigger, keys, signature);

	const remembered = new RememberedEvents(
		trigger,
		context.getWorkflowStaticData('node'),
		Math.floor(now / 1000),
		Math.max(REMEMBERED_SECONDS, 2 * toleranceSeconds),
	);
	const claimOf = (event: string) => new Claim(trigger, `${taskId}:${event}`, remembered);
	// Listening for a test event ends with the first one: there each callback is a new one.
	const deduplicates = options.deduplicate && context.getMode() !== 'manual';
	// Nothing comes after completed, so a copy need not be looked up. A failed task may yet complete.
	if (deduplicates && claimOf('taskCompleted').emitted) return ignore(context, 'duplicate');

	const found = options.fetchDetails
		? await detailsOf(service, verdict)
		: { details: 'off' as const, task: claimedTask(verdict) };
	if (found === undefined) return refuse(context, TASK_UNKNOWN);
	const { task, details } = found;
	const status = details === 'unavailable' ? verdict.claimedStatus : task.status;
	const event = status && EVENT_OF[status];
	const wanted = event && (context.getNodeParameter('events') as string[]).includes(event);
	// What the body claims must not drop an event: the sender is asked to call again, when the details can be had.
	if (details === 'unavailable' && !wanted) return refuse(context, DETAILS_UNAVAILABLE);
	if (!event) return refuse(context, TASK_NOT_ENDED);
	if (!wanted) return ignore(context, 'eventNotWanted');
	if (deduplicates) {
		const claimed = await claimOf(event).take(
			context.getResponseObject(),
			now + DETAILS_SETTINGS.timeoutSeconds * 1000,
		);
		if (claimed === 'emitted') return ignore(context, 'duplicate');
		if (claimed === 'underway') return refuse(context, UNDERWAY);
	}
	const json = {
		...task,
		callback: context.getBodyData(),
		verification: { signature, details },
	} as unknown as IDataObject;
	return handOver([{ json }], () => {
		if (deduplicates) remembered.save();
		return { accepted: true, emitted: true };
	});
}

/** Forgets what a trigger that is deactivated has emitted. */
export function forgetEvents(context: IHookFunctions): void {
	new RememberedEvents(triggerOf(context), context.getWorkflowStaticData('node'), 0).forget();
}

const RECEIVER_TROUBLED: Refused = {
	status: 503,
	reason: 'receiverTroubled',
	message: 'The receiver can not work on callbacks right now; call again',
};

const KEY_MISSING: Refused = {
	status: 401,
	reason: 'keyMissing',
	message: 'The receiver has no key to verify signatures with',
};

const TASK_UNKNOWN: Refused = {
	status: 404,
	reason: 'taskUnknown',
	message: 'The service that is asked for the details knows no such task',
};

const DETAILS_UNAVAILABLE: Refused = {
	status: 503,
	reason: 'detailsUnavailable',
	message: 'The details of the task can not be had right now; call again',
};

const UNDERWAY: Refused = {
	status: 503,
	reason: 'underway',
	message: 'A copy of this callback is still being worked on; call again',
};

/** Identifies a trigger among all that run here. */
const triggerOf = (context: IWebhookFunctions | IHookFunctions): string =>
	`${context.getWorkflow().id}:${context.getNode().id}`;

/** Tells the sender that its callback is in order, though it starts nothing. */
const ignore = (
	context: IWebhookFunctions,
	reason: 'duplicate' | 'eventNotWanted',
): IWebhookResponseData => answer(context, 200, { accepted: true, emitted: false, reason });

/**
 * The task by its details; only its id where they can't be had within the time that a sender waits; undefined when the
 * service does not know it.
 */
async function detailsOf(
	service: TaskService,
	{ taskId }: Acceptance,
): Promise<Details | undefined> {
	const unavailable: Details = { details: 'unavailable', task: { taskId } };
	const fetched = async (): Promise<Details | undefined> => {
		try {
			return { details: 'fetched', task: await service.getTask(taskId, DETAILS_SETTINGS) };
		} catch (error) {
			const unknown = error instanceof ServiceError && (error.code === 404 || error.code === 422);
			return unknown ? undefined : unavailable;
		}
	};
	// The time-out of a request begins anew with each byte; this one does not.
	const timeIsUp = sleep(DETAILS_SETTINGS.timeoutSeconds * 1000).then(() => unavailable);
	return await Promise.race([fetched(), timeIsUp]);
}

/** The task as the callback claims it, for a user who chose not to fetch details. */
function claimedTask({ taskId, claimedStatus }: Acceptance): Task {
	return { taskId, status: claimedStatus };
}
