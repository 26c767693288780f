import v8 from 'node:v8';
import vm from 'node:vm';
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
	return (event: string, patience = 500, response = makeResponse()) => {
		const claim = new Claim(name, event, new RememberedEvents(name, {}, 1000));
		const begun = Date.now();
		return { claim, response, begun, taken: claim.take(response, begun + patience) };
	};
}

type Callback = ReturnType<ReturnType<typeof newTrigger>>;

/** Lets five seconds pass, and returns after how many milliseconds a callback had its event. */
async function waitFor({ begun, taken }: Callback): Promise<number> {
	const waited = taken.then((outcome) => ({ outcome, milliseconds: Date.now() - begun }));
	await jest.advanceTimersByTimeAsync(5_000);
	const { outcome, milliseconds } = await waited;
	expect(outcome).toBe('taken');
	return milliseconds;
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

describe('copies of a callback', () => {
	it('start one execution when n8n could not store the first', async () => {
		const claim = newTrigger();
		const first = claim('a');
		expect(await first.taken).toBe('taken');
		const copies = [claim('a').taken, claim('a').taken];
		first.response.status(500).json({}).close();
		expect(await Promise.race(copies)).toBe('taken');
		expect((await Promise.all(copies)).sort()).toEqual(['taken', 'underway']);
	});

	it.each<[string, (response: Callback['response']) => void]>([
		['whose sender hung up', (response) => response.close()],
		['that n8n has answered, though not as stored', (response) => response.json({}).close()],
	])('leave the event to a first one %s: n8n still works on it', async (_, end) => {
		const claim = newTrigger();
		const first = claim('a');
		end(first.response);
		expect(await claim('a', 50).taken).toBe('underway');
		first.claim.confirm();
		expect(await claim('a').taken).toBe('emitted');
	});

	it.each([
		[59_999, 'underway'],
		[60_000, 'taken'],
	])('find the event, %d ms after a first one that n8n does not answer, %s', async (ms, taken) => {
		const claim = newTrigger();
		const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
		claim('a', 0);
		clock.mockReturnValue(Date.now() + ms);
		expect(await claim('a', 0).taken).toBe(taken);
		jest.restoreAllMocks();
	});
});

describe('an event', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	it('waits for the answer to the one before, also when its execution is stored already', async () => {
		const claim = newTrigger();
		const { claim: before, response } = claim('a');
		const second = claim('b', 5_000);
		before.confirm();
		setTimeout(() => response.json({}).close(), 20);
		expect(await waitFor(second)).toBe(20);
	});

	it.each<[string, (response: Callback['response']) => void]>([
		['is not answered', () => {}],
		['has hung up', (response) => response.close()],
	])('waits no longer than its sender for one that %s', async (_, end) => {
		const claim = newTrigger();
		end(claim('a').response);
		expect(await waitFor(claim('b', 100))).toBe(100);
	});

	it('does not wait for one whose sender had hung up before', async () => {
		const claim = newTrigger();
		claim('a', 0, makeResponse().close()).claim.confirm();
		expect(await waitFor(claim('b', 5_000))).toBe(0);
	});

	it('does not wait for those of other triggers', async () => {
		newTrigger()('a');
		expect(await waitFor(newTrigger()('a', 5_000))).toBe(0);
	});
});

describe('a response', () => {
	v8.setFlagsFromString('--expose-gc');
	const collectGarbage = vm.runInNewContext('gc') as () => void;

	type End = (callback: Callback) => void;

	/** Takes an event for a response, and keeps no reference to the response. */
	async function takeOne(end: End) {
		const callback = newTrigger()('a', 100);
		await callback.taken;
		end(callback);
		return new WeakRef(callback.response);
	}

	const ends: Record<string, End> = {
		'was answered': ({ claim, response }) => {
			claim.confirm();
			response.json({}).close();
		},
		'was refused by n8n': ({ response }) => response.status(500).json({}).close(),
		'was closed by its sender before n8n answered it': ({ claim, response }) => {
			response.close();
			claim.confirm();
			response.json({});
		},
		'was closed by its sender, and is never answered': ({ response }) => response.close(),
	};

	it.each(Object.entries(ends))('is not kept in memory that %s', async (_, end) => {
		const responses = await Promise.all(
			Array.from({ length: 200 }, async () => await takeOne(end)),
		);
		await new Promise((resolve) => setImmediate(resolve));
		collectGarbage();
		expect(responses.filter((response) => response.deref()).length).toBeLessThan(5);
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
