import type { HeldResponse } from '../../../nodes/MediaGeneration/host/webhook';
import { Nap, type SleepState } from '../../../nodes/MediaGeneration/run/sleep/nap';
import { LOOK_ASLEEP, PAUSES_ASLEEP } from '../../../nodes/MediaGeneration/run/timetable';
import { build, film, HOUR, live, MINUTE, SECOND } from '../../world/live.cts';
import type { Ended } from '../../world/n8n.cts';
import type { Plan } from '../../world/world.cts';

/** Luck spreads no pause in these worlds. */
const FIRST_NUDGE = PAUSES_ASLEEP.first;

const kill = (at: number): Plan['accidents'][0] => ({ when: { at }, what: 'kill 0' });

it('a callback that comes before n8n has stored the sleep is made up for by a look soon after', async () => {
	const slow = { latency: 2 * SECOND, callbacks: [] };
	const { world, execution, statuses } = await live(
		build([{ after: SECOND }, slow], { limit: HOUR }),
	);
	expect(world.service.answered.map(({ status }) => status)).toEqual([409]);
	expect(statuses).toEqual(['completed', 'completed']);
	const [{ sleptAt, endedAt }] = execution.ended as [Ended];
	expect(world.n8n.nudges).toHaveLength(1);
	expect(endedAt - Number(sleptAt)).toBeGreaterThanOrEqual(LOOK_ASLEEP);
	expect(endedAt - Number(sleptAt)).toBeLessThan(LOOK_ASLEEP + SECOND);
	expect(world.n8n.log.join()).toContain('no callback came');
});

it('nudges come ever less often', async () => {
	const limit = 2 * HOUR;
	const { world, execution } = await live(build(['endless'], { limit, failedTasks: 'output' }));
	const [{ sleptAt = 0 }] = execution.ended as [Ended];
	const nudges = world.n8n.nudges.filter((at) => at < sleptAt + limit - MINUTE);
	const pauses = nudges.map((at, index) => at - (nudges[index - 1] ?? sleptAt));
	expect(pauses.length).toBeGreaterThan(6);
	const { first, growth, longest } = PAUSES_ASLEEP;
	// Each waits for the answer to the one before.
	const rounded = pauses.map((pause) => Math.round(pause / SECOND) * SECOND);
	expect(rounded).toEqual(pauses.map((_, index) => Math.min(first * growth ** index, longest)));
});

it('a nudge opens no further nudging in the process that takes it', async () => {
	const plan = { limit: 3 * HOUR, nudgesTo: 1, accidents: [kill(HOUR)] };
	const { world } = await live(build(['endless'], plan));
	expect(world.n8n.nudges.length).toBeGreaterThan(1);
	expect(Math.max(...world.n8n.nudges)).toBeLessThan(world.begun + HOUR);
});

it('a callback that comes after a restart does', async () => {
	const late = { after: 2 * HOUR + MINUTE, callbacks: [] };
	const { world, execution, statuses } = await live(
		build([{ after: 2 * HOUR }, late], { limit: 3 * HOUR, accidents: [kill(MINUTE)] }),
	);
	expect(world.service.answered).toMatchObject([{ answer: { accepted: true, resumed: false } }]);
	expect(statuses).toEqual(['completed', 'completed']);
	const [nudge = 0] = world.n8n.nudges;
	expect(Math.round((nudge - world.begun) / SECOND)).toBe((2 * HOUR + FIRST_NUDGE) / SECOND);
	expect(execution.ended[0]?.endedAt).toBeLessThan(nudge + SECOND);
});

it('nobody is woken twice: copies of a callback, and nudges, while n8n waits for a slot', async () => {
	// What wakes the first node once more ends the wait of the next one.
	const steps = [film({ callbacks: [0, SECOND] }), { node: 'Wait', items: [[]] }];
	const { world, execution } = await live(
		build([], { steps, limit: HOUR, slotWaits: [2 * FIRST_NUDGE] }),
	);
	expect(world.service.answered.map(({ answer }) => answer)).toEqual([
		{ accepted: true, resumed: false },
		{ accepted: true, resumed: true },
	]);
	expect(execution.ended.map(({ step }) => step)).toEqual([0, 1]);
	expect([world.n8n.repeats, world.n8n.nudges]).toEqual([0, []]);
});

describe('a sleep that a webhook has handed to n8n', () => {
	const tools = { url: '', taskIds: [], logger: { info() {}, warn() {} }, name: '' };

	it.each<[string, Partial<HeldResponse>, SleepState['is']]>([
		['has not answered yet', {}, 'delivering'],
		['has stored that it goes on', { writableEnded: true }, 'over'],
		['could not store that', { writableEnded: true, statusCode: 500 }, 'waiting'],
		['has found it running', { writableEnded: true, statusCode: 409 }, 'waiting'],
	])('where n8n %s by its answer %j, is %s', (_, answered, is) => {
		const nap = new Nap(1, { ...tools, until: 0, lastWake: 0 });
		const response = { writableEnded: false, statusCode: 200 };
		const another = { ...response };
		expect(nap.beginDelivery(response)).toBe(true);
		expect(nap.beginDelivery(another)).toBe(false);
		Object.assign(response, answered);
		expect(nap.getState()).toBe(is);
		expect(nap.beginDelivery(another)).toBe(is === 'waiting');
	});

	it('that is over stays so', () => {
		const nap = new Nap(1, { ...tools, until: 0, lastWake: 0 });
		nap.end();
		expect(nap.beginDelivery({ writableEnded: false, statusCode: 200 })).toBe(false);
	});
});
