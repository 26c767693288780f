import { sleep } from 'n8n-workflow';
import { LONGEST_PAUSE } from '../../lib/timers';
import type { Batch } from './batch';
import { lookAt, type LookOptions } from './look';

const FIRST_PAUSE = 2_000;
const LAST_PAUSE = 30_000;
const GROWTH = 1.5;

/** The last look begins this many milliseconds before the limit, or a fifth of the limit if that is less. */
const LAST_LOOK = 3_000;

/** How long to wait for answers to the last look after the limit, in milliseconds, or half the limit if that is less. */
const GRACE = 5_000;

/** The same before an end that can't be moved, or a fifth of the time if that is less. */
const GRACE_BEFORE_END = 2_000;

/** The time to ask for tasks whose limit has passed already, in milliseconds. */
const AFTER_LIMIT = 5_000;

/**
 * Asks for all tasks together, with pauses that grow from 2 to 30 seconds, until they have ended or the limit passes. A round that
 * is still under way some seconds after the limit is given up. If the limit has passed already, as on a late repeat by n8n, the
 * tasks are still asked for, for some seconds.
 * @param until milliseconds since 1970
 * @param endBy when the wait ends at the latest, in milliseconds since 1970, even if answers are under way
 * @param stopped ends the wait when the execution is stopped
 */
export async function pollUntilEnded(
	batch: Batch,
	{
		until: limitAt,
		endBy,
		stopped,
		...look
	}: Pick<LookOptions, 'ask' | 'settings' | 'onEnded' | 'concurrency'> & {
		until: number;
		endBy: number;
		stopped?: AbortSignal;
	},
): Promise<void> {
	const begun = Date.now();
	const until = Math.min(
		limitAt > begun ? limitAt : begun + AFTER_LIMIT,
		endBy - Math.min(GRACE_BEFORE_END, (endBy - begun) / 5),
	);
	const lastLook = until - Math.min(LAST_LOOK, (until - begun) / 5);
	const isOver = new AbortController();
	const end = Math.min(until + Math.min(GRACE, (until - begun) / 2), endBy);
	const limit = sleep(Math.min(end - begun, LONGEST_PAUSE), isOver.signal).catch(() => {});
	const givenUp = Promise.race([limit, waitForAbort(stopped)]).then(() => isOver.abort());
	for (
		let pause = FIRST_PAUSE, at = begun;
		!batch.isEnded && at < lastLook;
		pause = Math.min(pause * GROWTH, LAST_PAUSE)
	) {
		at = Math.min(Date.now() + pause * (0.75 + Math.random() / 2), lastLook);
		await Promise.race([sleep(at - Date.now()), givenUp]);
		if (isOver.signal.aborted) break;
		await Promise.race([lookAt(batch, batch.openIds, { ...look, signal: isOver.signal }), givenUp]);
	}
	isOver.abort();
}

const waitForAbort = async (signal?: AbortSignal): Promise<void> =>
	await new Promise((resolve) => {
		if (signal?.aborted) resolve();
		signal?.addEventListener('abort', () => resolve());
	});
