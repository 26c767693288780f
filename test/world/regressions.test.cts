import {
	AWAKE_OR_ASLEEP,
	buildWorld,
	buildFilm,
	HOUR,
	runAndCheck,
	MINUTE,
	readLast,
	SECOND,
	type FateName,
	type ItemFates,
} from './live.cts';
import type { Ended } from './n8n.cts';
import type { Fate } from './service.cts';
import type { Plan } from './world.cts';

/** Sequences of events in which the node once did something wrong. */

it("a callback before its task's end is answered by that task, though details of another are unavailable", async () => {
	const early = { after: 40 * SECOND, callbacks: [-25 * SECOND, 0] };
	const faults: Plan['faults'] = [{ how: '500', from: 0, until: 20 * SECOND, item: 1 }];
	const { world } = await runAndCheck(buildWorld([early, { after: 10 * SECOND }], { faults }));
	const reasons = world.service.answered.map(
		({ answer }) => (answer as { reason?: string }).reason,
	);
	expect(reasons).toEqual(['detailsUnavailable', 'taskNotEnded', undefined]);
});

describe('an n8n that lets two webhooks wake an execution, and runs it twice', () => {
	/** Two copies of a callback come to two processes. n8n runs only later what the first copy has read. */
	const two: Partial<Fate> = { after: 20 * SECOND, callbacks: [0, 300] };
	const copies: Partial<Plan> = { callbacksTo: [1, 0], maxTries: 2, limit: 10 * MINUTE };
	const atOnce: Partial<Plan> = { ...copies, runsTwice: true, slotWaits: [SECOND, 0] };
	const withoutCallback: Partial<Fate> = { callbacks: [] };

	it('pays for one more task, though the second run knows of no try', async () => {
		const failed: Array<Partial<Fate>> = [{ ...two, end: 'failed' }, { after: 2.5 * MINUTE }];
		const { world, sent } = await runAndCheck(
			buildWorld([failed, withoutCallback], { ...copies, slotWaits: [40 * SECOND, 0] }),
		);
		expect(world.n8n.repeats).toBe(1);
		expect(sent).toEqual([2, 1]);
	});

	it('sends a rejected item only once more, though both runs try it again', async () => {
		const { world, sent, items } = await runAndCheck(
			buildWorld([['rejected', { latency: 5 * SECOND }], two], {
				...atOnce,
				onError: 'continueRegularOutput',
			}),
		);
		expect(world.n8n.repeats).toBe(1);
		expect(sent).toEqual([2, 1]);
		expect(items).toMatchObject([{ json: { taskId: 'task-0-2z' } }, {}]);
	});

	it('pays for one more task, though a run with the older data has gone to sleep', async () => {
		const third: Partial<Fate> = { latency: 2 * MINUTE };
		const { world, sent, statuses } = await runAndCheck(
			buildWorld(
				[
					[{ ...two, end: 'failed' }, 'failed', third],
					[{ ...withoutCallback, end: 'failed' }, { latency: MINUTE }],
				],
				{ ...atOnce, maxTries: 5, slotWaits: [30 * SECOND, 0] },
			),
		);
		expect(world.n8n.repeats).toBeGreaterThan(0);
		expect(sent).toEqual([3, 2]);
		// Both calls sleep, and n8n has stored the later call: nudges are for the tasks of that call.
		expect(statuses).toEqual(['completed', 'completed']);
	});

	describe('in two processes, each of which creates a task', () => {
		/** The first process begins, and then runs what the second process has stored. */
		const apart: Partial<Plan> = { ...atOnce, maxTries: 5, runsIn: [0, 0, 1, 0] };
		const failed: Partial<Fate> = { ...two, end: 'failed' };
		const late: Partial<Fate> = { after: MINUTE };

		const dud: Partial<Fate> = { end: 'failed', after: 2 * SECOND };
		it.each([
			['task-0-2z', late, dud],
			['task-0-3z', dud, late],
		])('outputs the task that completes (%s), and pays for no third', async (taskId, ...both) => {
			const { world, sent, statuses, taskIds } = await runAndCheck(
				buildWorld([[failed, ...both]], apart),
			);
			expect(world.n8n.repeats).toBe(1);
			expect([sent, statuses, taskIds]).toEqual([[3], ['completed'], [taskId]]);
		});

		/** Runs a world in which the outcome of one creation is unknown. Each process waits for the other item too. */
		const runWithUnknown = async (...others: ItemFates[]) => {
			const beside = [{ ...withoutCallback, end: 'failed' as const }, late];
			const items = [beside, [failed, ...others.flat()]];
			const world = buildWorld(items, { ...apart, onError: 'continueRegularOutput' });
			const result = await runAndCheck(world);
			expect(world.n8n.repeats).toBe(1);
			return result;
		};

		it('outputs the task that completes beside a creation of unknown outcome', async () => {
			const { sent, statuses } = await runWithUnknown('unknown', late);
			expect([sent, statuses]).toEqual([
				[3, 3],
				['completed', 'completed'],
			]);
		});

		it('pays for nothing more after an unknown outcome of the other creation', async () => {
			const { sent, statuses } = await runWithUnknown({ ...late, end: 'failed' }, 'unknown');
			expect([sent, statuses]).toEqual([
				[3, 3],
				['completed', undefined],
			]);
		});
	});
});

