import type { IDataObject } from 'n8n-workflow';
import {
	REMEMBERED_EVENTS,
	RememberedEvents,
} from '../../nodes/MediaGeneration/trigger/deduplicate';

let triggers = 0;

/** Copies data as n8n does for the next process. */
const save = (staticData: object): IDataObject => JSON.parse(JSON.stringify(staticData));

/** Loads the module anew, for another process or the one after a restart. */
function loadAnew(): typeof RememberedEvents {
	let fresh: { RememberedEvents?: typeof RememberedEvents } = {};
	jest.isolateModules(() => {
		fresh = jest.requireActual('../../nodes/MediaGeneration/trigger/deduplicate');
	});
	return fresh.RememberedEvents as typeof RememberedEvents;
}

/** The events of a trigger at a time, in this process, and in another that has what n8n saved. */
function newTrigger(seconds?: number) {
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

describe('RememberedEvents', () => {
	it('remembers across a restart what callbacks at the same time added, each to the data before', () => {
		const { here, elsewhere } = newTrigger();
		const staticData = {};
		const [one, other] = [here(1000), here(1000, staticData)];
		one.add('a');
		other.add('b');
		expect(listKnown(elsewhere(1010, save(staticData)))).toEqual(['a', 'b']);
		expect(listKnown(newTrigger().here(1010))).toEqual([]);
	});

	it('takes over what another process saved, and keeps its own', () => {
		const { here, elsewhere } = newTrigger();
		const first = {};
		here(1000, first).add('a');
		const theirs = save(first);
		elsewhere(1001, theirs).add('b');
		const ours = save(theirs);
		here(1002, ours).add('c');
		expect(listKnown(elsewhere(1003, save(ours)))).toEqual(['a', 'b', 'c']);
	});

	it('forgets what is older than it must be', () => {
		const { here, elsewhere } = newTrigger(60);
		const staticData = {};
		here(1000).add('old');
		expect(here(1060).has('old')).toBe(true);
		expect(here(1061).has('old')).toBe(false);
		here(1061, staticData).add('new');
		expect(elsewhere(1061, save(staticData)).has('old')).toBe(false);
		expect((save(staticData).events as IDataObject).events).toHaveLength(19);
	});

	it('keeps its newest time of an event, also when another process emitted it earlier', () => {
		const { here, elsewhere } = newTrigger(60);
		const theirs = {};
		elsewhere(1000, theirs).add('a');
		here(1000).add('a');
		here(1050).add('a');
		expect(here(1100).has('a')).toBe(true);
		expect(here(1100, save(theirs)).has('a')).toBe(true);
	});

	it('keeps a bounded number, the newest, and little of each, however long its ID', () => {
		const { here } = newTrigger();
		const staticData = {};
		const remembered = here(1000, staticData);
		const event = (index: number) => `${'x'.repeat(250)}-${index}:taskCompleted`;
		for (let index = 0; index < REMEMBERED_EVENTS + 5; index++) remembered.add(event(index));
		const kept = [4, 5, REMEMBERED_EVENTS + 4].map((index) => remembered.has(event(index)));
		expect(kept).toEqual([false, true, true]);
		expect(JSON.stringify(staticData).length).toBeLessThan(20 * REMEMBERED_EVENTS);
	});

	it('forgets all when the trigger is deactivated, and learns nothing back that it saved itself', () => {
		const { here } = newTrigger();
		const staticData = {};
		here(1000, staticData).add('a');
		const before = save(staticData);
		here(1000, staticData).forget();
		expect(staticData).toEqual({});
		expect(here(1000, staticData).has('a')).toBe(false);
		expect(here(1000, before).has('a')).toBe(false);
	});

	it('forgets nothing when n8n ends listening for a test event', () => {
		const { here } = newTrigger();
		here(1000).add('a');
		here(1000).forget();
		expect(here(1000).has('a')).toBe(true);
	});

	it.each([undefined, null, 7, {}, [], 'short', { writer: 'x' }, { writer: 'x', events: 5 }])(
		'starts empty where n8n has %j',
		(events) => {
			const staticData = { events } as IDataObject;
			expect(newTrigger().here(1000, staticData).has('a')).toBe(false);
		},
	);
});
