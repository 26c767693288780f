// Comes first: the mocks below are made of it.
import { FakeN8n, MapOfProcess, runInProcessAfter, SECRETS, type Service } from './fakeN8n.cts';
import fc from 'fast-check';
import { sleep, type IDataObject } from 'n8n-workflow';
import { Readable } from 'node:stream';
import { executeOperation } from '../../nodes/MediaGeneration/operations/execute';
import { FALLBACK_AFTER } from '../../nodes/MediaGeneration/operations/wait/park';
import { resumeExecution } from '../../nodes/MediaGeneration/operations/wait/resume';
import type { Task } from '../../nodes/MediaGeneration/api/task';

jest.mock('../../nodes/MediaGeneration/lib/boundedMap', () => ({
	BoundedMap: MapOfProcess,
}));
jest.mock('../../nodes/MediaGeneration/lib/timers', () => ({
	...jest.requireActual<object>('../../nodes/MediaGeneration/lib/timers'),
	runAfter: runInProcessAfter,
}));

const product = { executeOperation, resumeExecution };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const pass = jest.advanceTimersByTimeAsync;

/** How a task ends: the service's word, and its result. */
const ENDS = {
	success: { state: 'success', resultJson: { resultUrls: ['https://files.example/a.png'] } },
	'two files, one dead': {
		state: 'success',
		resultJson: '{"resultUrls":["https://files.example/dead.png","https://files.example/b.png"]}',
	},
	'a blank link': { state: 'success', resultJson: { resultUrls: [''] } },
	'a blank text for links': { state: 'success', resultJson: '{"resultUrls":""}' },
	'a relative link': { state: 'success', resultJson: { resultUrls: ['/files/a.png'] } },
	'links that are numbers': { state: 'success', resultJson: { resultUrls: [1, null] } },
	'no result': { state: 'success' },
	fail: { state: 'fail', failCode: '501', failMsg: 'blocked' },
} satisfies Record<string, object>;

/** How the service answers requests for details. */
const FAULTS = ['none', '500', 'garbled', 'junk', 'empty', 'hangs', 'dies', 'unknown'] as const;

type End = keyof typeof ENDS;
type Fault = (typeof FAULTS)[number];

interface Plan {
	count: number;
	/** What becomes of the creation for each item. */
	creations: Array<'taken' | 'refused' | 'lost'>;
	tries: number;
	onError: boolean;
	waitFor: 'automatic' | 'callback' | 'polling';
	/** In milliseconds. */
	limit: number;
	/** n8n's time-out of the execution, while it is awake, in milliseconds. */
	timeout: number;
	parkingFails: boolean;
	downloads: boolean;
	/** How long the service takes to answer, in turn, in milliseconds. */
	latencies: number[];
	/** Looks go to this process. */
	looksTo: number;
	/** Answers of the service that are not of its kind, in turn: the HTTP status, and the body. */
	junk: Array<[status: number, body: string]>;
	/** How often n8n fails to store that the execution continues. */
	storeFailures: number;
	/** The time before the first event, in milliseconds: most come when all tasks are created. */
	lead: number;
}

/** A service, an n8n, and what happened to them. */
class World implements Service {
	readonly n8n: FakeN8n;
	private readonly begun = Date.now();
	readonly created = new Map<number, string[]>();
	readonly ends = new Map<string, { end: End; at: number }>();
	/** When the service last told of a task's end, in a process that has not been killed since. */
	readonly told = new Map<string, number>();
	fault: Fault = 'none';
	/** When the last fault was over, and whether a process was killed or the execution stopped. */
	faultUntil = 0;
	wasKilled = false;
	wasJunk = false;
	/** By task, when a callback after its end was first accepted. */
	readonly accepted = new Map<string, number>();
	wasStopped = false;
	private requests = 0;

	constructor(readonly plan: Plan) {
		this.n8n = new FakeN8n(
			product,
			this,
			{
				resource: 'task',
				operation: 'createAndWait',
				model: 'custom',
				customModel: 'epsilon/any',
				inputMode: 'json',
				waitFor: plan.waitFor,
				waitLimit: plan.limit / MINUTE,
				downloadResults: plan.downloads,
				onError: plan.onError,
				options: { tasksPer10Seconds: 0, timeoutSeconds: 20 },
			},
			plan.count,
		);
		this.n8n.storeFailures = plan.storeFailures;
		this.n8n.parkingFails = plan.parkingFails;
		this.n8n.deadline = this.begun + plan.timeout;
	}

