import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { readDeadline } from '../../host/deadline';
import { LONGEST_PAUSE, settleBy } from '../../lib/timers';
import type { Looker, Source } from './looker';
import { sayEndedEarly } from './output';
import { DUE_EARLY } from './timetable';

/** Pauses between looks, in milliseconds, and their growth. */
const FIRST_PAUSE = 2_000;
const LAST_PAUSE = 30_000;
const GROWTH = 1.5;

/** The last look begins this early, in milliseconds, or a fifth of the wait before its end. */
const LAST_LOOK = 5_000;

/**
 * The time for the look of a run whose limit has passed when it begins, in milliseconds: a run that
 * was woken at the limit, or a repeat by n8n.
 */
const LATE_LOOK = 20_000;

/**
 * The time left to n8n before its timeout, in milliseconds, or a fifth of the time if that is less.
 * n8n needs it to store the output and to run the nodes after this one.
 */
const BEFORE_DEADLINE = 5_000;

/**
 * Looks at all tasks together, with pauses that grow from 2 to 30 seconds, until they have ended,
 * the limit passes, the execution is stopped, or n8n would soon end it. While the service refuses
 * requests for their rate, pauses are the longest. Then it waits for the files.
 * @param until the wait limit, in milliseconds since 1970
 */
export async function pollUntilEnded(
	context: IExecuteFunctions,
	looker: Looker,
	{ getSource, until }: { getSource: (taskId: string) => Source; until: number },
): Promise<void> {
	const { batch } = looker;
	const begun = Date.now();
	const deadline = readDeadline(context);
	const endBy = deadline - Math.min(BEFORE_DEADLINE, (deadline - begun) / 5);
	const isLate = begun >= until - DUE_EARLY;
	const end = Math.min(isLate ? begun + LATE_LOOK : until, endBy);
	const lastLook = isLate ? begun : end - Math.min(LAST_LOOK, (end - begun) / 5);
	const over = new AbortController();
	const givenUp = waitForEnd(end, over, context.getExecutionCancelSignal());
	let pause = FIRST_PAUSE;
	for (let at = -Infinity; !batch.isEnded && at < lastLook; ) {
		at = Math.min(Date.now() + pause * (0.75 + Math.random() / 2), lastLook);
		await Promise.race([sleep(at - Date.now()), givenUp]);
		if (over.signal.aborted) break;
		const look = looker.look(batch.openIds, { getSource, signal: over.signal });
		await Promise.race([look, givenUp]);
		pause = batch.failure?.isRateLimited ? LAST_PAUSE : Math.min(pause * GROWTH, LAST_PAUSE);
	}
	over.abort();
	if (!batch.isEnded && endBy < until) sayEndedEarly(context);
	await settleBy(endBy, looker.collectFiles(getSource));
}

/** Ends when time is over or the execution is stopped, and aborts `over` then. */
async function waitForEnd(
	end: number,
	over: AbortController,
	stopped?: AbortSignal,
): Promise<void> {
	const stop = () => over.abort();
	if (stopped?.aborted) stop();
	stopped?.addEventListener('abort', stop, { once: true });
	await sleep(Math.min(end - Date.now(), LONGEST_PAUSE), over.signal).catch(stop);
	stop();
}
