import type { IHttpRequestOptions } from 'n8n-workflow';
import { TaskService } from '../../api/client';
import type { Credentials } from '../../api/endpoints';
import { sign } from '../../callback/signature';
import { isObject, parseJson } from '../../lib/json';
import { post } from '../../lib/post';

/**
 * Reaches the service without n8n's helpers, which hold the execution and its data. A look at the
 * tasks of an execution that sleeps takes some 2 ms of CPU this way, a webhook of n8n's some 45.
 */
export function createFetchService(credentials: Credentials): TaskService {
	const { accessToken } = credentials;
	const send = async (_type: string, request: IHttpRequestOptions): Promise<object> => {
		const { url, method, timeout } = request;
		const { status, body } = await fetch(url, {
			method,
			headers: { ...(request.headers as object), Authorization: `Bearer ${accessToken}` },
			// The token goes nowhere else.
			redirect: 'manual',
			signal: AbortSignal.timeout(timeout as number),
		});
		return { statusCode: status, body: body ?? '' };
	};
	return new TaskService({ helpers: { httpRequestWithAuthentication: send } }, credentials);
}

/** Marks a look among callbacks. It can do no more than a callback, so it needs no protection. */
export const LOOK = 'look';

/** The timeout of a look, in milliseconds. */
const ANSWER_WITHIN = 30_000;

interface LookAnswer {
	/** The HTTP status; absent if no answer came. */
	status?: number;
	/** The execution continues. */
	resumed?: boolean;
	/** Why n8n could not be asked to continue the execution. */
	failure?: string;
}

/** Sends a look to a resume URL, signed like the service's callbacks. Nothing is thrown. */
export async function sendLook(url: string, taskId: string, secret?: string): Promise<LookAnswer> {
	const timestamp = String(Math.floor(Date.now() / 1000));
	const signed = secret !== undefined && {
		'X-Webhook-Timestamp': timestamp,
		'X-Webhook-Signature': sign(taskId, timestamp, secret),
	};
	const answer = await post(url, {
		headers: { 'Content-Type': 'application/json', ...signed },
		body: JSON.stringify({ data: { task_id: taskId, callbackType: LOOK } }),
		timeout: ANSWER_WITHIN,
	});
	const { status } = answer;
	const body = parseJson(answer.text);
	if (isObject(body)) return { status, resumed: body.resumed === true };
	const failure = answer.failure ?? `answered ${status} without n8n's JSON`;
	return { status, failure: `the resume URL at ${new URL(url).host} ${failure}` };
}
