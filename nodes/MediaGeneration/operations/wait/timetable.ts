/** Every deadline of a wait, in milliseconds. `timetable.test` holds their order. */

/**
 * Counted from the wait limit. n8n's WaitTracker looks every 60 seconds for waits that end within
 * `TRACKER_WINDOW`, and sets a timer that it does not clear when a webhook wakes the execution: the
 * timer would end its next wait (`wait-tracker.js`, 2.41.1). So no webhook wakes an execution from
 * `LAST_WAKE` on, and n8n's own end comes so late that its timer is set after that.
 */
export const N8N_END = 100_000;
export const TRACKER_WINDOW = 70_000;
export const LAST_WAKE = 28_000;

/** Until when an execution is nudged after the limit, and the pause between these nudges. */
export const LAST_NUDGE = 26_000;
export const LATE_PAUSE = 4_000;

/** How early the limit counts as passed: two processes may have two clocks. */
export const DUE_EARLY = 1_000;

/** The time before the first look at the tasks of a sleeping execution; later pauses grow. */
export const FIRST_PAUSE = 30_000;
export const PAUSE_GROWTH = 3;

/** How long a nudge waits for its answer. n8n answers when it has stored what comes of it. */
export const NUDGE_TIMEOUT = 30_000;

/** How long n8n may take to answer itself, when a resume URL is tried. */
export const PROBE = 3_000;
