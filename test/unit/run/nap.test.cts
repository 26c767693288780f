import { signHeaders } from '../../../dev/service/signHeaders.cts';
import { PAUSES_ASLEEP } from '../../../nodes/MediaGeneration/run/timetable';
import { buildWorld, buildFilm, HOUR, runAndCheck, MINUTE, SECOND } from '../../world/live.cts';

/** Luck spreads no pause in these worlds. */
const FIRST_NUDGE = PAUSES_ASLEEP.first;

it('nudges of a run that sleeps come ever less often', async () => {
	const limit = 2 * HOUR;
	const { world, execution } = await runAndCheck(
		buildWorld(['endless'], { limit, failedTasks: 'output' }),
	);
	const { nudges } = world.n8n;
	const pauses = nudges.map(
		(at, index) => at - Number(nudges[index - 1] ?? execution.ended[0]?.sleptAt),
	);
	const minutes = pauses.map((pause) => Math.round(pause / MINUTE));
	expect(minutes.slice(0, 5)).toEqual([5, 10, 15, 15, 15]);
});

it('after a restart of n8n, the first callback starts the nudges', async () => {
	const late = { after: 2 * HOUR + MINUTE, callbacks: [] };
	const accidents = [{ when: { after: MINUTE }, what: 'kill 0' as const }];
	const { world, statuses } = await runAndCheck(
		buildWorld([{ after: 2 * HOUR }, late], { limit: 3 * HOUR, accidents }),
	);
	expect(world.service.answered).toMatchObject([{ answer: { accepted: true, resumed: false } }]);
	expect(statuses).toEqual(['completed', 'completed']);
	const [nudge = 0] = world.n8n.nudges;
	expect(Math.round((nudge - world.startedAt) / SECOND)).toBe((2 * HOUR + FIRST_NUDGE) / SECOND);
});

it('copies of a callback, and nudges, wake a run once, while n8n waits for a slot', async () => {
	// What wakes the first node once more ends the wait of the next one.
	const steps = [buildFilm({ callbacks: [0, SECOND] }), { node: 'Wait', items: [[]] }];
	const { world, execution } = await runAndCheck(
		buildWorld([], { steps, limit: HOUR, slotWaits: [2 * FIRST_NUDGE] }),
	);
	expect(world.service.answered.map(({ answer }) => answer)).toEqual([
		{ accepted: true, resumed: false },
		{ accepted: true, resumed: true },
	]);
	expect(execution.ended.map(({ step }) => step)).toEqual([0, 1]);
	expect([world.n8n.repeats, world.n8n.nudges]).toEqual([0, []]);
});

it('a callback for a task of another run wakes nothing, though its signature is genuine', async () => {
	const world = buildWorld([{ after: 20 * SECOND }]);
	const { n8n, service, clock } = world;
	const answers: unknown[] = [];
	const send = async () => {
		const body = { data: { task_id: 'task-9-1z' } };
		const headers = signHeaders(body, service.key, Math.floor(clock.now / SECOND));
		answers.push(await n8n.callBack(String(service.creations[0]?.callBackUrl), body, headers));
	};
	clock.after(10 * SECOND, () => void send());
	await runAndCheck(world);
	expect(answers).toMatchObject([{ status: 404, answer: { reason: 'taskNotInExecution' } }]);
});

it('at a callback, the service is asked for its task and a pending one, and for none that has ended', async () => {
	const { world } = await runAndCheck(
		buildWorld([10, 20, 30].map((after) => ({ after: after * SECOND }))),
	);
	// The first look is that of the run itself.
	const asked = [0, 0, 1, 1, 2, 2].map((item) => `task-${item}-1z`);
	expect(world.service.looks.map(({ taskId }) => taskId)).toEqual(asked);
});

it('a callback is refused after 5 seconds, and a nudge wakes the run once the service has answered', async () => {
	const { world, execution } = await runAndCheck(
		buildWorld([{ after: 20 * SECOND }], { latencies: [6 * SECOND] }),
	);
	const ended = Number(world.service.creations[0]?.endsAt);
	expect(world.service.answered).toMatchObject([{ status: 503, at: ended + 5 * SECOND }]);
	expect(world.n8n.nudges).toEqual([ended + 6 * SECOND]);
	expect(world.n8n.log.join()).toMatch(
		/detailsUnavailable; the service is slow.* no callback came/,
	);
	expect(execution.ended).toMatchObject([{ endedAt: ended + 6 * SECOND }]);
});

it('a callback that comes when n8n is about to end the sleep is refused for that', async () => {
	const late = { after: MINUTE + 13 * MINUTE + SECOND };
	const { world, execution } = await runAndCheck(
		buildWorld([late], { resumeUrl: 'hairpin', failedTasks: 'output' }),
	);
	expect(world.n8n.log.join()).toMatch(/sleeps, but .* answers 302.* a nudge failed/);
	const answer = { reason: 'limitPassed' };
	expect(world.service.answered).toMatchObject([{ status: 410, answer }]);
	expect(execution.ended).toMatchObject([{ byN8n: true }]);
});
