import type { IDataObject } from 'n8n-workflow';
import {
	Claim,
	REMEMBERED_EVENTS,
	RememberedEvents,
} from '../../nodes/MediaGeneration/trigger/deduplicate';
import { makeResponse } from './webhook.ts';

let triggers = 0;

/** A trigger, whose callbacks claim events. A callback waits for this number of milliseconds. */
function newTrigger() {
	const name = `workflow:claim-${triggers++}`;
	return (event: string, patience = 5_000, response = makeResponse()) => {
		const claim = new Claim(name, event, new RememberedEvents(name, {}, 1000));
		const begun = Date.now();
		const taken = claim
			.take(response, begun + patience)
			.then((outcome) => [outcome, Date.now() - begun]);
		return { claim, response, taken };
	};
}

type Callback = ReturnType<ReturnType<typeof newTrigger>>;

/** Lets the time pass, and returns what became of each claim, and after how many milliseconds. */
async function settle(...callbacks: Callback[]) {
	await jest.advanceTimersByTimeAsync(5_000);
	return await Promise.all(callbacks.map(async ({ taken }) => await taken));
}

/** Copies data as n8n does for the next process. */
const save = (staticData: object) => JSON.parse(JSON.stringify(staticData)) as IDataObject;

/** Loads the module anew, for another process or the one after a restart. */
function loadAnew(): typeof RememberedEvents {
	let fresh: { RememberedEvents?: typeof RememberedEvents } = {};
	jest.isolateModules(() => {
		fresh = jest.requireActual('../../nodes/MediaGeneration/trigger/deduplicate');
	});
	return fresh.RememberedEvents as typeof RememberedEvents;
}

/** The events of a trigger at a time, in this process, and in another that has what n8n saved. */
function newMemory(seconds?: number) {
	const name = `workflow:node-${triggers++}`;
	return {
		here: (now: number, staticData: IDataObject = {}) =>
			new RememberedEvents(name, staticData, now, seconds),
		elsewhere: (now: number, staticData: IDataObject) =>
			new (loadAnew())(name, staticData, now, seconds),
	};
}

const listKnown = (remembered: RememberedEvents) =>
	['a', 'b', 'c'].filter((event) => remembered.has(event));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('copies of a callback', () => {
	it('start one execution when n8n could not store the first', async () => {
		const claim = newTrigger();
		const [first, ...copies] = [claim('a'), claim('a'), claim('a')] as const;
		await first.taken;
		first.response.status(500).json({}).close();
		expect(await settle(first, ...copies)).toEqual([
			['taken', 0],
			['taken', 25],
			['underway', 5_000],
		]);
	});

	it.each<[string, (response: Callback['response']) => void]>([
		['whose sender hung up', (response) => response.close()],
		['that n8n has answered, though not as stored', (response) => response.json({}).close()],
	])('leave the event to a first one %s: n8n still works on it', async (_, end) => {
		const claim = newTrigger();
		const first = claim('a');
		await first.taken;
		end(first.response);
		expect(await settle(claim('a', 50))).toEqual([['underway', 50]]);
		first.claim.confirm();
		expect(await settle(claim('a'))).toEqual([['emitted', 0]]);
	});

	it.each([
		[59_999, 'underway'],
		[60_000, 'taken'],
	])('find the event, %d ms after a first one that n8n does not answer, %s', async (ms, taken) => {
		const claim = newTrigger();
		await claim('a', 0).taken;
		jest.advanceTimersByTime(ms);
		expect(await settle(claim('a', 0))).toEqual([[taken, 0]]);
	});
});

