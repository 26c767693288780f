import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { TaskService } from '../api/client';
import type { Credentials } from '../api/endpoints';
import { REQUEST, toStatus, warnOfLeftOut, type Task, type TaskStatus } from '../api/task';
import { readReference, REFERENCE } from '../callback/reference';
import { ANSWER, answer, refuseCallback, warnOwner } from '../callback/respond';
import { readSigningKeys } from '../callback/signature';
import { verifyRequest, type AcceptedCallback } from '../callback/verifyRequest';
import { answerOnceStored } from '../host/storedAnswer';
import { dropUndefined } from '../lib/json';
import { TaskEvents } from './events';
import { fetchDetails, type Details } from './fetchDetails';
import { readSettings, type TriggerSettings } from './options';
import { TRIGGER_REFUSALS, type TriggerRefused } from './refusals';

/**
 * Receives a callback: verifies it, reads the task's details, and outputs the Task once, or refuses
 * the callback. Its body decides nothing, as not every service signs it. Nothing is thrown, because
 * n8n would start an execution for an unverified sender.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await verifyAndOutput(context);
	} catch (error) {
		return refuse(context, { reason: 'temporarilyUnavailable', cause: (error as Error).message });
	}
}

async function verifyAndOutput(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const until = Date.now() + ANSWER;
	const settings = readSettings(context);
	const { verifySignature: signed, toleranceSeconds } = settings;
	const callback = await verifyRequest(context, { signed, toleranceSeconds });
	if ('reason' in callback) return refuse(context, callback);
	// A part of the result. Another callback follows.
	if (callback.claim.status === 'pending') return ignore(context, 'taskNotEnded');
	// n8n stops listening for a test event after the first one, so each callback is new there.
	if (context.getMode() === 'manual') return await outputTask(context, callback, settings, until);
	const events = new TaskEvents(context, callback.taskId);
	if (await events.begin(until))
		return await outputTask(context, callback, settings, until, events);
	// Completed is final. A failed task may still complete.
	return events.has('taskCompleted')
		? ignore(context, 'duplicate')
		: refuse(context, { reason: 'underway' });
}

/** Outputs the task of a callback, if its outcome is an event that the user wants. */
async function outputTask(
	context: IWebhookFunctions,
	callback: AcceptedCallback,
	settings: TriggerSettings,
	until: number,
	events?: TaskEvents,
): Promise<IWebhookResponseData> {
	const { taskId, body, signedBy: signature } = callback;
	const credentials = await callback.readCredentials();
	const service = new TaskService(context, credentials);
	const fetched = settings.fetchDetails ? await fetchDetails(service, taskId, until) : undefined;
	const finding = conclude(context, callback, fetched);
	if ('reason' in finding) return refuse(context, finding);
	const { task, status, details, isConfirmed } = finding;
	const event = status === 'failed' ? 'taskFailed' : 'taskCompleted';
	if (!settings.events.includes(event)) return ignore(context, 'eventNotWanted');
	// A claim has a name of its own, so that the service can still confirm the event later.
	const remembered = isConfirmed ? event : `${event}:claimed`;
	if (events?.has(event) || events?.has(remembered)) return ignore(context, 'duplicate');
	const verification = { signature, details };
	const reference = findReference(context, credentials);
	const said = service.hideSecrets(body);
	const json = dropUndefined({ ...task, reference, callback: said, verification });
	return answerOnceStored([{ json: json as unknown as IDataObject }], () => {
		events?.add(remembered);
		return { accepted: true, emitted: true };
	});
}

/** Finds the reference of Start Without Waiting in the URL; undefined if there is none of ours. */
function findReference(context: IWebhookFunctions, credentials: Credentials): string | undefined {
	const { [REFERENCE]: sent } = context.getQueryData() as IDataObject;
	if (sent === undefined) return undefined;
	const keys = readSigningKeys(credentials);
	const reference = keys && readReference(sent, keys);
	if (reference === undefined)
		warnOwner(
			context,
			REFERENCE,
			"leaves out the reference in a callback's URL: no key of the credential made it. Somebody wrote or changed it, or it was made with an older key.",
		);
	return reference;
}

/** What is known of a task that has ended. */
interface Finding {
	/** As the item's `verification` has it. */
	details: 'fetched' | 'unavailable' | 'off';
	/** As it is output. */
	task: Task;
	status: TaskStatus;
	/** The service says the status too. False: only the callback claims it. */
	isConfirmed: boolean;
}

/** Works out the outcome of a task from its callback and its details. @param details undefined: off */
function conclude(
	context: IWebhookFunctions,
	callback: AcceptedCallback,
	details?: Details,
): Finding | TriggerRefused {
	const { taskId, claim, signedBy } = callback;
	const claimed = { status: claim.status, isConfirmed: false };
	if (!details) return { ...claimed, details: 'off', task: { taskId, status: claim.status } };
	if (details.outcome === 'fetched') return confirm(context, callback, details.task);
	if (details.outcome === 'down') return { reason: 'detailsUnavailable', cause: details.message };
	// Anyone can send an unsigned callback, so the service must know the task.
	if (signedBy === 'off')
		return { reason: details.outcome === 'unknown' ? 'taskUnknown' : 'detailsUnavailable' };
	warnOwner(context, 'withoutDetails', `outputs a task without its details: ${details.message}`);
	return { ...claimed, details: 'unavailable', task: { taskId } };
}

/** Works out the outcome of a task that the service knows. */
function confirm(
	context: IWebhookFunctions,
	{ claim, signedBy }: AcceptedCallback,
	fetched: Task,
): Finding | TriggerRefused {
	if (isForAnother(context, fetched)) return { reason: 'createdForAnother' };
	const { status: known, state = '' } = fetched;
	// Services send a signed callback at the end, so its claim tells what an unknown state means.
	const isAtEnd = known === 'pending' && signedBy !== 'off';
	const status = (isAtEnd ? toStatus(state, claim.status) : known) ?? 'pending';
	if (status === 'pending') return { reason: 'taskNotEnded' };
	const task = warnOfLeftOut({ ...fetched, status });
	return { details: 'fetched', task, status, isConfirmed: status === known };
}

/**
 * Tells whether a task was created with another receiver's callback URL, who could forward its
 * callbacks here. Hosts and paths change behind proxies, but each URL of this trigger has the ID of
 * its webhook in the path. The query doesn't count, because its secrets are hidden.
 */
function isForAnother(context: IWebhookFunctions, task: Task): boolean {
	// Nodes without a webhook ID have the workflow's ID in their URL.
	const own = context.getNode().webhookId ?? context.getWorkflow().id;
	const [path = ''] = task[REQUEST]?.callbackUrl?.split('?') ?? [];
	return path !== '' && own !== undefined && !path.includes(own);
}

const refuse = (context: IWebhookFunctions, refused: TriggerRefused): IWebhookResponseData =>
	refuseCallback(context, TRIGGER_REFUSALS, refused);

/** Tells the sender that its callback is fine, though it starts nothing. */
const ignore = (context: IWebhookFunctions, reason: string): IWebhookResponseData =>
	answer(context, 200, { accepted: true, emitted: false, reason });
