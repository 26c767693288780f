import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CALM } from './plans.cts';
import { GOOD, type Fate } from './service.cts';
import { World, type Plan } from './world.cts';

/** Orders that were found one by one, each of which has been a mistake. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const toFates = (all: Array<Partial<Fate>>): Fate[] => all.map((fate) => ({ ...GOOD, ...fate }));

/** A world with an execution of one node, whose items have these fates. */
const build = (items: Array<Partial<Fate>>, more: Partial<Plan> = {}) =>
	new World({
		...CALM,
		steps: [{ node: 'Film', items: items.map((fate) => toFates([fate])) }],
		...more,
	});

/** Lets everything happen. @returns the world, the last execution, and what came out of its last step */
async function live(world: World) {
	await world.live();
	world.check();
	const execution = world.n8n.executions.at(-1);
	const { items = [], errors = [] } = execution?.ended.at(-1) ?? {};
	return { world, execution, items, errors };
}

const film = (...fates: Array<Partial<Fate>>) => ({ node: 'Film', items: [toFates(fates)] });

it("a callback that can't be judged says why in the log", async () => {
	const world = build([{}]);
	world.n8n.unreadable = new Error('no such column: data');
	world.clock.after(20 * SECOND, () => (world.n8n.unreadable = undefined));
	await live(world);
	expect(world.n8n.log.join('\n')).toContain('no such column: data');
});

it("a callback before its task's end is not refused for the details of another", async () => {
	const early = { after: 40 * SECOND, callbacks: [-25 * SECOND, 0] };
	const { world } = await live(
		build([early, { after: 10 * SECOND }], {
			faults: [{ how: '500', from: 0, until: 20 * SECOND, item: 1 }],
		}),
	);
	const reasons = world.service.answered.map(
		({ answer }) => (answer as { reason?: string }).reason,
	);
	expect(reasons).toEqual(['detailsUnavailable', 'taskNotEnded', undefined]);
});

it('of a sleep that is over, nothing of n8n stays in memory', async () => {
	const world = build([{ after: 3.1 * HOUR }], { limit: 9 * HOUR });
	world.begin(world.plan);
	await world.end();
	await world.clock.pass(30 * MINUTE);
	setFlagsFromString('--expose-gc');
	(runInNewContext('gc') as () => void)();
	expect(world.n8n.responses).not.toEqual([]);
	expect(world.n8n.responses.filter((response) => response.deref())).toEqual([]);
	world.n8n.release();
});

describe('a sleep that n8n ends by itself, as no process knows of it', () => {
	/** Both processes end while the execution sleeps, and no callback comes. */
	const restart = (onError: Plan['onError']) =>
		build([{ callbacks: [], end: 'never' }, { callbacks: [] }], {
			onError,
			accidents: [
				{ when: { at: 10 * SECOND }, what: 'kill 0' },
				{ when: { at: 10 * SECOND }, what: 'kill 1' },
			],
		});

	it('continues with error items, as On Error says', async () => {
		const { items } = await live(restart('continueRegularOutput'));
		const error = expect.stringContaining('had not ended') as unknown;
		expect(items).toMatchObject([
			{ json: { taskId: 'task-0-1z', status: 'timedOut', error } },
			{ json: { taskId: 'task-1-1z', status: 'timedOut', error } },
		]);
	});

	it('continues at the error output, as On Error says', async () => {
		const { items, errors } = await live(restart('continueErrorOutput'));
		expect(items).toEqual([]);
		expect(errors).toMatchObject([
			{ json: { details: { taskId: 'task-0-1z', status: 'timedOut' } } },
			{ json: { details: { taskId: 'task-1-1z', status: 'timedOut' } } },
		]);
	});

	// With `resumeError` in what it stores, n8n would fail each retry too (`workflow-execute.js`, 2.41.1).
	it('outputs them with On Error "stop": n8n has no way to fail it so that it can be retried', async () => {
		const { items } = await live(restart('stopWorkflow'));
		expect(items.map(({ json }) => json.status)).toEqual(['timedOut', 'timedOut']);
		for (const { json } of items) expect(json).not.toHaveProperty('error');
	});
});

it('an execution that is woken and waits 20 minutes for its slot creates one task of the Generate behind', async () => {
	const { world } = await live(
		build([], {
			steps: [film({}), film({ after: 20 * SECOND })],
			limit: 3 * SECOND,
			slotWaits: [20 * MINUTE],
		}),
	);
	// n8n's own end of the first sleep waited for a slot too, and had its data.
	expect(world.n8n.repeats).toBeGreaterThan(0);
	expect(world.service.listOf(10)).toHaveLength(1);
});

