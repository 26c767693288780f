import {
	jsonParse,
	sleep,
	type IDataObject,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { BoundedMap } from '../lib/boundedMap';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import { isJsonType } from './verify';

/** Time for task details and everything else before a callback is answered: senders give up after 5 to 15 seconds. */
export const DETAILS_SETTINGS = { timeoutSeconds: 4 };

/** An answer of n8n's is waited for so long, in milliseconds. Senders have given up and retried long before. */
export const ANSWER_LIMIT = 60_000;

/** The reason for which a callback is turned away. All of it is our words, save the time that the sender gave. */
export interface Refused {
	status: number;
	reason: string;
	message: string;
	clockDifferenceSeconds?: number;
}

export const TASK_NOT_ENDED: Refused = {
	status: 503,
	reason: 'taskNotEnded',
	message: 'By its details the task has not ended. Retry when it has.',
};

export const DETAILS_UNAVAILABLE: Refused = {
	status: 503,
	reason: 'detailsUnavailable',
	message: "The task's details are temporarily unavailable. Retry later.",
};

/** Callbacks share what was read of a credential for so long, in milliseconds. A change of the credential counts that much later. */
export const SHARED_FOR = 1_000;

/** Reads under way or just ended, by node and credential. */
const reads = new Map<string, Promise<Credentials>>();

/** Reads the node's credential for a callback. Callbacks share a read for a second: each costs n8n a V8 isolate. */
export async function readSharedCredentials(context: IWebhookFunctions): Promise<Credentials> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL]?.id} ${context.getMode()}`;
	const known = reads.get(key);
	if (known) return await known;
	const read = context.getCredentials<Credentials>(CREDENTIAL);
	reads.set(key, read);
	const forget = () => reads.delete(key);
	void read.then(async () => await sleep(SHARED_FOR)).then(forget, forget);
	return await read;
}

/** The request as n8n makes it. Nodes of version 1 find the bytes in it; for newer ones they are still to be read. */
interface UnparsedRequest {
	rawBody?: Buffer;
	/** Reads no more than n8n's limit. */
	readRawBody?: () => Promise<void>;
}

/**
 * Reads the body of a callback. Of the types that are JSON, n8n parses application/json alone.
 * @returns the parsed JSON; null where it can't be read
 */
export async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const body = context.getBodyData();
	const type = context.getHeaderData()['content-type'] ?? '';
	if (/^application\/json\b/i.test(type) || !isJsonType(type)) return body;
	const request = context.getRequestObject() as UnparsedRequest;
	await request.readRawBody?.().catch(() => undefined);
	return jsonParse(String(request.rawBody), { fallbackValue: null });
}

/** Answers the sender in our own words; nothing starts or continues. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/** Turns the sender away with the reason, which the owner finds in n8n's log. */
export function refuse(context: IWebhookFunctions, refused: Refused): IWebhookResponseData {
	logRefusal(context, refused);
	const { status, reason, message } = refused;
	return answer(context, status, { accepted: false, reason, message });
}

/**
 * Hands the items to n8n, which answers when it has stored the execution with them, and with 500 when it could not. So a sender
 * that hears 200 need not send again.
 * @param onStored is called when n8n has stored the execution, before it saves static data and answers; returns the answer
 */
export const handOver = (
	items: INodeExecutionData[],
	onStored: () => IDataObject,
): IWebhookResponseData => ({
	get webhookResponse() {
		return onStored();
	},
	workflowData: [items],
});

/** Seconds in which a node logs one line for each reason: anyone can send callbacks. */
const QUIET_SECONDS = 60;

/** The last line by node and reason, and how many refusals since were not logged. */
const lines = new BoundedMap<string, { since: number; unlogged: number }>(1_000);

/** Tells the owner in n8n's log why a callback was refused, at a level that n8n logs by default. */
export function logRefusal(
	context: Pick<IWebhookFunctions, 'logger' | 'getNode' | 'getWorkflow'>,
	{ status, reason, message, clockDifferenceSeconds }: Refused,
): void {
	const now = Date.now() / 1000;
	const key = `${context.getWorkflow().id}:${context.getNode().id}:${reason}`;
	const last = lines.get(key);
	if (last && now - last.since < QUIET_SECONDS) {
		last.unlogged++;
		return;
	}
	lines.set(key, { since: now, unlogged: 0 });
	const facts = [
		`${status} ${reason}`,
		clockDifferenceSeconds !== undefined &&
			`${Math.abs(clockDifferenceSeconds)} s ${clockDifferenceSeconds < 0 ? 'behind' : 'ahead of'} the clock here`,
		last?.unlogged && `${last.unlogged} more since the last line`,
	];
	context.logger.warn(
		`"${context.getNode().name}" refused a callback: ${message} (${facts.filter(Boolean).join('; ')}). To find out more, use Task: Verify Callback of the Media Generation node.`,
		{ workflowId: context.getWorkflow().id },
	);
}
