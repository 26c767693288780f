import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { TaskService } from '../api/client';
import { REQUEST, toStatus, type Task, type TaskStatus } from '../api/task';
import { readCallback, type Callback } from '../callback/readCallback';
import type { Refused } from '../callback/refusals';
import { answer, ANSWER_WITHIN, refuse, warn } from '../callback/respond';
import { answerOnceStored } from '../host/storedAnswer';
import { TaskEvents } from './events';
import { fetchDetails, type Details } from './fetchDetails';
import { readSettings, type TriggerSettings } from './options';

/**
 * Receives a callback: verifies it, reads the task's details, and outputs the Task once. Or refuses
 * it. Only a callback's task ID and time are signed, so its body decides nothing. Nothing is
 * thrown, because n8n would start an execution for an unverified sender.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await receive(context);
	} catch (error) {
		return refuse(context, { reason: 'temporarilyUnavailable', cause: (error as Error).message });
	}
}

async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const until = Date.now() + ANSWER_WITHIN;
	const settings = readSettings(context);
	const callback = await readCallback(context, settings);
	if ('reason' in callback) return refuse(context, callback);
	// A part of the result. Another callback follows.
	if (callback.claimedStatus === 'pending') return ignore(context, 'taskNotEnded');
	// Listening for a test event ends with the first one, so each callback is new there.
	if (!settings.deduplicate || context.getMode() === 'manual')
		return await output(context, callback, settings, until);
	const events = new TaskEvents(context, callback.taskId, settings.toleranceSeconds);
	if (!(await events.begin(until)))
		// Completed is final. A failed task may still complete.
		return events.has('taskCompleted')
			? ignore(context, 'duplicate')
			: refuse(context, { reason: 'underway' });
	return await output(context, callback, settings, until, events);
}

/** Outputs the task of a callback, if that is an event that the user wants. */
async function output(
	context: IWebhookFunctions,
	callback: Callback,
	settings: TriggerSettings,
	until: number,
	events?: TaskEvents,
): Promise<IWebhookResponseData> {
	const { taskId, body, credentials, verifiedBy: signature } = callback;
	const service = new TaskService(context, credentials);
	const fetched = settings.fetchDetails ? await fetchDetails(service, taskId, until) : undefined;
	const finding = conclude(context, callback, fetched);
	if ('reason' in finding) return refuse(context, finding);
	const { task, status, details, isFact } = finding;
	const event = status === 'failed' ? 'taskFailed' : 'taskCompleted';
	if (!settings.events.includes(event)) return ignore(context, 'eventNotWanted');
	// Claims are remembered apart, so that none takes the place of the event that the service confirms.
	const remembered = isFact ? event : `${event}:claimed`;
	if (events?.has(event) || events?.has(remembered)) return ignore(context, 'duplicate');
	const verification = { signature, details };
	const json = { ...task, callback: service.hideSecrets(body), verification };
	return answerOnceStored([{ json: json as unknown as IDataObject }], () => {
		events?.add(remembered);
		return { accepted: true, emitted: true };
	});
}

/** What is known of a task that has ended. */
interface Finding {
	details: 'fetched' | 'unavailable' | 'off';
	task: Task;
	status: TaskStatus;
	/** The service said it. False: only the callback claims it. */
	isFact: boolean;
}

/** Works out the outcome of a task from its callback and its details. */
function conclude(
	context: IWebhookFunctions,
	{ taskId, claimedStatus, verifiedBy }: Callback,
	details?: Details,
): Finding | Refused {
	const claim = { status: claimedStatus, isFact: false };
	if (!details) return { details: 'off', task: { taskId, status: claimedStatus }, ...claim };
	if (details.outcome === 'down') return { reason: 'detailsUnavailable', cause: details.message };
	if (details.outcome === 'fetched') {
		if (isForAnother(context, details.task)) return { reason: 'createdForAnother' };
		const { status: known, state = '' } = details.task;
		// A signed callback comes at the end, so its claim says what an unknown state means.
		const isEnd = known === 'pending' && verifiedBy !== 'off';
		const status = (isEnd ? toStatus(state, claimedStatus) : known) ?? 'pending';
		if (status === 'pending') return { reason: 'taskNotEnded' };
		const task = { ...details.task, status };
		return { details: 'fetched', task, status, isFact: status === known };
	}
	if (verifiedBy === 'off')
		return { reason: details.outcome === 'unknown' ? 'taskUnknown' : 'detailsUnavailable' };
	warn(context, 'withoutDetails', `outputs a task without its details: ${details.message}`);
	return { details: 'unavailable', task: { taskId }, ...claim };
}

/**
 * Tells whether a task was created with another receiver's callback URL, who could forward its
 * callbacks here. Hosts and paths change behind proxies, but each URL of this trigger has the ID of
 * its webhook in the path. The query doesn't count: its secrets are hidden.
 */
function isForAnother(context: IWebhookFunctions, task: Task): boolean {
	// Nodes without one have the workflow's ID in their URL.
	const own = context.getNode().webhookId ?? context.getWorkflow().id;
	const [path = ''] = task[REQUEST]?.callbackUrl?.split('?') ?? [];
	return path !== '' && own !== undefined && !path.includes(own);
}

/** Tells the sender that its callback is fine, though it starts nothing. */
const ignore = (context: IWebhookFunctions, reason: string): IWebhookResponseData =>
	answer(context, 200, { accepted: true, emitted: false, reason });