it.each([-9 * SECOND, 9 * SECOND])(
	'two processes whose clocks differ by %d ms accept the callbacks of each sleep',
	async (skew) => {
		const { world } = await runAndCheck(
			buildWorld([], {
				steps: [buildFilm({}), buildFilm({}), buildFilm({})],
				skew,
				runsIn: [0, 1],
				callbacksTo: [1],
			}),
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
	])(
		'that is %s while an execution sleeps does not keep the execution from its end',
		async (_, before) => {
			const world = buildWorld([{ after: 20 * SECOND, key: before }]);
			const { webhookSecret } = world.n8n.credentials;
			world.n8n.credentials.webhookSecret = before;
			world.clock.after(10 * SECOND, () => (world.n8n.credentials.webhookSecret = webhookSecret));
			const { items } = await runAndCheck(world);
			expect(world.service.answered.map(({ status }) => status)).toEqual([401]);
			expect(items).toMatchObject([{ json: { status: 'completed' } }]);
		},
	);
});

describe("a credential that can't be read", () => {
	const GONE = 'Credential with ID "7" does not exist';

	/** Runs a world in which the credential can't be read between two moments since the world began. */
	async function runWithout(from: number, until: number) {
		const onError = 'continueRegularOutput';
		const world = buildWorld([{ after: 50 * SECOND, callbacks: [] }], { onError });
		let missed = 0;
		world.n8n.onCredential = () => {
			const time = world.clock.now - world.startedAt;
			if (time < from || time >= until) return;
			missed++;
			throw new Error(GONE);
		};
		const { execution, items } = await runAndCheck(world);
		expect(missed).toBeGreaterThan(0);
		const [{ endedAt, byN8n }] = execution.ended as [Ended];
		expect({ byN8n, isInTime: endedAt - world.startedAt < MINUTE + 20 * SECOND }).toEqual({
			byN8n: false,
			isInTime: true,
		});
		return items;
	}

	it('since some time in the sleep is the error of its item at the wait limit', async () => {
		expect(await runWithout(10 * SECOND, Infinity)).toMatchObject([
			{
				json: {
					...{ taskId: 'task-0-1z', status: 'timedOut' },
					error: expect.stringContaining(`The last look failed: ${GONE}`) as string,
				},
			},
		]);
	});
});

describe('of a run that sleeps', () => {
	const withoutCallback = (after: number): Partial<Fate> => ({ after, callbacks: [] });
	const long = { limit: HOUR, failedTasks: 'output' } as const;

	/** Runs a world. Times count from when the run fell asleep. */
	async function runAsleep(fates: Parameters<typeof buildWorld>[0], more: Partial<Plan> = {}) {
		const { world, execution, statuses } = await runAndCheck(
			buildWorld(fates, { ...long, ...more }),
		);
		const [{ sleptAt = NaN, endedAt }] = execution.ended as [Ended];
		const since = (at: number) => at - sleptAt;
		const looks = world.service.looks.map(({ taskId, at }) => ({ taskId, at: since(at) }));
		const nudges = world.n8n.nudges.map(since);
		return { world, statuses, looks, nudges, took: since(endedAt) };
	}

	it('a task that ended without a callback is found after some five seconds, by one request', async () => {
		const { statuses, looks, nudges, took } = await runAsleep([withoutCallback(SECOND)]);
		expect(statuses).toEqual(['completed']);
		expect(took).toBeLessThan(6.5 * SECOND);
		expect([looks.length, nudges.length]).toEqual([1, 1]);
	});

	it('the first looks are for all tasks, up to one that has not ended', async () => {
		const ended = [SECOND, SECOND, 2 * SECOND].map(withoutCallback);
		const { looks, nudges } = await runAsleep([...ended, 'endless']);
		const early = looks.filter(({ at }) => at < 2 * MINUTE);
		expect(early.map(({ taskId }) => taskId)).toEqual([0, 1, 2, 3].map((one) => `task-${one}-1z`));
		expect(nudges[0]).toBeGreaterThan(2 * MINUTE);
	});

	it('a task whose callback came is looked at only then', async () => {
		const { looks } = await runAsleep([{ after: SECOND }]);
		expect(looks).toHaveLength(1);
		expect(looks[0]?.at).toBeLessThan(2 * SECOND);
	});

	it('a look that fails does not end the nudges', async () => {
		const faults: Plan['faults'] = [{ how: '500', from: 0, until: MINUTE }];
		const { world, statuses, took } = await runAsleep([withoutCallback(SECOND)], { faults });
		expect(world.service.faulty).toBe(1);
		expect(world.n8n.log.join()).toContain('a look failed');
		expect(statuses).toEqual(['completed']);
		expect(took).toBeGreaterThan(4 * MINUTE);
	});
});

