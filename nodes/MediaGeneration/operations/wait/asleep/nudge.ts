import type { Credentials } from '../../../api/endpoints';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../../../api/service';
import { readSigningKeys, sign } from '../../../callback/signature';
import { isEndedAnswer } from '../../../host/resumeUrl';
import { isObject, parseJson } from '../../../lib/json';
import { post } from '../../../lib/post';
import { describeSilence } from '../obstacle';
import { NUDGE_TIMEOUT } from '../timetable';
import type { WakeReason } from './answers';

/** Marks a nudge among callbacks. It can do no more than a callback, so it needs no protection. */
export const NUDGE = 'nudge';

/** What looks and nudges need, and no more: an execution that sleeps takes no memory. */
export interface Access {
	/** The resume URL, with n8n's token. */
	url: string;
	credentials: Credentials;
}

interface NudgeAnswer {
	/** The execution continues. */
	isWoken?: boolean;
	/** It continued before, or waits for something else. */
	isOver?: boolean;
	/** Why n8n could not be asked to wake the execution. */
	failure?: string;
}

/** Sends a nudge to a resume URL, signed like the service's callbacks. Nothing is thrown. */
export async function sendNudge(
	{ url, credentials }: Access,
	taskId: string,
): Promise<NudgeAnswer> {
	const key = readSigningKeys(credentials)?.current;
	const timestamp = String(Math.floor(Date.now() / 1000));
	const signed = key !== undefined && {
		[TIMESTAMP_HEADER]: timestamp,
		[SIGNATURE_HEADER]: sign(taskId, timestamp, key),
	};
	const answer = await post(url, {
		headers: { 'Content-Type': 'application/json', ...signed },
		body: JSON.stringify({ data: { task_id: taskId, callbackType: NUDGE } }),
		timeout: NUDGE_TIMEOUT,
	});
	const address = `the resume URL at ${new URL(url).host}`;
	if ('silence' in answer) return { failure: `${address} ${describeSilence(answer.silence)}` };
	const body = parseJson(answer.text);
	if (isObject(body))
		return { isWoken: body.resumed === true, isOver: isEndedAnswer(body) || isOurEnd(body) };
	return { failure: `${address} answered ${answer.status} without n8n's JSON` };
}

/** Our webhook's reasons after which it no longer wakes the execution for this task. */
const FINAL: unknown[] = ['taskNotInExecution', 'limitPassed'] satisfies WakeReason[];

const isOurEnd = ({ reason }: Record<string, unknown>): boolean => FINAL.includes(reason);