	/** The execution never sleeps. */
	get staysAwake(): boolean {
		return this.plan.waitFor === 'polling' || this.plan.parkingFails;
	}

	get taskIds(): string[] {
		return [...this.created.values()].flat();
	}

	async answer(path: string, body?: { input?: { item?: number } }): Promise<object> {
		const { latencies } = this.plan;
		const latency = latencies[this.requests++ % latencies.length] ?? 0;
		if (path.endsWith('/createTask')) return await this.create(Number(body?.input?.item), latency);
		if (!path.includes('recordInfo')) return { statusCode: 404, body: '' };
		const taskId = new URL(path, 'https://x').searchParams.get('taskId') ?? '';
		await sleep(latency);
		return await this.readDetails(taskId);
	}

	async download(url: string): Promise<object> {
		await sleep(300);
		const isDead = url.includes('dead');
		return {
			statusCode: isDead ? 404 : 200,
			headers: { 'content-type': 'image/png' },
			body: Readable.from([Buffer.from('file')]),
		};
	}

	private async create(item: number, latency: number): Promise<object> {
		const outcome = this.plan.creations[item];
		const before = this.created.get(item) ?? [];
		const taskId = `task-${item}${'-again'.repeat(before.length)}`;
		if (outcome !== 'refused') this.created.set(item, [...before, taskId]);
		await sleep(latency);
		if (outcome === 'refused') return { statusCode: 200, body: '{"code":422,"msg":"no"}' };
		if (outcome === 'lost')
			throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
		return { statusCode: 200, body: JSON.stringify({ code: 200, data: { taskId } }) };
	}

	private async readDetails(taskId: string): Promise<object> {
		const { plan } = this;
		const json = (value: object) => ({ statusCode: 200, body: JSON.stringify(value) });
		switch (this.fault) {
			case '500':
				return { statusCode: 500, body: '{"code":500,"msg":"fault"}' };
			case 'garbled':
				return { statusCode: 200, body: '{"code":200,"data":' };
			case 'junk': {
				const [statusCode, body] = plan.junk[this.requests % plan.junk.length] ?? [200, ''];
				this.wasJunk = true;
				return { statusCode, body };
			}
			case 'empty':
				return json({ code: 200, data: null });
			case 'unknown':
				return json({ code: 422, msg: 'recordInfo is null' });
			case 'dies':
				throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
			case 'hangs':
				await sleep(20 * SECOND);
				throw Object.assign(new Error('time-out'), { code: 'ETIMEDOUT' });
			case 'none': {
				const ended = this.ends.get(taskId);
				if (ended) this.told.set(taskId, Date.now());
				const record = ended ? ENDS[ended.end] : { state: 'generating' };
				return json({ code: 200, data: { taskId, ...record } });
			}
		}
	}

	setFault(fault: Fault): void {
		if (this.fault !== 'none') this.faultUntil = Date.now();
		this.fault = fault;
	}

	/** Ends what the plan left open, and lets all time pass. */
	async finish(): Promise<void> {
		await pass(this.plan.limit + FALLBACK_AFTER + 2 * MINUTE);
		if (this.fault !== 'none') this.faultUntil = Date.now();
	}

