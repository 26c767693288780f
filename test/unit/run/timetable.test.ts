import { ANSWER_TIMEOUT } from '../../../nodes/MediaGeneration/callback/webhook';
import {
	DUE_EARLY,
	FIRST_PAUSE_AT_LIMIT,
	KNOWN_BY,
	NUDGE_TIMEOUT,
	PAUSES_AWAKE,
	planAsleep,
	planAwake,
	planCreations,
	planLastWake,
} from '../../../nodes/MediaGeneration/run/timetable';
import { KNOWN_AGAIN } from '../../../nodes/MediaGeneration/trigger/receive';

it.each<[string, earlier: number, '<' | '≤', later: number]>([
	['the limit counts as passed before it passes', -DUE_EARLY, '<', 0],
	[
		'after the limit, a second nudge fits though the first is answered late',
		ANSWER_TIMEOUT + 1.25 * FIRST_PAUSE_AT_LIMIT,
		'<',
		planLastWake(planAsleep(0, 0)),
	],
	[
		'a third question leaves time for details',
		KNOWN_AGAIN[0] + KNOWN_AGAIN[1],
		'≤',
		ANSWER_TIMEOUT - 2_000,
	],
	['a task counts as unknown after a few looks', 4 * PAUSES_AWAKE.first, '<', KNOWN_BY],
	['a nudge waits longer than a webhook takes to answer', ANSWER_TIMEOUT, '<', NUDGE_TIMEOUT],
])('%s: %d ms %s %d ms', (_, earlier, order, later) => {
	if (order === '<') expect(earlier).toBeLessThan(later);
	else expect(earlier).toBeLessThanOrEqual(later);
});

const HOUR = 3_600_000;

// n8n sets its timer for the end 70 s before it.
it.each<[string, timeout: number, end: number, lastWake: number]>([
	['15 minutes after the limit', Infinity, 900_000, 780_000],
	["a minute before n8n's timeout", 500_000, 440_000, 320_000],
	['100 s after the limit at least', 120_000, 100_000, 28_000],
])('n8n ends a sleep %s', (_, timeout, end, lastWake) => {
	const sleep = planAsleep(0, timeout);
	expect([sleep.end, planLastWake(sleep)]).toEqual([end, lastWake]);
});

it.each<[string, [begun: number, until: number, n8nEnds: number], number[]]>([
	['looks 5 s before its end', [0, 60_000, Infinity], [55_000, 60_000, Infinity]],
	['of a short wait, a fifth before', [0, 10_000, Infinity], [8_000, 10_000, Infinity]],
	['leaves 5 s to n8n', [0, HOUR, 60_000], [50_000, 55_000, 55_000]],
	['has 20 s at its limit', [60_000, 60_500, Infinity], [60_000, 80_000, Infinity]],
	['has less if n8n ends', [60_000, 0, 70_000], [60_000, 68_000, 68_000]],
])('a run that is awake %s', (_, given, expected) => {
	const { lastLook, end, filesBy } = planAwake(...given);
	expect([lastLook, end, filesBy]).toEqual(expected);
});

it.each<[string, length: number, expected: [last: number, known: number]]>([
	['8 s and 3 s earlier', 60_000, [52_000, 57_000]],
	['of a short timeout, a part', 5_000, [58_000, 59_250]],
])("before n8n's timeout, creations end %s", (_, length, expected) => {
	const { last, known } = planCreations({ at: 60_000, length });
	expect([last, known]).toEqual(expected);
});
