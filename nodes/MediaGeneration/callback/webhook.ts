import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { Credentials } from '../api/credential';
import { readAsWebhook } from '../host/credentialAccess';
import { readRequest } from '../host/webhookRequest';
import { Memory } from '../lib/memory';
import { REFUSALS, type Refused } from './refusals';
import { verify, type VerifiedCallback, type VerifyOptions } from './verify';

/** Within how many milliseconds senders get an answer. They usually give up after 5 to 15 s. */
export const ANSWER_TIMEOUT = 5_000;

/** A verified callback in a webhook of n8n. */
export interface ReceivedCallback extends VerifiedCallback {
	body: unknown;
	/** Returns the credential, which is read once at most. @throws if n8n can't read the credential */
	readCredentials: () => Promise<Credentials>;
}

/** Verifies the callback in a request to n8n. @throws if n8n can't read the credential */
export async function verifyRequest(
	context: IWebhookFunctions,
	options: VerifyOptions,
): Promise<Refused | ReceivedCallback> {
	const request = readRequest(context);
	let credentials: Promise<Credentials> | undefined;
	const readCredentials = async () => await (credentials ??= readAsWebhook<Credentials>(context));
	const callback = await verify(request, options, readCredentials);
	if ('reason' in callback) return callback;
	if (callback.signedBy === 'previous')
		warnOwner(
			context,
			'previousKey',
			"got a callback signed with 'Previous Webhook HMAC Key'. Clear that key once the service signs with the new one.",
		);
	return { ...callback, body: request.body, readCredentials };
}

/** Answers the sender. No execution starts or continues. */
export function answer(
	context: IWebhookFunctions,
	httpStatus: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(httpStatus).json(body);
	return { noWebhookResponse: true };
}

/** Refuses a callback, and logs why for the owner. */
export function refuse(
	context: IWebhookFunctions,
	{ reason, cause }: Refused,
): IWebhookResponseData {
	const [httpStatus, message] = REFUSALS[reason];
	const facts = [`${httpStatus} ${reason}`, cause].filter(Boolean).join('; ');
	warnOwner(context, reason, `refused a callback: ${message} (${facts})`);
	return answer(context, httpStatus, { accepted: false, reason, message });
}

/** What nodes have logged. Anyone can send callbacks, so a node logs each subject once a minute at most. */
const logged = new Memory<true>('warnings');

/** Warns the owner in n8n's log, which shows warnings by default. @param text follows the node's name */
export function warnOwner(context: IWebhookFunctions, subject: string, text: string): void {
	const { id: workflowId } = context.getWorkflow();
	const { id, name } = context.getNode();
	const key = `${workflowId}:${id}:${subject}`;
	if (logged.get(key)) return;
	logged.set(key, true);
	context.logger.warn(`"${name}" ${text}`, { workflowId });
}