	/** What must hold, whatever happened. */
	check(): void {
		const { n8n, plan } = this;
		// Nothing is created twice for an item, and nobody waits for an answer.
		expect(Math.max(0, ...[...this.created.values()].map(({ length }) => length))).toBeLessThan(2);
		expect(n8n.open).toBe(0);
		const said = JSON.stringify([n8n.outputs, n8n.log, n8n.error, n8n.error?.message]);
		// Under polling the service is never told the resume URL, so it can't repeat its token.
		const told = plan.waitFor === 'polling' ? SECRETS.ofCredential : SECRETS.all;
		for (const secret of told) expect(said).not.toContain(secret);
		expect(n8n.outputs.length).toBeLessThanOrEqual(1);
		if (!this.wasElsewhere && !this.wasKilled && plan.looksTo === 0)
			expect(n8n.handedOver).toBeLessThanOrEqual(1 + plan.storeFailures);
		if (this.wasStopped) return;
		if (n8n.status === 'error') return this.checkError();
		expect(n8n.status).toBe('done');
		const [output = []] = n8n.outputs;
		expect(output).toHaveLength(plan.count);
		const tasks = output.map(({ json }) => json as unknown as Task & { lookError?: string });
		const known = tasks.map(({ taskId }) => taskId).filter((taskId) => taskId !== undefined);
		const isTaken = (taskId: string) =>
			plan.creations[indexOf(taskId) % plan.creations.length] === 'taken';
		expect([...known].sort()).toEqual(this.taskIds.filter(isTaken).sort());
		for (const task of tasks) if (task.taskId !== undefined) this.checkTask(task);
		this.checkPromptness();
	}

	/** Where nothing is wrong, the output follows the callback for the last task. */
	private checkPromptness(): void {
		const { plan, n8n } = this;
		const isInOrder =
			this.faultUntil === 0 && !this.wasKilled && !this.wasElsewhere && plan.storeFailures === 0;
		const ends = this.taskIds.map((taskId) => this.accepted.get(taskId));
		if (!isInOrder || this.staysAwake || !ends.length) return;
		const last = Math.max(...ends.map((at) => at ?? Infinity));
		if (last < Infinity)
			expect(n8n.endedAt).toBeLessThanOrEqual(last + 5 * Math.max(...plan.latencies) + 2 * SECOND);
	}

	private checkTask(task: Task & { lookError?: string; downloadError?: string }): void {
		const { plan, n8n } = this;
		const ended = this.ends.get(task.taskId);
		// The codes 501 and 408 end a task as well.
		if (this.wasJunk && task.failCode !== undefined) return;
		if (task.status === 'completed' || task.status === 'failed') {
			expect(task.state).toBe(ended && ENDS[ended.end].state);
			expect(ended?.at).toBeLessThanOrEqual(n8n.endedAt as number);
			return;
		}
		expect(task.status).toBe('timedOut');
		// Not before the limit, or n8n's time-out.
		const limitAt = (n8n.endedAt as number) + 4 * SECOND;
		const limit = this.staysAwake ? Math.min(plan.limit, plan.timeout - 5 * SECOND) : plan.limit;
		expect(limitAt).toBeGreaterThanOrEqual(this.begun + limit);
		if (ended === undefined || this.wasKilled) return;
		// One that the service told the only process of comes out as it ended.
		const toldAt = this.told.get(task.taskId);
		if (plan.looksTo === 0 && toldAt !== undefined && !this.wasElsewhere)
			expect(toldAt).toBeGreaterThanOrEqual((n8n.endedAt as number) - 1);
		// With a service in order, so does one that ended in time.
		const slow = Math.max(...plan.latencies) + 6 * SECOND;
		if (this.fault === 'none' && this.faultUntil < this.begun + limit - 25 * SECOND)
			expect(ended.at).toBeGreaterThanOrEqual((n8n.endedAt as number) - slow);
	}

	/** Callbacks came to the other process. */
	wasElsewhere = false;

	/** A run that ends with an error names all tasks that it knows. */
	private checkError(): void {
		if (this.wasKilled) return;
		const { message, description } = this.n8n.error as Error & { description?: string };
		for (const [item, taskIds] of this.created)
			if (this.plan.creations[item] === 'taken')
				for (const taskId of taskIds) expect(`${message} ${description}`).toContain(taskId);
	}
}

const indexOf = (taskId: string): number => Number(taskId.replace('task-', ''));

/** Something that happens in the world. */
type Event = (world: World) => void | Promise<void>;

const someTask = fc.nat({ max: 3 });
const someProcess = fc.nat({ max: 1 });

const pickTask = ({ taskIds }: World, index: number): string | undefined =>
	taskIds[index % Math.max(1, taskIds.length)];

