import type { Timeout } from '../host/call';
import { growPauses } from '../lib/timers';

/**
 * When a run creates, looks, nudges and ends. Times are in milliseconds, moments since 1970.
 * `timetable.test` checks their order, together with the timeouts of the receivers of callbacks.
 */

/* Timeouts of our own requests. */

/** How long a nudge waits for its answer. n8n answers once it has stored what comes of the nudge. */
export const NUDGE_TIMEOUT = 30_000;

/** How long the resume URL may take to answer when a run tries it before it sleeps. */
export const PROBE_TIMEOUT = 3_000;

/* Around the moment when the wait limit passes. */

/** How early the limit counts as passed: two processes may have two clocks. */
export const CLOCK_TOLERANCE = 1_000;

/** How long a run may still look if it begins only at its limit: after a wake there, or in a try. */
const TIME_AT_LIMIT = 20_000;

/**
 * When n8n's own timer ends a sleep. Well after the limit, because our webhook wakes the run there
 * first; but before the workflow's timeout, which n8n then applies to the time asleep too.
 */
const END_BY_N8N = { afterLimit: 900_000, leastAfterLimit: 100_000, beforeTimeout: 60_000 };

/**
 * n8n's WaitTracker looks every 60 seconds for waits that end within 70 seconds. It sets a timer for
 * each, and doesn't clear it when a webhook wakes the execution: the timer would end the execution's
 * next wait (`wait-tracker.js`, 2.14.2, 2.41.1). So the last wake comes before n8n can set the timer.
 * `e2e/loops` fails first.
 */
const LAST_WAKE = { leastAfterLimit: 28_000, beforeEndByN8n: 120_000 };

/* Room at the end. */

/**
 * Left at the end of a wait for the answers to its last look, and at the end of a call for n8n, which
 * stores the output and runs further nodes.
 */
const TIME_AT_END = 5_000;

/** Left at the end of a call by its downloads. They end before the looks, so that no output is late. */
export const TIME_AFTER_DOWNLOADS = 6_000;

/** How long the output of a call by an MCP server may take after `answerBy`. */
export const TIME_FOR_LATE_OUTPUT = 1_000;

/** Subtracts `TIME_AT_END` from a moment, or a fifth of the time until then if that is less. */
export const subtractTimeAtEnd = (endsAt: number, now = Date.now()): number =>
	endsAt - Math.min(TIME_AT_END, (endsAt - now) / 5);

/** Moments of a wait. */
export interface WaitTimes {
	/** When the wait limit passes. */
	limitAt: number;
	/** When a run that is awake looks for the last time. Only looks that failed are repeated later. */
	lastLookAt: number;
	/** Until when a run that is awake waits for the answers to its looks. */
	looksBy: number;
	/** From when on webhooks no longer wake a run that sleeps. */
	lastWakeAt: number;
	/** When n8n's own timer ends the sleep. */
	endByN8nAt: number;
}

/**
 * Plans a wait.
 * @param doneBy until when n8n's timeout, or an MCP client's, lets a run stay awake
 * @throws {Error} for a limit that is no moment, because the wait would never end
 */
export function planWait(limitAt: number, doneBy: number, now = Date.now()): WaitTimes {
	if (!Number.isFinite(limitAt)) throw new Error(`The wait limit passes at ${limitAt}`);
	const outputBy = subtractTimeAtEnd(doneBy, now);
	const isAtLimit = now >= limitAt - CLOCK_TOLERANCE;
	const looksBy = Math.min(isAtLimit ? now + TIME_AT_LIMIT : limitAt, outputBy);
	const { afterLimit, leastAfterLimit, beforeTimeout } = END_BY_N8N;
	const latest = Math.min(limitAt + afterLimit, doneBy - beforeTimeout);
	const endByN8nAt = Math.max(limitAt + leastAfterLimit, latest);
	return {
		limitAt,
		lastLookAt: isAtLimit ? now : subtractTimeAtEnd(looksBy, now),
		looksBy,
		lastWakeAt: Math.max(
			limitAt + LAST_WAKE.leastAfterLimit,
			endByN8nAt - LAST_WAKE.beforeEndByN8n,
		),
		endByN8nAt,
	};
}

/* Pauses between looks, or between nudges. */

/** Between the looks of a run that is awake. */
export const PAUSES_AWAKE = { first: 2_000, growth: 1.5, longest: 30_000 };

/**
 * Between the nudges of a run that sleeps. Each costs n8n a webhook, so most runs end before the
 * first one. At the limit, pauses begin anew.
 */
export const PAUSES_ASLEEP = { first: 300_000, growth: 2, longest: 900_000 };
export const PAUSES_AT_LIMIT = { ...PAUSES_ASLEEP, first: 4_000 };

/** A run that fell asleep asks the service itself after this time, once. */
export const PAUSE_BEFORE_LOOK_ASLEEP = 5_000;

/** How long a service may not know a task that exists, or what it costs. */
export const MAX_TIME_UNSEEN = 30_000;

/** Between the looks at a task whose cost must be known before the next one is created. */
export const PAUSES_BEFORE_COST = { first: 500, growth: 1.5, longest: 5_000 };

/**
 * Lists the moments of looks or nudges, with growing pauses between them. The last moment is `lastAt`.
 * @param isTooFast says whether the service rejects requests for their rate: the next pause is the longest
 */
export function* planLooks(
	pauses: typeof PAUSES_AWAKE,
	lastAt: number,
	isTooFast = () => false,
): Generator<number, void> {
	const lengths = growPauses(pauses);
	for (let at = -Infinity; at < lastAt; ) {
		const length = isTooFast() ? pauses.longest : lengths.next().value;
		at = Math.min(Date.now() + length, lastAt);
		yield at;
	}
}

/** Lists the moments of the nudges of a sleep: ever rarer, at the limit, and for some time after it. */
export function* planNudges(limitAt: number, lastWakeAt: number): Generator<number, void> {
	// A clock that is set back may have the limit before it once more.
	do yield* planLooks(PAUSES_ASLEEP, limitAt);
	while (Date.now() < limitAt - CLOCK_TOLERANCE);
	yield* planLooks(PAUSES_AT_LIMIT, lastWakeAt);
}

/* Creations while the service takes no more tasks at once. */

/** Between the requests of a creation. */
export const PAUSES_WHILE_FULL = { first: 10_000, growth: 1.5, longest: 60_000 };

/** How long creations wait from the first rejection, in a run that doesn't wait for its tasks. */
export const MAX_TIME_WHILE_FULL = 300_000;

/* Creations before n8n's own timeout. */

/**
 * How long before n8n's timeout the last creation begins, and outcomes must be known. If n8n gives the
 * execution less time than `full` in all, both are less in proportion.
 */
const BEFORE_TIMEOUT = { lastSent: 8_000, known: 3_000, full: 20_000 };

/** Moments of creations, the same in all tries of n8n. */
export interface CreationTimes {
	/** Until when a creation may begin. */
	sentBy: number;
	/** Until when outcomes must be known. A creation that is under way at that time is of unknown outcome. */
	knownBy: number;
}

/** Plans the creations of a run, so that it can output what it has before n8n's timeout. */
export function planCreations({ at, length }: Timeout): CreationTimes {
	const { lastSent, known, full } = BEFORE_TIMEOUT;
	const part = Math.min(1, length / full);
	return { sentBy: at - lastSent * part, knownBy: at - known * part };
}
