import type { Timeout } from '../host/call';

/**
 * Every deadline of a wait, in milliseconds, by the clock that it is counted on. `timetable.test`
 * holds their order, and that of what receivers of callbacks have.
 */

/* From the beginning of a request of our own. */

/** How long a nudge waits for its answer. n8n answers when it has stored what comes of it. */
export const NUDGE_TIMEOUT = 30_000;

/** How long the resume URL may take to answer when a run tries it before it sleeps. */
export const PROBE_TIMEOUT = 3_000;

/* From the wait limit, of a run that sleeps. */

/** How early the limit counts as passed: two processes may have two clocks. */
export const DUE_EARLY = 1_000;

/**
 * When n8n's own timer ends a sleep. Well after the limit, because our webhook wakes the run there
 * first; but before the workflow's timeout, which n8n then applies to the time asleep too.
 */
const N8N_END = { usual: 900_000, least: 100_000, beforeTimeout: 60_000 };

/**
 * n8n's WaitTracker looks every 60 seconds for waits that end within 70 seconds, and sets a
 * timer that it does not clear when a webhook wakes the execution: the timer would end its next wait
 * (`wait-tracker.js`, 2.14.2, 2.41.1). So the last wake comes before n8n's timer can be set.
 * `e2e/loops` fails first.
 */
const LAST_WAKE = { least: 28_000, beforeEnd: 120_000 };

/** Moments of a sleep, in milliseconds since 1970. */
export interface AsleepTimes {
	/** The wait limit. */
	until: number;
	/** When n8n ends the sleep by itself. */
	end: number;
}

/** Plans the sleep of a run that n8n's timeout would end at `n8nEnds` if it were awake. */
export function planAsleep(until: number, n8nEnds: number): AsleepTimes {
	const { usual, least, beforeTimeout } = N8N_END;
	const latest = Math.min(until + usual, n8nEnds - beforeTimeout);
	return { until, end: Math.max(until + least, latest) };
}

/** Until when webhooks wake the run. */
export const planLastWake = ({ until, end }: AsleepTimes): number =>
	Math.max(until + LAST_WAKE.least, end - LAST_WAKE.beforeEnd);

/* Of creations that wait while the service takes no more tasks at once, from the first refusal. */

/** Between the tries of one of them. */
export const PAUSES_OVER_TASKS = { first: 10_000, growth: 1.5, longest: 60_000 };

/** How long they wait if the run doesn't wait for its tasks. */
export const LIMIT_OVER_TASKS = 300_000;

/* Of creations, before n8n's own timeout. */

/**
 * The last creation begins that early, in all tries of n8n. One that is still under way later counts
 * as of unknown outcome, so that the run can output what it has. Both are less where n8n gives the
 * execution less than `full` in all.
 */
const CREATIONS = { last: 8_000, known: 3_000, full: 20_000 };

/** Moments of creations, in milliseconds since 1970. */
export interface CreationTimes {
	/** None begins from then on. */
	last: number;
	/** Until when the outcome of those under way is waited for. */
	known: number;
}

/** Plans the creations of a run. */
export function planCreations({ at, length }: Timeout): CreationTimes {
	const part = Math.min(1, length / CREATIONS.full);
	return { last: at - CREATIONS.last * part, known: at - CREATIONS.known * part };
}

/* From the look or nudge before, or the beginning of the wait. */

/** When a run that fell asleep asks the service itself, once. */
export const LOOK_ASLEEP = 5_000;

/**
 * Between the nudges of a run that sleeps. Each costs n8n a webhook, so most runs end before the
 * first one. From the limit on, pauses begin anew.
 */
export const PAUSES_ASLEEP = { first: 300_000, growth: 2, longest: 900_000 };
export const FIRST_PAUSE_AT_LIMIT = 4_000;

/** Between the looks of a run that is awake. */
export const PAUSES_AWAKE = { first: 2_000, growth: 1.5, longest: 30_000 };

/** Until when a task that the service doesn't know may still become known. */
export const KNOWN_BY = 30_000;

/* Of a run that is awake, from the end of its wait, and from n8n's own timeout. */

/** The last look begins this early, or a fifth of the wait before its end. */
const LAST_LOOK = 5_000;
export const planLastLook = (begun: number, end: number): number =>
	end - Math.min(LAST_LOOK, (end - begun) / 5);

/**
 * The time left to n8n before its timeout, or a fifth of the time if that is less. n8n needs it to
 * store the output and to run the nodes after this one.
 */
const LEFT_TO_N8N = 5_000;

/** How long a run may take to look that begins at its limit: woken there, or repeated by n8n. */
const LATE_WAIT = 20_000;

/** Moments of a run that is awake, in milliseconds since 1970. */
export interface AwakeTimes {
	/** When it looks for the last time, unless that look fails. */
	lastLook: number;
	/** Until when it waits for tasks. */
	end: number;
	/** Until when it waits for their files. */
	filesBy: number;
	/** n8n's timeout comes before the wait limit. */
	isCutShort: boolean;
}

/** Plans a run that is awake. `until` is the wait limit. All times are in milliseconds since 1970. */
export function planAwake(begun: number, until: number, n8nEnds: number): AwakeTimes {
	const filesBy = n8nEnds - Math.min(LEFT_TO_N8N, (n8nEnds - begun) / 5);
	const isCutShort = filesBy < until;
	if (begun >= until - DUE_EARLY)
		return { lastLook: begun, end: Math.min(begun + LATE_WAIT, filesBy), filesBy, isCutShort };
	const end = Math.min(until, filesBy);
	return { lastLook: planLastLook(begun, end), end, filesBy, isCutShort };
}
