import {
	UserError,
	type IDataObject,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../api/client';
import type { Credentials } from '../api/credential';
import { factsOf, isOfKind } from '../api/failure';
import { REQUEST, findStatus, type Task, type TaskStatus } from '../api/task';
import { readReference, REFERENCE } from '../callback/reference';
import type { Refused } from '../callback/refusals';
import { readSigningKeys } from '../callback/signature';
import {
	ANSWER_TIMEOUT,
	answer,
	refuse,
	verifyRequest,
	warnOwner,
	type ReceivedCallback,
} from '../callback/webhook';
import { answerOnceStored } from '../host/webhookRequest';
import { dropUndefined } from '../lib/json';
import { pause, settleBy } from '../lib/timers';
import { beginCallback, type Ignored } from './events';
import { readSettings } from './options';

/** How long the service may take to answer. */
const DETAILS_TIMEOUT_SECONDS = 4;

/** The service may not know a task for some seconds after its creation, so it is asked again. */
export const PAUSES_BEFORE_KNOWN = [1_000, 2_000] as const;

/** What comes of a callback. */
type Verdict = Refused | Ignored | { json: object; remember: () => void };

/**
 * Receives a callback: verifies it, reads the task's details, and outputs the Task once, or refuses
 * the callback. The body decides nothing, because not every service signs it. Nothing is thrown,
 * because n8n would start an execution for an unverified sender.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const verdict = await judge(context).catch(
		(error: Error): Verdict => ({ reason: 'temporarilyUnavailable', cause: error.message }),
	);
	if ('reason' in verdict) return refuse(context, verdict);
	if ('ignored' in verdict)
		return answer(context, 200, { accepted: true, emitted: false, reason: verdict.ignored });
	return answerOnceStored([{ json: verdict.json as IDataObject }], () => {
		verdict.remember();
		return { accepted: true, emitted: true };
	});
}

async function judge(context: IWebhookFunctions): Promise<Verdict> {
	const answerBy = Date.now() + ANSWER_TIMEOUT;
	const settings = readSettings(context);
	const callback = await verifyRequest(context, settings);
	if ('reason' in callback) return callback;
	// The callback brings a part of the result. Another callback follows.
	if (callback.claim.status === 'pending') return { ignored: 'taskNotEnded' };
	const events = await beginCallback(context, callback.taskId, answerBy);
	if (!('remember' in events)) return events;
	const credentials = await callback.readCredentials();
	const service = new TaskService(context, credentials);
	const finding = settings.fetchDetails
		? judgeByAnswer(context, callback, await askForTask(service, callback.taskId, answerBy))
		: makeUnconfirmedFinding(callback, 'off', { status: callback.claim.status });
	if ('reason' in finding) return finding;
	const { task, status, details, isConfirmed } = finding;
	const event = status === 'failed' ? 'taskFailed' : 'taskCompleted';
	if (!settings.events.includes(event)) return { ignored: 'eventNotWanted' };
	// A claimed event has a name of its own, so that the service can still confirm the event later.
	const name = isConfirmed ? event : `${event}:claimed`;
	if (events.isKnown(event) || events.isKnown(name)) return { ignored: 'duplicate' };
	return {
		json: dropUndefined({
			...task,
			reference: findReference(context, credentials),
			callback: service.hideSecrets(callback.body),
			verification: { signature: callback.signedBy, details },
		}),
		remember: () => events.remember(name),
	};
}

/**
 * Asks for a task, and again if the service doesn't know the task.
 * @returns undefined without an answer in time
 */
async function askForTask(
	service: TaskService,
	taskId: string,
	answerBy: number,
): Promise<Task | Error | undefined> {
	let details: Task | Error | undefined;
	const ask = async () => {
		const settings = { timeoutSeconds: DETAILS_TIMEOUT_SECONDS };
		for (const length of [0, ...PAUSES_BEFORE_KNOWN]) {
			if (length) await pause(length);
			details = await service.getTask(taskId, settings).catch((error: Error) => error);
			if (!isOfKind(details, 'unknownTask')) return;
		}
	};
	await settleBy(answerBy, ask());
	// A slow service may have said before that it doesn't know the task.
	return details;
}

/** What is known of a task that has ended. */
interface Finding {
	/** What the item says in `verification.details`. */
	details: 'fetched' | 'unavailable' | 'off';
	/** The parts of the task that are output. */
	task: Task;
	status: TaskStatus;
	/** The service says the same status; otherwise only the callback claims this status. */
	isConfirmed: boolean;
}

/**
 * Takes the callback's word for how its task has ended.
 * @param shown what is output beside the task's ID: the claimed status if the user turned the details
 *   off, and so relies on claims; otherwise nothing, because the body isn't signed
 */
const makeUnconfirmedFinding = (
	{ taskId, claim }: ReceivedCallback,
	details: Finding['details'],
	shown?: Partial<Task>,
): Finding => ({ details, task: { taskId, ...shown }, status: claim.status, isConfirmed: false });

/** Works out how a task has ended, from the service's details or its lack of them. */
function judgeByAnswer(
	context: IWebhookFunctions,
	callback: ReceivedCallback,
	details: Task | Error | undefined,
): Finding | Refused {
	if (details && !(details instanceof Error)) return judgeByDetails(context, callback, details);
	const isTaskUnknown = isOfKind(details, 'unknownTask');
	const cause =
		details instanceof UserError
			? [details.message, details.description].filter(Boolean).join('. ')
			: '';
	// There was no answer in time, or the error is temporary. All other errors last until somebody
	// corrects their cause, such as a path in the credential.
	if (!cause || factsOf(details).isTemporary) return { reason: 'detailsUnavailable', cause };
	// Anyone can send an unsigned callback, so the service must know the task.
	if (callback.signedBy === 'off')
		return { reason: isTaskUnknown ? 'taskUnknown' : 'detailsUnavailable' };
	warnOwner(context, 'withoutDetails', `outputs a task without its details: ${cause}`);
	return makeUnconfirmedFinding(callback, 'unavailable');
}

/** Works out how a task has ended, from the service's details. */
function judgeByDetails(
	context: IWebhookFunctions,
	{ claim, signedBy }: ReceivedCallback,
	task: Task,
): Finding | Refused {
	if (isForAnother(context, task)) return { reason: 'createdForAnother' };
	const { status: statusByDetails = 'pending', state = '' } = task;
	// A task whose state we don't know counts as pending. Services call back only when a task has ended.
	// So for an unknown state, a signed callback decides.
	const isStateUnknown = statusByDetails === 'pending' && findStatus(state) === undefined;
	const status = isStateUnknown && signedBy !== 'off' ? claim.status : statusByDetails;
	if (status === 'pending') return { reason: 'taskNotEnded' };
	return {
		details: 'fetched',
		task: { ...task, status },
		status,
		isConfirmed: status === statusByDetails,
	};
}

/**
 * Says whether a task was created with the callback URL of another receiver, who could forward the
 * task's callbacks here. Proxies change hostnames and paths, but each URL of this trigger has its
 * webhook's ID in the path. The query doesn't count, because the secrets in it are hidden.
 */
function isForAnother(context: IWebhookFunctions, task: Task): boolean {
	// Nodes without a webhook ID have the workflow's ID in their URL.
	const ownId = context.getNode().webhookId ?? context.getWorkflow().id;
	const [path = ''] = task[REQUEST]?.callbackUrl?.split('?') ?? [];
	return path !== '' && ownId !== undefined && !path.includes(ownId);
}

/** Finds the reference of Start Without Waiting in the URL; undefined if there is none of ours. */
function findReference(context: IWebhookFunctions, credentials: Credentials): string | undefined {
	const { [REFERENCE]: value } = context.getQueryData() as IDataObject;
	if (value === undefined) return undefined;
	const keys = readSigningKeys(credentials);
	const reference = keys && readReference(value, keys);
	if (reference === undefined)
		warnOwner(
			context,
			REFERENCE,
			"leaves out the reference in a callback's URL: no key of the credential signed it as it is.",
		);
	return reference;
}
