import { UserError } from 'n8n-workflow';
import type { ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import type { Ledger } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { buildRejection, WAIT, type RunSetup } from '../n8n';
import { listResults, send } from './sending';
import { useSteadyClock } from './steadyClock';

const TOO_MANY = 'The number of concurrent tasks has reached its limit';
const MINUTE = 60_000;

/** A service that takes a number of tasks at once, each of which ends after some seconds. */
class Service {
	/** When each creation was asked for, in seconds; those that made a task, by item. */
	readonly asked: number[] = [];
	readonly created = new Map<number, number>();
	private readonly begun = Date.now();

	constructor(
		private readonly most: number,
		private readonly seconds: number,
	) {}

	create(item: number) {
		const now = (Date.now() - this.begun) / 1000;
		this.asked.push(now);
		const underway = [...this.created.values()].filter((at) => now - at < this.seconds);
		if (underway.length >= this.most) return buildRejection(429, TOO_MANY);
		this.created.set(item, now);
		return `task-${item}`;
	}
}

type Wait = Pick<Ledger, 'settings' | 'waitBeganAt'>;

interface Creating extends RunSetup {
	/** What the run has of its wait; none: it doesn't wait. */
	wait?: Wait;
	accessToken?: string;
	options?: Record<string, unknown>;
	/** How long before the creations n8n called the node, in milliseconds. */
	before?: number;
}

let accounts = 0;

/** Begins to create this number of tasks. */
async function begin(service: Service, count: number, creating: Creating = {}) {
	const { wait, options, accessToken = `account ${accounts++}`, ...run } = creating;
	const items = Array.from({ length: count }, (_, index) => ({
		createTask: () => service.create(index),
		credentials: { accessToken },
		options,
	}));
	const done = await send(items, { goesOn: true, ledger: wait, ...run });
	if (wait) Object.assign(wait, { waitBeganAt: done.ledger.waitBeganAt });
	return listResults(done);
}

const pass = async (seconds: number) => await jest.advanceTimersByTimeAsync(seconds * 1000);

/** Returns what has come of creations by now. */
const settled = async <T>(creation: Promise<T>) =>
	await Promise.race([creation, Promise.reject(new Error('They still go on'))]);

/** Creates tasks, which takes an hour at most. */
async function create(...creating: Parameters<typeof begin>) {
	const creation = begin(...creating);
	await pass(3_600);
	return await settled(creation);
}

const openWait = (minutes: number): Wait => ({
	settings: { ...WAIT, waitLimit: minutes * MINUTE },
});

useSteadyClock();

it('a run whose own tasks fill the account creates all, in their places, as they end', async () => {
	const service = new Service(5, 90);
	const results = await create(service, 30, { wait: openWait(30) });
	expect(results).toEqual([...Array(30).keys()].map((item) => `task-${item}`));
	expect([...service.created.keys()]).toEqual([...Array(30).keys()]);
	// Each of six rounds of 90 seconds, and a pause of less than that behind each.
	expect(Math.max(...service.created.values())).toBeLessThan(6 * 150);
	// Five in vain at first, later one at a time.
	const rejected = service.asked.length - 30;
	expect(rejected).toBeLessThan(5 + 5 * 5);
});

it('asks with one request, after ten seconds, and then after longer pauses up to a minute', async () => {
	const service = new Service(0, 0);
	await create(service, 5, { wait: openWait(6) });
	const pauses = service.asked.map((at, order) => at - (service.asked[order - 1] ?? 0));
	expect(pauses).toEqual([0, 0, 0, 0, 0, 10, 15, 22.5, 33.75, 50.625, 60, 60, 60]);
});

it('items that could not be sent say how to go on', async () => {
	const results = await create(new Service(2, 9_999), 9, { wait: openWait(3) });
	expect(results.slice(0, 2)).toEqual(['task-0', 'task-1']);
	const errors = results.slice(2) as ServiceError[];
	for (const { message, description } of errors) {
		expect(message).toContain(`The service takes no more tasks at once (429: ${TOO_MANY})`);
		expect(description).toMatch(/Loop Over Items.*'Batch Size'.*'Limit Wait Time'/);
	}
	expect(errors[6]?.message).toContain('This item was not sent');
});

it.each<[string, Creating, last: number]>([
	['is five minutes where nobody waits for the tasks', {}, 251.875],
	[
		'begins for an agent with its call',
		{ wait: openWait(10), isTool: true, input: [{}], before: 8 * MINUTE },
		81.25,
	],
])('the time for trying again %s', async (_, creating, last) => {
	const service = new Service(0, 0);
	await create(service, 1, creating);
	expect(service.asked.at(-1)).toBe(last);
	if (creating.wait) expect(creating.wait.waitBeganAt).toBe(-8 * MINUTE);
});

it('the time for trying again is one for all accounts of a run', async () => {
	const service = new Service(0, 0);
	const items = ['one', 'other'].map((accessToken) => ({
		createTask: () => service.create(0),
		credentials: { accessToken },
		options: { concurrency: 1 },
	}));
	const sending = send(items, { goesOn: true, ledger: openWait(1) });
	await pass(3_600);
	const { errors } = await settled(sending);
	expect(errors.size).toBe(2);
	expect(service.asked.at(-1)).toBeLessThan(60);
});

it('the time for trying again is part of the wait for tasks', async () => {
	const wait = openWait(30);
	await create(new Service(1, 60), 3, { wait });
	expect(wait.waitBeganAt).toBe(0);
});

it("a run that tries again holds back neither the account's other runs nor their rate", async () => {
	const accessToken = 'shared';
	const options = { tasksPer10Seconds: 2, concurrency: 1 };
	const full = begin(new Service(0, 0), 1, { accessToken, options });
	await pass(1);
	const other = new Service(9, 9);
	const created = begin(other, 1, { accessToken, options });
	await pass(0.1);
	expect(await settled(created)).toEqual(['task-0']);
	await pass(3_600);
	expect(await settled(full)).toEqual([buildRejection(429, TOO_MANY)]);
});

it('of the items that wait when an item ends the run, no more than the next one is sent', async () => {
	const service = new Service(0, 0);
	const creation = begin(service, 5, { goesOn: false });
	await pass(1);
	const asked: number[] = [];
	service.create = (item) => (asked.push(item) === 1 ? buildRejection(422) : `task-${item}`);
	await pass(100);
	await creation;
	// The next one is sent before the run has seen the error.
	expect(asked).toHaveLength(2);
});

it('a rejection for all ends the wait of the others at once', async () => {
	const service = new Service(0, 0);
	const create = service.create.bind(service);
	service.create = (item) => (service.asked.length < 3 ? create(item) : buildRejection(402));
	const creation = begin(service, 3);
	await pass(13);
	expect(await settled(creation)).toEqual(Array(3).fill(expect.any(UserError)));
});
