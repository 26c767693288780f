import { ANSWER_TIMEOUT } from '../../../nodes/MediaGeneration/callback/webhook';
import {
	CLOCK_TOLERANCE,
	MAX_TIME_UNSEEN,
	NUDGE_TIMEOUT,
	PAUSES_AT_LIMIT,
	PAUSES_AWAKE,
	planCreations,
	planLooks,
	planNudges,
	planWait,
} from '../../../nodes/MediaGeneration/run/timetable';
import { PAUSES_BEFORE_KNOWN } from '../../../nodes/MediaGeneration/trigger/receive';
import { useSteadyClock } from './steadyClock';

it.each<[string, earlier: number, '<' | '≤', later: number]>([
	['the limit counts as passed before it passes', -CLOCK_TOLERANCE, '<', 0],
	[
		'after the limit, a second nudge fits though the first is answered late',
		ANSWER_TIMEOUT + 1.25 * PAUSES_AT_LIMIT.first,
		'<',
		planWait(0, 0).lastWakeAt,
	],
	[
		'a third request for details leaves time for its answer',
		PAUSES_BEFORE_KNOWN[0] + PAUSES_BEFORE_KNOWN[1],
		'≤',
		ANSWER_TIMEOUT - 2_000,
	],
	['a task counts as unknown after a few looks', 4 * PAUSES_AWAKE.first, '<', MAX_TIME_UNSEEN],
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
	const { endByN8nAt, lastWakeAt } = planWait(0, timeout);
	expect([endByN8nAt, lastWakeAt]).toEqual([end, lastWake]);
});

it.each<[string, Parameters<typeof planWait>, number[]]>([
	['looks 5 s before its end', [60_000, Infinity, 0], [55_000, 60_000]],
	['of a short wait, a fifth before', [10_000, Infinity, 0], [8_000, 10_000]],
	['leaves 5 s to n8n', [HOUR, 60_000, 0], [50_000, 55_000]],
	['has 20 s at its limit', [60_500, Infinity, 60_000], [60_000, 80_000]],
	['has less if n8n ends', [0, 70_000, 60_000], [60_000, 68_000]],
])('a run that is awake %s', (_, wait, expected) => {
	const { lastLookAt, looksBy } = planWait(...wait);
	expect([lastLookAt, looksBy]).toEqual(expected);
});

it.each([NaN, Infinity])('no wait begins whose limit passes at %d', (limitAt) => {
	expect(() => planWait(limitAt, Infinity)).toThrow('The wait limit passes at');
});

it.each<[string, length: number, expected: [sentBy: number, knownBy: number]]>([
	['8 s and 3 s earlier', 60_000, [52_000, 57_000]],
	['of a short timeout, a part', 5_000, [58_000, 59_250]],
])("before n8n's timeout, creations end %s", (_, length, expected) => {
	const { sentBy, knownBy } = planCreations({ at: 60_000, length });
	expect([sentBy, knownBy]).toEqual(expected);
});

describe('looks and nudges', () => {
	useSteadyClock();

	/** Lets time pass until each of these moments; lists them, in seconds. */
	function list(moments: Iterable<number>): number[] {
		const seconds: number[] = [];
		for (const at of moments) {
			jest.setSystemTime(Math.max(at, Date.now()));
			seconds.push(at / 1_000);
		}
		return seconds;
	}

	it('come ever less often, the last one in time', () => {
		expect(list(planLooks(PAUSES_AWAKE, 20_000))).toEqual([2, 5, 9.5, 16.25, 20]);
	});

	it('come once where the moment of the last one has passed', () => {
		expect(list(planLooks(PAUSES_AWAKE, -1_000))).toEqual([-1]);
	});

	it('come rarely while the service rejects requests for their rate', () => {
		expect(list(planLooks(PAUSES_AWAKE, 70_000, () => true))).toEqual([30, 60, 70]);
	});

	it('of a run that sleeps come at its limit, and often soon after it', () => {
		expect(list(planNudges(1_000_000, 1_100_000))).toEqual([
			300, 900, 1000, 1004, 1012, 1028, 1060, 1100,
		]);
	});

	it('of a run that sleeps come at its limit, though the clock is set back before it', () => {
		const seconds: number[] = [];
		for (const at of planNudges(1_000_000, 1_028_000)) {
			const isAtLimit = at === 1_000_000 && !seconds.includes(400);
			// The timer of the nudge goes by another clock.
			jest.setSystemTime(isAtLimit ? 400_000 : at);
			seconds.push(Date.now() / 1_000);
		}
		expect(seconds).toEqual([300, 900, 400, 700, 1000, 1004, 1012, 1028]);
	});
});