describe('a look that fails at the end of a wait is repeated while there is time', () => {
	/** A task that ends without a callback. */
	const withoutCallback: Partial<Fate> = { after: 50 * SECOND, callbacks: [] };

	it.each(['500', '429', 'reset', 'malformed'] as const)(
		'at the limit of a sleep, where the service answers %s',
		async (how) => {
			const faults: Plan['faults'] = [{ how, from: MINUTE - SECOND, until: MINUTE + 4 * SECOND }];
			const { world, statuses, execution } = await runAndCheck(
				buildWorld([withoutCallback], { faults }),
			);
			expect(world.service.faulty).toBeGreaterThan(0);
			expect(statuses).toEqual(['completed']);
			expect(Number(execution.ended[0]?.endedAt) - world.startedAt).toBeLessThan(
				MINUTE + 20 * SECOND,
			);
		},
	);

	it('before the limit of a run that is awake', async () => {
		const faults: Plan['faults'] = [{ how: '500', from: 50 * SECOND, until: 57 * SECOND }];
		const { world, statuses } = await runAndCheck(
			buildWorld([withoutCallback], { faults, howToWait: 'polling' }),
		);
		expect(world.service.faulty).toBeGreaterThan(0);
		expect(statuses).toEqual(['completed']);
	});

	it('only for the tasks that it failed for', async () => {
		const faults: Plan['faults'] = [{ how: '500', from: MINUTE - SECOND, until: HOUR, item: 0 }];
		const { world } = await runAndCheck(
			buildWorld([withoutCallback, 'endless'], { faults, failedTasks: 'output' }),
		);
		const late = world.service.looks.filter(({ at }) => at > world.startedAt + MINUTE - SECOND);
		expect(late.filter(({ taskId }) => taskId === 'task-0-1z').length).toBeGreaterThan(2);
		expect(late.filter(({ taskId }) => taskId === 'task-1-1z')).toHaveLength(1);
	});
});

it.each(AWAKE_OR_ASLEEP)(
	'the cost that the service said of a running task counts if the task timed out, until its end says another: %s',
	async (howToWait) => {
		const fate = { after: 90 * SECOND, callbacks: [] };
		const { world } = await runAndCheck(buildWorld([fate], { howToWait, retries: [{}] }));
		const costs = world.n8n.executions.map(({ metadata }) => metadata.Media_Generation_credits);
		expect(costs).toEqual(['2', '1']);
		expect(world.n8n.executions[0]?.error?.message).toContain('had not ended');
	},
);

it.each(AWAKE_OR_ASLEEP)(
	'in an outage, a loop (%s) sends no more than three creations of unknown outcome',
	async (howToWait) => {
		const rounds = ['good', ...Array<FateName>(5).fill('unknown')].map((fate) =>
			buildFilm(fate as FateName),
		);
		const { world } = await runAndCheck(
			buildWorld([], { steps: rounds, howToWait, onError: 'continueRegularOutput' }),
		);
		const { creations } = world.service;
		expect(creations.map(({ fate }) => fate.creation)).toEqual(['ok', 'reset', 'reset', 'reset']);
	},
);