function end(world: World, index: number, how: End): void {
	const taskId = pickTask(world, index);
	if (taskId !== undefined && !world.ends.has(taskId))
		world.ends.set(taskId, { end: how, at: Date.now() });
}

function callBack(world: World, index: number, process: number, copies: number): void {
	const taskId = pickTask(world, index);
	if (taskId === undefined) return;
	if (process !== 0) world.wasElsewhere = true;
	const hasEnded = world.ends.has(taskId);
	for (let copy = 0; copy < copies; copy++)
		void world.n8n.callBack(taskId, process).then(({ status }) => {
			if (status === 200 && hasEnded && !world.accepted.has(taskId))
				world.accepted.set(taskId, Date.now());
		});
}

const someEnd = fc.constantFrom(...(Object.keys(ENDS) as End[]));
const someCopies = fc.constantFrom(1, 1, 2, 3);

/** Events of this weight that do this with such values, and are shown by name and values. */
const event = <Values extends unknown[]>(
	weight: number,
	name: string,
	values: fc.Arbitrary<Values>,
	act: (world: World, ...values: Values) => void | Promise<void>,
) => ({
	weight,
	arbitrary: values.map(
		(given): Event =>
			Object.assign(async (world: World) => await act(world, ...given), {
				toString: () => `${name}(${given.join(', ')})`,
			}),
	),
});
const always = fc.constant<[]>([]);
const someTime = fc.constantFrom(10, 400, 2_000, 6_000, 31_000, 95_000, 400_000);

/** What is rare in life is rare here. */
const someEvent = fc.oneof(
	event(2, 'end', fc.tuple(someTask, someEnd), end),
	event(
		6,
		'report',
		fc.tuple(someTask, someEnd, someProcess, someCopies),
		(world, index, how, process, copies) => {
			end(world, index, how);
			callBack(world, index, process, copies);
		},
	),
	event(2, 'callBack', fc.tuple(someTask, someProcess, someCopies), callBack),
	event(3, 'fault', fc.tuple(fc.constantFrom(...FAULTS)), (world, fault) => world.setFault(fault)),
	event(2, 'recovery', always, (world) => world.setFault('none')),
	event(6, 'advance', fc.tuple(someTime), async (_, time) => await pass(time)),
	event(1, 'kill', fc.tuple(someProcess), (world, process) => {
		world.wasKilled = true;
		world.n8n.kill(process);
	}),
	event(1, 'stop', always, (world) => {
		world.wasStopped = true;
		world.n8n.stop();
	}),
);

const secret = fc.constantFrom(...SECRETS.all);
/** An object of some of these parts. */
const someOf = (parts: Record<string, fc.Arbitrary<unknown>>) =>
	fc.record(parts, { requiredKeys: [] });

/** Any JSON, or an answer with anything in place of its parts, secrets too. */
const someJunk = fc.oneof(
	fc.json(),
	someOf({
		code: fc.oneof(fc.constantFrom(200, 408, 501, '200'), fc.jsonValue()),
		msg: fc.oneof(secret, fc.jsonValue()),
		data: fc.oneof(
			fc.jsonValue(),
			someOf({
				taskId: fc.jsonValue(),
				state: fc.oneof(fc.constantFrom('generating', 'waiting'), secret, fc.jsonValue()),
				resultJson: fc.jsonValue(),
				response: fc.jsonValue(),
				failMsg: secret,
				param: secret,
			}),
		),
	}).map((body) => JSON.stringify(body)),
);

const plans = fc.record<Plan>({
	count: fc.integer({ min: 1, max: 4 }),
	creations: fc.array(
		fc.oneof(
			{ weight: 24, arbitrary: fc.constant('taken' as const) },
			fc.constantFrom('refused' as const, 'lost' as const),
		),
		{ minLength: 4, maxLength: 4 },
	),
	tries: fc.integer({ min: 1, max: 2 }),
	onError: fc.boolean(),
	waitFor: fc.constantFrom('automatic', 'callback', 'callback', 'polling'),
	limit: fc.constantFrom(3 * SECOND, MINUTE, 10 * MINUTE),
	timeout: fc.constantFrom(Infinity, Infinity, 30 * SECOND, 2 * MINUTE),
	parkingFails: fc.constantFrom(false, false, false, true),
	downloads: fc.boolean(),
	latencies: fc.array(fc.constantFrom(0, 20, 700, 3_000), { minLength: 1, maxLength: 4 }),
	looksTo: someProcess,
	junk: fc.array(fc.tuple(fc.constantFrom(200, 200, 404, 500), someJunk), {
		minLength: 1,
		maxLength: 3,
	}),
	storeFailures: fc.constantFrom(0, 0, 0, 0, 1),
	lead: fc.constantFrom(0, 15_000, 15_000, 15_000),
});

