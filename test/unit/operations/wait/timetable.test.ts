import { ANSWER_WITHIN } from '../../../../nodes/MediaGeneration/callback/respond';
import {
	DUE_EARLY,
	LAST_NUDGE,
	LAST_WAKE,
	LATE_PAUSE,
	N8N_END,
	NUDGE_TIMEOUT,
	TRACKER_WINDOW,
} from '../../../../nodes/MediaGeneration/operations/wait/timetable';

it('after the limit come the last nudge, the last wake, and only then a timer of n8n', () => {
	const times = [DUE_EARLY, LAST_NUDGE, LAST_WAKE, N8N_END - TRACKER_WINDOW];
	const isLater = (time: number, index: number) => time > (times[index - 1] ?? 0);
	expect(times.filter(isLater)).toEqual(times);
});

it('two nudges fit there though each is answered late', () => {
	expect(2 * (LATE_PAUSE + ANSWER_WITHIN)).toBeLessThanOrEqual(LAST_NUDGE);
});

it('a nudge waits longer than a webhook takes to answer', () => {
	expect(ANSWER_WITHIN).toBeLessThan(NUDGE_TIMEOUT);
});
