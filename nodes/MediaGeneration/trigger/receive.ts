import {
	sleep,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
	type IWebhookResponseData,
	type Logger,
} from 'n8n-workflow';
import { ServiceError, TaskService } from '../api/client';
import type { Task, TaskStatus } from '../api/task';
import {
	DEFAULT_TOLERANCE_SECONDS,
	getSigningSecrets,
	type SigningSecrets,
} from '../callback/signature';
import { checkHeaders, verifyCallback, type Acceptance } from '../callback/verify';
import {
	answer,
	DETAILS_SETTINGS,
	DETAILS_UNAVAILABLE,
	handOver,
	readSharedCredentials,
	refuse,
	TASK_NOT_ENDED,
	type Refused,
} from '../callback/webhook';
import { Claim, REMEMBERED_SECONDS, RememberedEvents } from './deduplicate';

const EVENTS: Partial<Record<TaskStatus, string>> = {
	completed: 'taskCompleted',
	failed: 'taskFailed',
};

interface Details {
	details: 'fetched' | 'unavailable' | 'off';
	task: Task;
}

/**
 * Receives a callback: it is verified, held against the task's details, and emitted once as the Task; or refused, with the reason in
 * the answer and in n8n's log. Only the task ID and the timestamp of a callback are signed, so its body decides nothing.
 * Nothing is thrown: n8n would answer 500 and start an execution, for a sender that nobody has verified.
 */
export async function receiveCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await receive(context);
	} catch (error) {
		context.logger.error(`A callback could not be processed: ${(error as Error).message}`);
		return refuse(context, TEMPORARILY_UNAVAILABLE);
	}
}

async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const now = Date.now();
	const trigger = identifyTrigger(context);
	const options = readOptions(context.getNodeParameter('options', {}) as object);
	const { toleranceSeconds } = options;
	const signed = verifiesSignature(context.getNodeParameter('verifySignature', true));
	const refusal = checkHeaders(context.getHeaderData(), { signed, toleranceSeconds, now });
	if (refusal) return refuse(context, refusal);
	const credentials = await readSharedCredentials(context);
	const secrets = signed ? getSigningSecrets(credentials) : undefined;
	if (signed && !secrets) return refuse(context, KEY_MISSING);
	const verdict = verifyCallback(context.getHeaderData(), context.getBodyData(), {
		secrets,
		toleranceSeconds,
		now,
	});
	if (!verdict.accepted) return refuse(context, verdict);
	const { taskId, signature } = verdict;
	if (secrets) noteMatchingSecret(context.logger, trigger, secrets, signature);

	const remembered = new RememberedEvents(
		trigger,
		context.getWorkflowStaticData('node'),
		Math.floor(now / 1000),
		Math.max(REMEMBERED_SECONDS, 2 * toleranceSeconds),
	);
	const claimEvent = (event: string) => new Claim(trigger, `${taskId}:${event}`, remembered);
	// Listening for a test event ends with the first one: there each callback is a new one.
	const deduplicates = options.deduplicate && context.getMode() !== 'manual';
	// Nothing comes after completed, so a copy need not be looked up. A failed task may yet complete.
	if (deduplicates && claimEvent('taskCompleted').emitted) return ignore(context, 'duplicate');

	const found = options.fetchDetails
		? await fetchDetails(new TaskService(context, credentials), verdict)
		: { details: 'off' as const, task: { taskId, status: verdict.claimedStatus } };
	if (found === undefined) return refuse(context, TASK_UNKNOWN);
	const { task, details } = found;
	const status = details === 'unavailable' ? verdict.claimedStatus : task.status;
	const event = status && EVENTS[status];
	const wanted = event && (context.getNodeParameter('events') as string[]).includes(event);
	// A claim in the body must not drop an event: the sender is asked to retry, when the details can be read.
	if (details === 'unavailable' && !wanted) return refuse(context, DETAILS_UNAVAILABLE);
	if (!event) return refuse(context, TASK_NOT_ENDED);
	if (!wanted) return ignore(context, 'eventNotWanted');
	const claim = deduplicates ? claimEvent(event) : undefined;
	const taken = await claim?.take(
		context.getResponseObject(),
		now + DETAILS_SETTINGS.timeoutSeconds * 1000,
	);
	if (taken === 'emitted') return ignore(context, 'duplicate');
	if (taken === 'underway') return refuse(context, UNDERWAY);
	const json = {
		...task,
		callback: context.getBodyData(),
		verification: { signature, details },
	} as unknown as IDataObject;
	return handOver([{ json }], () => {
		claim?.confirm();
		return { accepted: true, emitted: true };
	});
}

