import {
	UserError,
	type IDataObject,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../api/client';
import type { Credentials } from '../api/endpoints';
import { factsOf, isOfKind } from '../api/failure';
import { REQUEST, findStatus, warnOfLeftOut, type Task, type TaskStatus } from '../api/task';
import { readReference, REFERENCE } from '../callback/reference';
import type { Refused } from '../callback/refusals';
import { readSigningKeys } from '../callback/signature';
import {
	ANSWER_TIMEOUT,
	answer,
	refuse,
	verifyRequest,
	warnOwner,
	type AcceptedCallback,
} from '../callback/webhook';
import { answerOnceStored } from '../host/webhook';
import { dropUndefined } from '../lib/json';
import { pause, settleBy } from '../lib/timers';
import { TaskEvents } from './events';
import { readSettings, type TriggerSettings } from './options';

/** How long the service may take to answer, in milliseconds. */
export const DETAILS_TIMEOUT = 4_000;

/** The pauses before it is asked again: it may not know a task for some seconds after its creation. */
export const KNOWN_AGAIN = [1_000, 2_000] as const;

/** What comes of a callback. One that is ignored is fine, though it starts nothing. */
type Outcome = Refused | { ignored: string } | { json: object; onStored: () => void };

/**
 * Receives a callback: verifies it, reads the task's details, and outputs the Task once, or refuses
 * the callback. Its body decides nothing, as not every service signs it. Nothing is thrown, because
 * n8n would start an execution for an unverified sender.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const outcome = await judge(context).catch(
		(error: Error): Outcome => ({ reason: 'temporarilyUnavailable', cause: error.message }),
	);
	if ('reason' in outcome) return refuse(context, outcome);
	if ('ignored' in outcome)
		return answer(context, 200, { accepted: true, emitted: false, reason: outcome.ignored });
	return answerOnceStored([{ json: outcome.json as IDataObject }], () => {
		outcome.onStored();
		return { accepted: true, emitted: true };
	});
}

async function judge(context: IWebhookFunctions): Promise<Outcome> {
	const until = Date.now() + ANSWER_TIMEOUT;
	const settings = readSettings(context);
	const callback = await verifyRequest(context, settings);
	if ('reason' in callback) return callback;
	// A part of the result. Another callback follows.
	if (callback.claim.status === 'pending') return { ignored: 'taskNotEnded' };
	// n8n stops listening for a test event after the first one, so each callback is new there.
	const isTest = context.getMode() === 'manual';
	const events = isTest ? undefined : new TaskEvents(context, callback.taskId);
	const obstacle = await events?.begin(until);
	if (obstacle === 'duplicate') return { ignored: obstacle };
	if (obstacle) return { reason: obstacle };
	return await outputTask(context, callback, { settings, until, events });
}

/** Outputs the task of a callback, if its outcome is an event that the user wants. */
async function outputTask(
	context: IWebhookFunctions,
	callback: AcceptedCallback,
	{ settings, until, events }: { settings: TriggerSettings; until: number; events?: TaskEvents },
): Promise<Outcome> {
	const { taskId, body, signedBy: signature } = callback;
	const credentials = await callback.readCredentials();
	const service = new TaskService(context, credentials);
	const finding = settings.fetchDetails
		? conclude(context, callback, await askForTask(service, taskId, until))
		: {
				...believe(callback),
				details: 'off' as const,
				task: { taskId, status: callback.claim.status },
			};
	if ('reason' in finding) return finding;
	const { task, status, details, isConfirmed } = finding;
	const event = status === 'failed' ? 'taskFailed' : 'taskCompleted';
	if (!settings.events.includes(event)) return { ignored: 'eventNotWanted' };
	// A claim has a name of its own, so that the service can still confirm the event later.
	const remembered = isConfirmed ? event : `${event}:claimed`;
	if (events?.has(event) || events?.has(remembered)) return { ignored: 'duplicate' };
	return {
		json: dropUndefined({
			...task,
			reference: findReference(context, credentials),
			callback: service.hideSecrets(body),
			verification: { signature, details },
		}),
		onStored: () => events?.add(remembered),
	};
}

/** Asks for a task, and again if the service doesn't know it. @returns undefined: no answer in time */
async function askForTask(
	service: TaskService,
	taskId: string,
	until: number,
): Promise<Task | Error | undefined> {
	let found: Task | Error | undefined;
	const ask = async ([length, ...more]: readonly number[]): Promise<void> => {
		found = await service
			.getTask(taskId, { timeoutSeconds: DETAILS_TIMEOUT / 1_000 })
			.catch((error: Error) => error);
		if (length === undefined || !isOfKind(found, 'unknownTask')) return;
		await pause(length);
		await ask(more);
	};
	await settleBy(until, ask(KNOWN_AGAIN));
	// A slow service may have said already that it doesn't know the task.
	return found;
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

const believe = ({ claim }: AcceptedCallback) => ({ status: claim.status, isConfirmed: false });

/** Works out the outcome of a task from its callback, and from its details or why there are none. */
function conclude(
	context: IWebhookFunctions,
	callback: AcceptedCallback,
	found: Task | Error | undefined,
): Finding | Refused {
	if (found && !(found instanceof Error)) return confirm(context, callback, found);
	const isUnknown = isOfKind(found, 'unknownTask');
	const cause =
		found instanceof UserError ? [found.message, found.description].filter(Boolean).join('. ') : '';
	// No answer now, or one about another task. Other errors last until somebody corrects something,
	// such as a path in the credential.
	if (!cause || (factsOf(found).passes && !isUnknown))
		return { reason: 'detailsUnavailable', cause };
	// Anyone can send an unsigned callback, so the service must know the task.
	if (callback.signedBy === 'off')
		return { reason: isUnknown ? 'taskUnknown' : 'detailsUnavailable' };
	warnOwner(context, 'withoutDetails', `outputs a task without its details: ${cause}`);
	return { ...believe(callback), details: 'unavailable', task: { taskId: callback.taskId } };
}

/** Works out the outcome of a task that the service knows. */
function confirm(
	context: IWebhookFunctions,
	{ claim, signedBy }: AcceptedCallback,
	fetched: Task,
): Finding | Refused {
	if (isForAnother(context, fetched)) return { reason: 'createdForAnother' };
	const { status: known, state = '' } = fetched;
	// Services send a signed callback at the end, so its claim tells what an unknown state means.
	const isAtEnd = known === 'pending' && signedBy !== 'off';
	const status = (isAtEnd ? (findStatus(state) ?? claim.status) : known) ?? 'pending';
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
