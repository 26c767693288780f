import { createHmac } from 'node:crypto';

/** The headers of a signed callback, in lower case. */
export const TIMESTAMP = 'x-webhook-timestamp';
export const SIGNATURE = 'x-webhook-signature';

/** The part of a callback's body that is signed: the task's ID, by either of its names. */
interface SignedBody {
	data?: { task_id?: string | number; taskId?: string | number };
}

/**
 * Signs a callback as the contract says, and returns the headers to send with its body.
 * @param body the bytes that are sent, or the object that `JSON.stringify` makes them of
 * @param timestamp Unix time in seconds
 */
export function signHeaders(
	body: object,
	key: string,
	timestamp: number | string = Math.floor(Date.now() / 1000),
) {
	const { data } = (body instanceof Uint8Array ? JSON.parse(String(body)) : body) as SignedBody;
	const signed = `${data?.task_id ?? data?.taskId}.${timestamp}`;
	return {
		[TIMESTAMP]: String(timestamp),
		[SIGNATURE]: createHmac('sha256', key).update(signed).digest('base64'),
	};
}