describe('an n8n that took two who woke an execution, and runs it twice', () => {
	/** Two copies of a callback come to two processes. What the first one has read is run later. */
	const two: Partial<Fate> = { after: 20 * SECOND, callbacks: [0, 300] };
	const copies: Partial<Plan> = { callbacksTo: [1, 0], maxTries: 2, limit: 10 * MINUTE };
	const silent: Partial<Fate> = { callbacks: [] };

	it('pays for one more task, though the second run knows of no try', async () => {
		const failed: Array<Partial<Fate>> = [{ ...two, end: 'failed' }, { after: 2.5 * MINUTE }];
		const steps = [{ node: 'Film', items: [failed, [silent]].map(toFates) }];
		const { world } = await live(build([], { ...copies, steps, slotWaits: [40 * SECOND, 0] }));
		expect(world.n8n.repeats).toBe(1);
		expect(world.service.listOf(0)).toHaveLength(2);
	});

	it('sends once more what was refused at first, though both come to it', async () => {
		const sent: Array<Partial<Fate>> = [{ creation: 'refused' }, { latency: 5 * SECOND }];
		const steps = [{ node: 'Film', items: [sent, [two]].map(toFates) }];
		const { world, items } = await live(
			build([], {
				...{ ...copies, steps, runsTwice: true, onError: 'continueRegularOutput' },
				slotWaits: [SECOND, 0],
			}),
		);
		expect(world.n8n.repeats).toBe(1);
		expect(world.service.listOf(0)).toHaveLength(2);
		expect(items).toMatchObject([{ json: { taskId: 'task-0-2z' } }, {}]);
	});

	it('takes a callback for the task of one of them in the process of the other', async () => {
		const last = toFates([{ after: 50 * SECOND, ...silent }, {}]);
		const { world } = await live(
			build([], {
				steps: [film(two), { node: 'Film', items: [last] }],
				slotWaits: [40 * SECOND, 0],
				runsIn: [0, 1, 0],
				callbacksTo: [0, 1, 1],
			}),
		);
		expect(world.n8n.repeats).toBe(1);
		expect(world.service.listOf(10)).toHaveLength(2);
		expect(world.service.answered.map(({ taskId }) => taskId)).toContain('task-10-2z');
	});
});

it('a callback in the last second before the limit brings its task, also where the service is slow', async () => {
	const { items } = await live(build([{ after: MINUTE - 700 }], { latencies: [2 * SECOND] }));
	expect(items).toMatchObject([{ json: { status: 'completed' } }]);
});

it.each([-9 * SECOND, 9 * SECOND])(
	'two processes whose clocks differ by %d take the callbacks of each sleep',
	async (skew) => {
		const { world } = await live(
			build([], { steps: [film({}), film({}), film({})], skew, runsIn: [0, 1], callbacksTo: [1] }),
		);
		expect(world.service.answered.map(({ answer }) => answer)).toEqual(
			Array.from({ length: 3 }, () => ({ accepted: true, resumed: true })),
		);
	},
);

describe('a key in the credential', () => {
	it.each([
		['added', ''],
		['replaced', 'the key of before'],
	])('that is %s while an execution sleeps is no obstacle for its end', async (_, before) => {
		const world = build([{ after: 20 * SECOND, key: before }]);
		const { webhookSecret } = world.n8n.credentials;
		world.n8n.credentials.webhookSecret = before;
		world.clock.after(10 * SECOND, () => (world.n8n.credentials.webhookSecret = webhookSecret));
		const { items } = await live(world);
		expect(world.service.answered.map(({ status }) => status)).toEqual([401]);
		expect(items).toMatchObject([{ json: { status: 'completed' } }]);
	});
});

it('an execution that is stopped while its first task is created creates no other, and does not sleep', async () => {
	const slow = { latency: 5 * SECOND };
	const world = build([slow, slow], {
		accidents: [{ when: { at: 2 * SECOND }, what: 'stop' }],
	});
	const { execution } = await live(world);
	expect(execution?.status).toBe('canceled');
	expect(world.service.creations).toHaveLength(1);
	expect(world.n8n.log.join()).toContain('task-0-1z');
});

/** As long as the world is. */
const FOREVER = Infinity;

it.each<[string, Partial<Plan>]>([
	[
		"two copies of a callback at the limit, with details that can't be read",
		{
			steps: [film({ after: 400, callbacks: [0, 0] })],
			...{ limit: 3 * SECOND, latencies: [700], failedTasks: 'output' },
			faults: [{ how: '500', from: 400, until: FOREVER }],
		},
	],
	[
		'an n8n that could not store what came after its sender was answered',
		{
			steps: [film({ after: 0, callbacks: [] })],
			...{ limit: 3 * SECOND, downloads: true, latencies: [0, 3 * SECOND], storeFailures: 1 },
		},
	],
	[
		'a webhook that still asks after another one has ended its wait at the limit',
		{
			steps: [film({}), film({})],
			failedTasks: 'output',
			faults: [{ how: 'hangs', from: 0, until: FOREVER }],
		},
	],
	// It would end the next wait.
	[
		'a timer for a wait that a nudge at its limit ended, which n8n does not clear',
		{
			steps: [film({ end: 'never' }), film({ end: 'never' })],
			...{ trackerAt: 30 * SECOND, failedTasks: 'output' },
		},
	],
])('brings every paid task out with %s', async (_, more) => {
	const { items } = await live(build([], more));
	expect(items).toHaveLength(1);
});