interface Options {
	deduplicate: boolean;
	fetchDetails: boolean;
	toleranceSeconds: number;
}

/**
 * Only a literal false turns off an option that protects. An expression, or a workflow file, may give anything else: a blank
 * text, 0, nothing.
 */
const isOn = (value: unknown): boolean => value !== false;

export const verifiesSignature = isOn;

/** Reads the Options that the user set, with the defaults of the others. A tolerance that is no number of seconds is the default too. */
export function readOptions(set: object): Options {
	const { deduplicate, fetchDetails, toleranceSeconds } = set as Partial<
		Record<keyof Options, unknown>
	>;
	return {
		deduplicate: isOn(deduplicate),
		fetchDetails: isOn(fetchDetails),
		toleranceSeconds:
			typeof toleranceSeconds === 'number' && toleranceSeconds >= 0 && isFinite(toleranceSeconds)
				? toleranceSeconds
				: DEFAULT_TOLERANCE_SECONDS,
	};
}

/** After so many callbacks in a row with the current secret, the previous one is taken to be out of use. */
export const ENOUGH_CALLBACKS = 20;

/** By trigger, the number of callbacks in a row with the current secret; kept while there is a previous one. */
const inARow = new Map<string, number>();

/** Says once in n8n's log that the previous key can be cleared. Each item says which key matched. */
export function noteMatchingSecret(
	logger: Pick<Logger, 'info'>,
	trigger: string,
	{ previous }: SigningSecrets,
	matching: Acceptance['signature'],
): void {
	if (!previous) {
		inARow.delete(trigger);
		return;
	}
	const count = matching === 'current' ? (inARow.get(trigger) ?? 0) + 1 : 0;
	inARow.set(trigger, count);
	if (count === ENOUGH_CALLBACKS)
		logger.info(
			`The last ${count} callbacks were all signed with the current key. If the service has replaced the key, clear 'Previous Webhook HMAC Key' in the credential.`,
		);
}

/** Forgets what a trigger has emitted that is deactivated. */
export function forgetEvents(context: IHookFunctions): void {
	new RememberedEvents(identifyTrigger(context), context.getWorkflowStaticData('node'), 0).forget();
}

const TEMPORARILY_UNAVAILABLE: Refused = {
	status: 503,
	reason: 'temporarilyUnavailable',
	message: 'Temporarily unable to process callbacks. Retry later.',
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

const UNDERWAY: Refused = {
	status: 503,
	reason: 'underway',
	message: 'A copy of this callback is still being processed. Retry later.',
};

/** Identifies a trigger among all that run here. */
const identifyTrigger = (context: IWebhookFunctions | IHookFunctions): string =>
	`${context.getWorkflow().id}:${context.getNode().id}`;

/** Tells the sender that its callback is in order, though it starts nothing. */
const ignore = (
	context: IWebhookFunctions,
	reason: 'duplicate' | 'eventNotWanted',
): IWebhookResponseData => answer(context, 200, { accepted: true, emitted: false, reason });

/**
 * Fetches the task's details within the time that a sender waits.
 * @returns the task's ID alone where they can't be read; undefined when the service does not know the task
 */
async function fetchDetails(
	service: TaskService,
	{ taskId }: Acceptance,
): Promise<Details | undefined> {
	const unavailable: Details = { details: 'unavailable', task: { taskId } };
	const fetch = async (): Promise<Details | undefined> => {
		try {
			return { details: 'fetched', task: await service.getTask(taskId, DETAILS_SETTINGS) };
		} catch (error) {
			const isUnknown = error instanceof ServiceError && (error.code === 404 || error.code === 422);
			return isUnknown ? undefined : unavailable;
		}
	};
	// The timeout of a request begins anew with each byte; this one does not.
	const timeout = sleep(DETAILS_SETTINGS.timeoutSeconds * 1000).then(() => unavailable);
	return await Promise.race([fetch(), timeout]);
}
