import { sleep } from 'n8n-workflow';
import { LONGEST_PAUSE } from '../../lib/timers';
import type { Looker, Source } from './looker';

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

interface PollOptions {
	getSource: (taskId: string) => Source;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
	/** When the wait ends at the latest, in milliseconds since 1970, even if answers are under way. */
	endBy: number;
	/** Ends the wait when the execution is stopped. */
	stopped?: AbortSignal;
}

/**
 * Looks at all tasks together, with pauses that grow from 2 to 30 seconds, until they have ended or
 * the limit passes. While the service refuses requests for their rate, pauses are the longest. If the
 * limit has passed already, as on a late repeat by n8n, there is still a look, of some seconds.
 */
export async function pollUntilEnded(
	looker: Looker,
	{ getSource, until: limitAt, endBy, stopped }: PollOptions,
): Promise<void> {
	const { batch } = looker;
	const begun = Date.now();
	const until = Math.min(
		limitAt > begun ? limitAt : begun + AFTER_LIMIT,
		endBy - Math.min(GRACE_BEFORE_END, (endBy - begun) / 5),
	);
	const lastLook = until - Math.min(LAST_LOOK, (until - begun) / 5);
	const end = Math.min(until + Math.min(GRACE, (until - begun) / 2), endBy);
	const over = new AbortController();
	const limit = sleep(Math.min(end - begun, LONGEST_PAUSE), over.signal).catch(() => {});
	const givenUp = Promise.race([limit, waitForAbort(stopped)]).then(() => over.abort());
	for (let pause = FIRST_PAUSE, at = begun; !batch.isEnded && at < lastLook; ) {
		at = Math.min(Date.now() + pause * (0.75 + Math.random() / 2), lastLook);
		await Promise.race([sleep(at - Date.now()), givenUp]);
		if (over.signal.aborted) break;
		const look = looker.look(batch.openIds, { getSource, signal: over.signal });
		await Promise.race([look, givenUp]);
		pause = batch.isRateLimited ? LAST_PAUSE : Math.min(pause * GROWTH, LAST_PAUSE);
	}
	over.abort();
}

const waitForAbort = async (signal?: AbortSignal): Promise<void> =>
	await new Promise((resolve) => {
		if (signal?.aborted) resolve();
		signal?.addEventListener('abort', () => resolve());
	});
