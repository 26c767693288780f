import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { readDeadline } from '../../host/deadline';
import { LONGEST_PAUSE, settleBy } from '../../lib/timers';
import type { Looker, Source } from './looker';
import { sayEndedEarly } from './output';

/** Pauses between looks, in milliseconds, and their growth. */
const FIRST_PAUSE = 2_000;
const LAST_PAUSE = 30_000;
const GROWTH = 1.5;

/** The last look begins this many milliseconds before the limit, or a fifth of it if that is less. */
const LAST_LOOK = 3_000;

/** How long answers to the last look may take, in milliseconds, or half the limit if that is less. */
const GRACE = 5_000;

/** The same before an end that can't be moved, or a fifth of the time if that is less. */
const GRACE_BEFORE_END = 2_000;

/** The time to ask for tasks whose limit has passed already, in milliseconds. */
const AFTER_LIMIT = 5_000;

/**
 * The time left to n8n before its timeout, in milliseconds, or a fifth of the time if that is less.
 * n8n needs it to store the output and to run the nodes after this one.
 */
const BEFORE_DEADLINE = 3_000;

interface PollOptions {
	getSource: (taskId: string) => Source;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
}

/**
 * Looks at all tasks together, with pauses that grow from 2 to 30 seconds, until they have ended, the
 * limit passes, the execution is stopped, or n8n would soon end it. While the service refuses requests
 * for their rate, pauses are the longest. If the limit has passed already, as on a late repeat by n8n,
 * there is still a look, of some seconds. Then it waits for the files.
 */
export async function pollUntilEnded(
	context: IExecuteFunctions,
	looker: Looker,
	{ getSource, until: limitAt }: PollOptions,
): Promise<void> {
	const { batch } = looker;
	const begun = Date.now();
	const deadline = readDeadline(context);
	const endBy = deadline - Math.min(BEFORE_DEADLINE, (deadline - begun) / 5);
	const until = Math.min(
		limitAt > begun ? limitAt : begun + AFTER_LIMIT,
		endBy - Math.min(GRACE_BEFORE_END, (endBy - begun) / 5),
	);
	const lastLook = until - Math.min(LAST_LOOK, (until - begun) / 5);
	const end = Math.min(until + Math.min(GRACE, (until - begun) / 2), endBy);
	const over = new AbortController();
	const givenUp = waitForEnd(end, over, context.getExecutionCancelSignal());
	for (let pause = FIRST_PAUSE, at = begun; !batch.isEnded && at < lastLook; ) {
		at = Math.min(Date.now() + pause * (0.75 + Math.random() / 2), lastLook);
		await Promise.race([sleep(at - Date.now()), givenUp]);
		if (over.signal.aborted) break;
		const look = looker.look(batch.openIds, { getSource, signal: over.signal });
		await Promise.race([look, givenUp]);
		pause = batch.failure?.isRateLimited ? LAST_PAUSE : Math.min(pause * GROWTH, LAST_PAUSE);
	}
	over.abort();
	if (!batch.isEnded && endBy < limitAt) sayEndedEarly(context);
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
	await sleep(Math.min(end - Date.now(), LONGEST_PAUSE), over.signal).catch(() => undefined);
	stop();
}