/** Lets a run go through these events, and then to its end. */
async function live(plan: Plan, happens: Event[]): Promise<void> {
	jest.useFakeTimers({ now: 1e12 });
	const world = new World(plan);
	jest.spyOn(Math, 'random').mockReturnValue(0.5);
	jest.spyOn(globalThis, 'fetch').mockImplementation(async (_url, init) => {
		const headers = Object.fromEntries(new Headers(init?.headers));
		const body = JSON.parse(init?.body as string) as IDataObject;
		const { status, answer } = await world.n8n.deliver(body, headers, plan.looksTo);
		return { status, json: async () => answer } as Response;
	});
	void world.n8n.run(plan.tries);
	await pass(Math.min(plan.lead, plan.limit / 2));
	for (const event of happens) await event(world);
	await world.finish();
	world.check();
}

afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

const plan: Plan = {
	count: 1,
	creations: ['taken', 'taken', 'taken', 'taken'],
	tries: 1,
	onError: false,
	waitFor: 'callback',
	limit: 3 * SECOND,
	timeout: Infinity,
	parkingFails: false,
	downloads: false,
	latencies: [0],
	looksTo: 0,
	junk: [],
	storeFailures: 0,
	lead: 15_000,
};

// What the property below has found.
it.each<[string, Partial<Plan>, Event[]]>([
	[
		'an answer to the last look that takes seconds',
		{ count: 4, waitFor: 'polling', limit: MINUTE, latencies: [0, 3_000, 0] },
		[async () => await pass(31_000), (world) => end(world, 1, 'success')],
	],
	[
		"an answer to the last look that takes seconds, before n8n's time-out",
		{ waitFor: 'polling', limit: 10 * MINUTE, timeout: 2 * MINUTE, latencies: [3_000], lead: 0 },
		[async () => await pass(95_000), (world) => end(world, 0, 'success')],
	],
	[
		'two copies of a callback at the limit, with details that are garbled',
		{ latencies: [700] },
		[
			async () => await pass(400),
			(world) => world.setFault('garbled'),
			(world) => end(world, 0, 'success'),
			(world) => callBack(world, 0, 0, 2),
		],
	],
	[
		'an n8n that could not store what came after its sender was answered',
		{ downloads: true, latencies: [0, 3_000], storeFailures: 1, lead: 0 },
		[(world) => end(world, 0, 'two files, one dead')],
	],
	[
		'details that hang at the limit, and an n8n that could not store what came of it',
		{ count: 2, storeFailures: 1, lead: 0 },
		[
			(world) => end(world, 0, 'success'),
			(world) => callBack(world, 0, 0, 1),
			async () => await pass(10),
			(world) => world.setFault('hangs'),
		],
	],
	[
		'answers that come while files are awaited after the limit',
		{ count: 4, waitFor: 'polling', downloads: true, latencies: [3_000, 0, 0], lead: 0 },
		[(world) => end(world, 0, 'two files, one dead'), (world) => end(world, 2, 'success')],
	],
])('brings every paid task out with %s', async (_, more, happens) => {
	await live({ ...plan, ...more }, happens);
});

it('brings every paid task out once, with the truth about it, in any order of events', async () => {
	await fc.assert(
		fc.asyncProperty(plans, fc.array(someEvent, { maxLength: 16, size: '+1' }), live),
		{
			numRuns: Number(process.env.MODEL_RUNS ?? 2_000),
			// A change must fail by itself there, not by chance. Elsewhere each run has new orders.
			...(process.env.CI && { seed: 24 }),
		},
	);
});
