import fc from 'fast-check';
import { GOOD, type Fate, type Fault } from './service.cts';
import type { Accident, Choices, Plan } from './world.cts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Makes objects of a type. fast-check's own types lose that a field may be undefined. */
const makeRecords = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
	fc.record(model) as unknown as fc.Arbitrary<T>;

/** Makes lists that are mostly empty. */
const makeMostlyEmpty = <T,>(times: number, some: fc.Arbitrary<T[]>): fc.Arbitrary<T[]> =>
	fc.oneof({ weight: times, arbitrary: fc.constant<T[]>([]) }, some);

/** Picks a value, each as often as its weight says. Rare events are rare here too, but not too rare. */
const pick = <T,>(...choices: Array<[weight: number, value: T]>): fc.Arbitrary<T> =>
	fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));

const fates: fc.Arbitrary<Fate> = makeRecords<Fate>({
	creation: pick<Fate['creation']>(
		[24, 'ok'],
		...(['lost', 'reset', 'malformed', 'rejected', 'full', 'noCredits'] as const).map(
			(one): [1, typeof one] => [1, one],
		),
	),
	latency: pick([6, 0], [1, 700], [1, 5 * SECOND], [1, MINUTE]),
	end: pick<Fate['end']>(
		[4, 'completed'],
		[3, 'failed'],
		[1, 'expired'],
		[1, 'silent'],
		[1, 'never'],
	),
	after: fc.constantFrom(0, 400, 5 * SECOND, 5 * SECOND, 20 * SECOND, 40 * SECOND, 150 * SECOND),
	progress: pick<string | undefined>([6, undefined], [1, 'text'], [1, 'first']),
	knownAfter: pick([8, 0], [1, 3 * SECOND], [1, 20 * SECOND]),
	callbacks: fc.oneof(
		{ weight: 2, arbitrary: fc.constant<number[]>([0]) },
		fc.array(fc.constantFrom(-3 * SECOND, -300, 0, 0, 20, 9 * SECOND, 5 * MINUTE), {
			maxLength: 2,
		}),
	),
	key: pick<string | undefined>([12, undefined], [1, 'a wrong key']),
	price: pick([4, 1], [1, 3], [1, 8]),
});

