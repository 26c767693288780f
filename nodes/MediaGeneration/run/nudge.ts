import { isEndedAnswer } from '../host/resumeUrl';
import { isObject } from '../lib/json';
import { post } from '../lib/post';
import { NUDGE_TIMEOUT } from './timetable';
import { NUDGE, type WakeReason } from './answers';

interface NudgeAnswer {
	/** The execution continues. */
	isWoken?: boolean;
	/** It continued before, or waits for something else. */
	isOver?: boolean;
	/** Why n8n could not be asked to wake the execution. */
	failure?: string;
}

/** Sends a nudge to a resume URL, which has n8n's token. Nothing is thrown. */
export async function sendNudge(url: string, taskId: string): Promise<NudgeAnswer> {
	const { status, body, silence } = await post(url, {
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ data: { task_id: taskId, callbackType: NUDGE } }),
		timeout: NUDGE_TIMEOUT,
	});
	const address = `the resume URL at ${new URL(url).host}`;
	if (silence) return { failure: `${address} ${silence}` };
	if (isObject(body))
		return { isWoken: body.resumed === true, isOver: isEndedAnswer(body) || isOurEnd(body) };
	return { failure: `${address} answered ${status} without n8n's JSON` };
}

/** Our webhook's reasons after which it no longer wakes the execution for this task. */
const FINAL: unknown[] = ['taskNotInExecution', 'limitPassed'] satisfies WakeReason[];

const isOurEnd = ({ reason }: Record<string, unknown>): boolean => FINAL.includes(reason);