describe('an event', () => {
	it('waits for the answer to the one before, also when its execution is stored already', async () => {
		const claim = newTrigger();
		const before = claim('a');
		const second = claim('b');
		before.claim.confirm();
		setTimeout(() => before.response.json({}).close(), 20);
		expect(await settle(second)).toEqual([['taken', 20]]);
	});

	it.each<[string, (response: Callback['response']) => void]>([
		['is not answered', () => {}],
		['has hung up', (response) => response.close()],
	])('waits no longer than its sender for one that %s', async (_, end) => {
		const claim = newTrigger();
		end(claim('a').response);
		expect(await settle(claim('b', 100))).toEqual([['taken', 100]]);
	});

	it('does not wait for one whose sender had hung up before, nor for those of other triggers', async () => {
		newTrigger()('b');
		const claim = newTrigger();
		claim('a', 0, makeResponse().close()).claim.confirm();
		expect(await settle(claim('b'))).toEqual([['taken', 0]]);
	});
});

describe('RememberedEvents', () => {
	it('remembers across a restart what callbacks at the same time added, each to the data before', () => {
		const { here, elsewhere } = newMemory();
		const staticData = {};
		const [one, other] = [here(1000), here(1000, staticData)];
		one.add('a');
		other.add('b');
		expect(listKnown(elsewhere(1010, save(staticData)))).toEqual(['a', 'b']);
		expect(listKnown(newMemory().here(1010))).toEqual([]);
	});

	it('takes over what another process saved, and keeps its own', () => {
		const { here, elsewhere } = newMemory();
		const first = {};
		here(1000, first).add('a');
		const theirs = save(first);
		elsewhere(1001, theirs).add('b');
		const ours = save(theirs);
		here(1002, ours).add('c');
		expect(listKnown(elsewhere(1003, save(ours)))).toEqual(['a', 'b', 'c']);
	});

	it('forgets what is older than it must be', () => {
		const { here, elsewhere } = newMemory(60);
		const staticData = {};
		here(1000).add('old');
		expect(here(1060).has('old')).toBe(true);
		expect(here(1061).has('old')).toBe(false);
		here(1061, staticData).add('new');
		expect(elsewhere(1061, save(staticData)).has('old')).toBe(false);
		expect((save(staticData).events as IDataObject).events).toHaveLength(19);
	});

	it('keeps its newest time of an event, also when another process emitted it earlier', () => {
		const { here, elsewhere } = newMemory(60);
		const theirs = {};
		elsewhere(1000, theirs).add('a');
		here(1000).add('a');
		here(1050).add('a');
		expect(here(1100).has('a')).toBe(true);
		expect(here(1100, save(theirs)).has('a')).toBe(true);
	});

	it('keeps a bounded number, the newest, and little of each, however long its ID', () => {
		const { here } = newMemory();
		const staticData = {};
		const remembered = here(1000, staticData);
		const event = (index: number) => `${'x'.repeat(250)}-${index}:taskCompleted`;
		for (let index = 0; index < REMEMBERED_EVENTS + 5; index++) remembered.add(event(index));
		const kept = [4, 5, REMEMBERED_EVENTS + 4].map((index) => remembered.has(event(index)));
		expect(kept).toEqual([false, true, true]);
		expect(JSON.stringify(staticData).length).toBeLessThan(20 * REMEMBERED_EVENTS);
	});

	it('forgets all when the trigger is deactivated, and learns nothing back that it saved itself', () => {
		const { here } = newMemory();
		const staticData = {};
		here(1000, staticData).add('a');
		const before = save(staticData);
		here(1000, staticData).forget();
		expect(staticData).toEqual({});
		expect(here(1000, staticData).has('a')).toBe(false);
		expect(here(1000, before).has('a')).toBe(false);
	});

	it('forgets nothing when n8n ends listening for a test event', () => {
		const { here } = newMemory();
		here(1000).add('a');
		here(1000).forget();
		expect(here(1000).has('a')).toBe(true);
	});

	it.each([undefined, null, 7, {}, [], 'short', { writer: 'x' }, { writer: 'x', events: 5 }])(
		'starts empty where n8n has %j',
		(events) => {
			const staticData = { events } as IDataObject;
			expect(newMemory().here(1000, staticData).has('a')).toBe(false);
		},
	);
});