const onError = fc.constantFrom<Choices['onError']>(
	...(['stopWorkflow', 'stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const),
);

const fault: fc.Arbitrary<Fault> = fc
	.record({
		how: fc.constantFrom<Fault['how']>('500', '429', 'reset', 'hangs', 'malformed'),
		from: fc.constantFrom(0, 4 * SECOND, 25 * SECOND, 50 * SECOND),
		length: fc.constantFrom(4 * SECOND, 40 * SECOND, 15 * MINUTE),
	})
	.map(({ how, from, length }) => ({ how, from, until: from + length }));

const accident: fc.Arbitrary<Accident> = makeRecords<Accident>({
	when: fc.oneof(
		fc.record({ atRequest: fc.nat({ max: 60 }) }),
		fc.record({ after: fc.integer({ min: 1, max: 12 }).map((x) => Math.round(1.8 ** x * 100)) }),
	),
	what: fc.constantFrom<Accident['what']>('kill', 'kill', 'kill 0', 'kill 1', 'stop'),
});

const makeSteps = (fate = fates, { most = 3 } = {}) =>
	fc.array(
		fc.record({
			node: fc.constantFrom('Film', 'Film', 'Film', 'Film', 'Sound', 'Wait'),
			items: fc.array(fc.array(fate, { minLength: 1, maxLength: 3 }), {
				minLength: 1,
				maxLength: 3,
			}),
		}),
		{ minLength: 1, maxLength: most },
	);

/** Any world, in which anything may happen. */
export const plans: fc.Arbitrary<Plan> = makeRecords<Plan>({
	steps: fc.oneof({ weight: 3, arbitrary: makeSteps(fates, { most: 1 }) }, makeSteps()),
	onError,
	maxTries: fc.constantFrom(0, 0, 2, 3, 5),
	howToWait: fc.constantFrom('automatic', 'callback', 'callback', 'polling'),
	limit: fc.constantFrom(3 * SECOND, MINUTE, MINUTE, 10 * MINUTE),
	failedTasks: fc.constantFrom('error', 'error', 'output'),
	downloads: fc.boolean(),
	maxTasks: pick<number | undefined>([5, undefined], [1, 3], [1, 4]),
	maxCredits: pick<number | undefined>([4, undefined], [1, 1], [1, 6], [1, 20]),
	costs: fc.constantFrom('atOnce', 'atOnce', 'atEnd'),
	concurrency: fc.constantFrom(1, 1, 4),
	responseMode: pick<Plan['responseMode']>([7, 'onReceived'], [1, 'lastNode']),
	trackerDelay: fc.nat({ max: 59 }).map((seconds) => seconds * SECOND),
	slotWaits: fc.oneof(
		{ weight: 2, arbitrary: fc.constant<number[]>([0]) },
		fc.array(fc.constantFrom(0, 4 * SECOND, 40 * SECOND, 20 * MINUTE), {
			minLength: 1,
			maxLength: 3,
		}),
	),
	runsIn: pick([5, [0]], [1, [1]], [1, [0, 1]], [1, [0, 0, 1]]),
	callbacksTo: pick([5, [0]], [1, [1]], [1, [0, 1]], [1, [1, 1, 0]]),
	sleepFails: pick([9, false], [1, true]),
	varies: pick([4, false], [1, true]),
	skew: pick([8, 0], [1, 9 * SECOND], [1, -9 * SECOND]),
	storeFailures: pick([7, 0], [1, 1]),
	runsTwice: pick([7, false], [1, true]),
	timeout: pick([9, Infinity], [1, 20 * SECOND], [1, 70 * SECOND]),
	isOld: pick([2, false], [1, true]),
	resumeUrl: pick<Plan['resumeUrl']>([7, 'here'], [1, 'login'], [1, 'hairpin']),
	hasKey: pick([4, true], [1, false]),
	faults: makeMostlyEmpty(4, fc.array(fault, { minLength: 1, maxLength: 2 })),
	latencies: fc.array(fc.constantFrom(0, 20, 20, 700, 3 * SECOND), { minLength: 1, maxLength: 4 }),
	accidents: makeMostlyEmpty(2, fc.array(accident, { minLength: 1, maxLength: 2 })),
	retries: fc.array(
		fc.constantFrom<Partial<Choices>>(
			...[{}, {}, { maxTries: 0 }, { maxTries: 2 }, { onError: 'continueRegularOutput' as const }],
			...[{ howToWait: 'polling' as const }, { failedTasks: 'output' as const }],
		),
		{ maxLength: 3 },
	),
	luck: fc.constantFrom(0.5, 0, 0.99),
});

/** A world in which all goes well. */
export const CALM: Plan = {
	steps: [{ node: 'Film', items: [[GOOD]] }],
	onError: 'stopWorkflow',
	maxTries: 0,
	howToWait: 'callback',
	limit: MINUTE,
	failedTasks: 'error',
	downloads: false,
	maxTasks: undefined,
	maxCredits: undefined,
	costs: 'atOnce',
	concurrency: 1,
	responseMode: 'onReceived',
	trackerDelay: 0,
	slotWaits: [0],
	runsIn: [0],
	callbacksTo: [0],
	sleepFails: false,
	varies: false,
	skew: 0,
	storeFailures: 0,
	runsTwice: false,
	timeout: Infinity,
	isOld: false,
	resumeUrl: 'here',
	hasKey: true,
	faults: [],
	latencies: [20],
	accidents: [],
	retries: [],
	luck: 0.5,
};

/** Fates of tasks that end long before the limit, or never. */
const calmFates: fc.Arbitrary<Fate> = makeRecords<Fate>({
	...Object.fromEntries(Object.entries(GOOD).map(([key, value]) => [key, fc.constant(value)])),
	end: fc.constantFrom<Fate['end']>(
		'completed',
		'completed',
		'failed',
		'failed',
		'expired',
		'never',
	),
	after: fc.constantFrom(400, 5 * SECOND, 20 * SECOND),
	price: fc.constantFrom(1, 1, 3, 8),
	// A task that ends at once may end before n8n can take a callback.
	callbacks: pick<number[]>([3, [0]], [1, []]),
} as { [K in keyof Fate]: fc.Arbitrary<Fate[K]> });

/** Worlds in which nothing is lost, so that asleep and awake the same happens. */
export const calmPlans: fc.Arbitrary<Plan> = fc
	.record({
		steps: makeSteps(calmFates, { most: 2 }),
		onError,
		maxTries: fc.constantFrom(0, 0, 2, 3, 5),
		failedTasks: fc.constantFrom<Choices['failedTasks']>('error', 'error', 'output'),
		downloads: fc.boolean(),
		maxTasks: pick<number | undefined>([5, undefined], [1, 3]),
		// No limit in credits: n8n gives a woken run new tries, in which a task may fit that didn't before.
		costs: fc.constantFrom<Plan['costs']>('atOnce', 'atEnd'),
		retries: fc.array(
			fc.constantFrom<Partial<Choices>>({}, { maxTries: 0 }, { onError: 'continueRegularOutput' }),
			{ maxLength: 2 },
		),
		concurrency: fc.constantFrom(1, 4),
	})
	.map((changes) => ({ ...CALM, ...changes, limit: 2 * MINUTE }));
