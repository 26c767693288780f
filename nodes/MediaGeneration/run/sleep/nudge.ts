import type { Refused } from '../../callback/refusals';
import { isEndedAnswer } from '../../host/resumeUrl';
import { isObject } from '../../lib/json';
import { post } from '../../lib/post';
import { NUDGE_TIMEOUT } from '../timetable';

/**
 * Marks a nudge among callbacks. A nudge is unsigned, so that replacing the key during a sleep can't
 * block it. That is safe: it only makes the webhook ask the service.
 */
export const NUDGE = 'nudge';

interface NudgeAnswer {
	/** The execution continues. */
	isWoken?: boolean;
	/** The execution no longer sleeps for this task. */
	isOver?: boolean;
	/** Why n8n could not be asked to wake the execution. */
	failure?: string;
}

/** Reasons after which our webhook no longer wakes the execution for this task. */
const FINAL_REASONS: unknown[] = ['taskNotInExecution', 'limitPassed'] satisfies Array<
	Refused['reason']
>;

/** Sends a nudge to a resume URL, which has n8n's token. Nothing is thrown. */
export async function sendNudge(url: string, taskId: string): Promise<NudgeAnswer> {
	const { status, body, silence } = await post(url, {
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ data: { task_id: taskId, callbackType: NUDGE } }),
		timeout: NUDGE_TIMEOUT,
	});
	if (!isObject(body)) {
		const failure = silence ?? `answered ${status} without n8n's JSON`;
		return { failure: `the resume URL at ${new URL(url).host} ${failure}` };
	}
	const isWoken = body.resumed === true;
	return { isWoken, isOver: isWoken || isEndedAnswer(body) || FINAL_REASONS.includes(body.reason) };
}
