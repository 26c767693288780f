import type {
	IDataObject,
	IHookFunctions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../api/client';
import { toStatus, type Task, type TaskStatus } from '../api/task';
import {
	checkForm,
	DEFAULT_TOLERANCE_SECONDS,
	getSigningSecrets,
	TIMESTAMP_HEADER,
	verifyCallback,
	type Acceptance,
} from '../callback/verify';
import { answer, DETAILS_SETTINGS, handOver, refuse } from '../callback/respond';
import { readBody } from '../callback/readBody';
import { readSharedCredentials } from '../callback/sharedCredentials';
import { Claim, REMEMBERED_SECONDS, RememberedEvents } from './deduplicate';
import { lookUp, type Lookup } from './lookups';

const EVENTS: Partial<Record<TaskStatus, string>> = {
	completed: 'taskCompleted',
	failed: 'taskFailed',
};

/** What is known of a task. */
interface Finding {
	details: 'fetched' | 'unavailable' | 'off';
	task: Task;
	status: TaskStatus;
	/** The service said it. False: only the callback claims it. */
	isFact: boolean;
}

/**
 * Receives a callback: verifies it, reads the task's details, and emits the Task once. Or refuses it, with the reason in the answer
 * and in n8n's log. Only the task ID and the timestamp of a callback are signed, so its body decides nothing. Nothing is thrown,
 * because n8n would answer 500 and start an execution for an unverified sender.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await receive(context);
	} catch (error) {
		context.logger.error(`A callback could not be processed: ${(error as Error).message}`);
		return refuse(context, 'temporarilyUnavailable');
	}
}

async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const now = Date.now();
	const trigger = identifyTrigger(context);
	const options = readOptions(context.getNodeParameter('options', {}) as object);
	const { toleranceSeconds, otherCallbackBodies: otherBodies } = options;
	const signed = verifiesSignature(context.getNodeParameter('verifySignature', true));
	const headers = context.getHeaderData();
	const body = await readBody(context);
	const settings = { toleranceSeconds, now, otherBodies };
	const form = checkForm(headers, body, signed, settings);
	if ('reason' in form) return refuse(context, form);
	const credentials = await readSharedCredentials(context);
	const secrets = signed ? getSigningSecrets(credentials) : undefined;
	if (signed && !secrets) return refuse(context, 'keyMissing');
	const verdict = verifyCallback(headers, body, { ...settings, secrets });
	if (!verdict.accepted) return refuse(context, verdict);
	const { taskId, signature, claimedStatus } = verdict;

	const remembered = new RememberedEvents(
		trigger,
		context.getWorkflowStaticData('node'),
		Math.floor(now / 1000),
		Math.max(REMEMBERED_SECONDS, 2 * toleranceSeconds),
	);
	const claimEvent = (event: string) => new Claim(trigger, `${taskId}:${event}`, remembered);
	// Listening for a test event ends with the first one, so each callback is new there.
	const deduplicates = options.deduplicate && context.getMode() !== 'manual';
	// Completed is final, so a copy needs no look-up. A failed task may still complete.
	if (deduplicates && claimEvent('taskCompleted').emitted) return ignore(context, 'duplicate');

	const signedTime = secrets ? String(headers[TIMESTAMP_HEADER]) : undefined;
	const lookup = options.fetchDetails
		? await lookUp({ trigger, taskId, signedTime }, new TaskService(context, credentials))
		: undefined;
	// Only facts are final. A claim while the service is down would use up the true event, so the sender is asked to retry.
	if (lookup?.outcome === 'down') return refuse(context, 'detailsUnavailable');
	if (lookup?.outcome === 'unknown') return refuse(context, 'taskUnknown');
	if (lookup?.outcome === 'doubtful') return refuse(context, 'detailsDoubtful');
	if (lookup?.outcome === 'fetched' && isForAnother(context, lookup.callbackUrl))
		return refuse(context, 'createdForAnother');
	const { task, status, details, isFact } = conclude(verdict, lookup);
	const event = EVENTS[status];
	// A callback that doesn't claim an end only reports progress. Another one follows.
	if (!event)
		return claimedStatus === 'pending'
			? ignore(context, 'taskNotEnded')
			: refuse(context, 'taskNotEnded');
	if (!(context.getNodeParameter('events') as string[]).includes(event))
		return ignore(context, 'eventNotWanted');
	if (deduplicates && claimEvent(event).emitted) return ignore(context, 'duplicate');
	// Claims are remembered separately, so a claim doesn't block the verified event.
	const claim = deduplicates ? claimEvent(isFact ? event : `${event}:claimed`) : undefined;
	const taken = await claim?.take(
		context.getResponseObject(),
		now + DETAILS_SETTINGS.timeoutSeconds * 1000,
	);
	if (taken === 'emitted') return ignore(context, 'duplicate');
	if (taken === 'underway') return refuse(context, 'underway');
	const json = {
		...task,
		callback: body,
		verification: { signature, details },
	} as unknown as IDataObject;
	return handOver([{ json }], () => {
		claim?.confirm();
		return { accepted: true, emitted: true };
	});
}

/** Works out the task's status from a callback and its look-up. */
function conclude(
	{ taskId, signature, claimedStatus }: Acceptance,
	lookup: Extract<Lookup, { outcome: 'fetched' | 'unreadable' }> | undefined,
): Finding {
	if (lookup?.outcome === 'fetched') {
		const { status: known = 'pending', state = '' } = lookup.task;
		// A signed callback comes at the end, so its claim says what an unknown state means.
		const status =
			known === 'pending' && signature !== 'off' ? toStatus(state, claimedStatus) : known;
		return {
			details: 'fetched',
			task: { ...lookup.task, status },
			status,
			isFact: status === known,
		};
	}
	return {
		details: lookup ? 'unavailable' : 'off',
		task: lookup ? { taskId } : { taskId, status: claimedStatus },
		status: claimedStatus,
		isFact: false,
	};
}

/**
 * Tells whether a task was created with another receiver's callback URL. That receiver could forward its callbacks to this trigger.
 * Hosts and paths change behind proxies and relays, but each URL of this trigger has the ID of its webhook in the path. The query
 * doesn't count, because it may hold secrets and is then redacted.
 */
function isForAnother(context: IWebhookFunctions, callbackUrl?: string): boolean {
	// Nodes without one have the workflow's ID in their URL.
	const own = context.getNode().webhookId ?? context.getWorkflow().id;
	const [path = ''] = callbackUrl?.split('?') ?? [];
	return path !== '' && own !== undefined && !path.includes(own);
}

interface Options {
	deduplicate: boolean;
	fetchDetails: boolean;
	otherCallbackBodies: boolean;
	toleranceSeconds: number;
}

/**
 * Only a literal false turns off an option that protects. An expression or a workflow file may have anything else, such as blank
 * text, 0 or nothing.
 */
const isOn = (value: unknown): boolean => value !== false;

export const verifiesSignature = isOn;

/**
 * Reads the Options, with defaults for those that the user did not set. A tolerance that isn't a number of seconds is the default
 * too.
 */
export function readOptions(set: object): Options {
	const { deduplicate, fetchDetails, otherCallbackBodies, toleranceSeconds } = set as Partial<
		Record<keyof Options, unknown>
	>;
	return {
		deduplicate: isOn(deduplicate),
		fetchDetails: isOn(fetchDetails),
		otherCallbackBodies: otherCallbackBodies === true,
		toleranceSeconds:
			typeof toleranceSeconds === 'number' && toleranceSeconds >= 0 && isFinite(toleranceSeconds)
				? toleranceSeconds
				: DEFAULT_TOLERANCE_SECONDS,
	};
}

/** Forgets the events of a deactivated trigger. */
export function forgetEvents(context: IHookFunctions): void {
	new RememberedEvents(identifyTrigger(context), context.getWorkflowStaticData('node'), 0).forget();
}

/** Identifies a trigger among all that run here. */
const identifyTrigger = (context: IWebhookFunctions | IHookFunctions): string =>
	`${context.getWorkflow().id}:${context.getNode().id}`;

/** Tells the sender that its callback is fine, though it starts nothing. */
const ignore = (
	context: IWebhookFunctions,
	reason: 'duplicate' | 'eventNotWanted' | 'taskNotEnded',
): IWebhookResponseData => answer(context, 200, { accepted: true, emitted: false, reason });
