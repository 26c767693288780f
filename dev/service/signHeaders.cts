import { createHmac } from 'node:crypto';

/** As much of a callback's body as is signed: the task's ID, by either of its names. */
interface SignedBody {
	data: { task_id?: string; taskId?: string };
}

/**
 * Signs a callback as the contract says, and returns the headers that come with its body.
 * @param timestamp Unix time in seconds
 */
export function signHeaders(
	{ data }: SignedBody,
	key: string,
	timestamp: number | string = Math.floor(Date.now() / 1000),
) {
	const signed = `${data.task_id ?? data.taskId}.${timestamp}`;
	return {
		'x-webhook-timestamp': String(timestamp),
		'x-webhook-signature': createHmac('sha256', key).update(signed).digest('base64'),
	};
}