it('where two services number their tasks alike, each account gets its own task', async () => {
	const world = buildWorld([['failed', 'good'], { after: 20 * SECOND }], {
		...{ howToWait: 'polling', maxTries: 2, downloads: true },
	});
	const { n8n, service } = world;
	n8n.accountOf = (item = 0) => ({ accessToken: `account-${item}` });
	const answer = service.answer.bind(service);
	service.answer = async (path, body, sender) => {
		const [account] = /\d+$/.exec(sender.token) ?? [];
		const own = path.replace(/taskId=(\d+)/, `taskId=task-${account}-$1z`);
		const answered = await answer(own, body, sender);
		const text = String(answered.body).replace(/"task-\d-(\d)z"/, '"$1"');
		return { ...answered, body: text };
	};
	// The checks of the world don't know such IDs, so they are left out.
	const { execution, items, sent, taskIds, statuses } = readLast(await world.run());
	expect([taskIds, statuses]).toEqual([
		['2', '1'],
		['completed', 'completed'],
	]);
	expect(sent).toEqual([2, 1]);
	const files = ['task-0-2z', 'task-1-1z'].map((name) => `https://files.example/${name}.png`);
	expect(items.map(({ json }) => json.resultUrls)).toEqual(files.map((file) => [file]));
	expect(service.downloads).toEqual(expect.arrayContaining(files));
	expect(items.map(({ binary }) => binary?.data?.data)).toEqual(['file', 'file']);
	expect(execution.metadata.Media_Generation_credits).toBe('2');
});

describe.each(AWAKE_OR_ASLEEP)("before n8n's timeout (%s)", (howToWait) => {
	const buildWithTimeout = (items: ItemFates[], more: Partial<Plan> = {}) =>
		buildWorld(items, {
			...{ howToWait, timeout: 20 * SECOND, onError: 'continueRegularOutput', ...more },
		});
	/** Creations of three seconds each, one after the other: the fifth would begin 8 s before the timeout. */
	const slow: Partial<Fate> = { latency: 3 * SECOND, after: 5 * SECOND };
	const whole = { status: 'completed' };

	it('the last task is created 8 s earlier, and all tasks that were created come out', async () => {
		const { execution, items, sent } = await runAndCheck(
			buildWithTimeout([slow, slow, slow, slow, slow, slow]),
		);
		expect(execution.status).toBe('success');
		expect(sent).toEqual([1, 1, 1, 1, 0, 0]);
		const error = "There was no time left to create the task before n8n's timeout";
		expect(items.map(({ json }) => json)).toMatchObject([
			...[whole, whole, whole, whole],
			...[{ error }, { error }],
		]);
	});

	it('the outcome of a creation under way is unknown 3 s earlier, and the log has the ID of its task', async () => {
		const late = { latency: MINUTE };
		const { world, execution, items, sent } = await runAndCheck(
			buildWithTimeout([slow, slow, slow, late, slow]),
		);
		expect(execution.status).toBe('success');
		expect(sent).toEqual([1, 1, 1, 1, 0]);
		const message = expect.stringContaining('may exist') as string;
		const json = items.map((item) => item.json);
		expect(json).toMatchObject([whole, whole, whole, { message }, {}]);
		expect(json[3]?.error).toContain('so long to create the task that n8n would have ended');
		expect(world.n8n.log.join()).toContain('created task task-3-1z');
	});

	it('no try creates a task later than that', async () => {
		const rejected: Partial<Fate> = { creation: 'rejected', latency: 11 * SECOND };
		const { execution, sent } = await runAndCheck(
			buildWithTimeout([[rejected, 'good']], { maxTries: 3 }),
		);
		expect(execution.outputs).toHaveLength(3);
		expect(sent).toEqual([1]);
	});
});

it.each([[[0]], [[0, 1]]])(
	'a run that tries again and sleeps again still has its prompts, and the end of a task that the service no longer knows, in the processes %j',
	async (runsIn) => {
		const faults: Plan['faults'] = [{ how: '500', from: 5.5 * SECOND, until: Infinity, item: 1 }];
		const more = { maxTries: 2, downloads: true, runsIn, faults };
		const world = buildWorld([['failed', 'good'], 'good'], more);
		world.n8n.read = (item) => ({ item, prompt: 'Cats' });
		const { items } = await runAndCheck(world);
		for (const [item, { json, binary }] of items.entries()) {
			expect(json.status).toBe('completed');
			expect(binary?.data?.fileName).toMatch(new RegExp(`^cats-${item + 1}-[a-z]{8}.png$`));
		}
		expect(items).toHaveLength(2);
	},
);
