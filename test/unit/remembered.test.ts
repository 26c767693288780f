import type { IDataObject } from 'n8n-workflow';
import {
	REMEMBERED_EVENTS,
	RememberedEvents,
} from '../../nodes/MediaGeneration/trigger/deduplicate';

let trigger = 0;
const newTrigger = () => `workflow:node-${trigger++}`;

/** What n8n gives the next process: what it saved. */
const saved = (staticData: object) => JSON.parse(JSON.stringify(staticData));

/** As after a restart of n8n: a process that has nothing but what n8n saved. */
function restarted(): typeof RememberedEvents {
	let fresh: typeof RememberedEvents | undefined;
	jest.isolateModules(() => {
		fresh = jest.requireActual<{ RememberedEvents: typeof RememberedEvents }>(
			'../../nodes/MediaGeneration/trigger/deduplicate',
		).RememberedEvents;
	});
	return fresh as typeof RememberedEvents;
}

describe('RememberedEvents', () => {
	it('remembers across a restart what n8n saved', () => {
		const name = newTrigger();
		const staticData = {};
		new RememberedEvents(name, staticData, 1000).add('task:taskCompleted');
		const later = new (restarted())(name, saved(staticData), 1010);
		expect(later.has('task:taskCompleted')).toBe(true);
		expect(later.has('task:taskFailed')).toBe(false);
	});

	it('remembers what this process added before n8n saved it', () => {
		const name = newTrigger();
		new RememberedEvents(name, {}, 1000).add('task:taskCompleted');
		expect(new RememberedEvents(name, {}, 1000).has('task:taskCompleted')).toBe(true);
		expect(new RememberedEvents(newTrigger(), {}, 1000).has('task:taskCompleted')).toBe(false);
	});

	it('is saved whole, though callbacks at the same time each read the data before', () => {
		const name = newTrigger();
		const [first, second] = [{}, {}];
		const one = new RememberedEvents(name, first, 1000);
		const other = new RememberedEvents(name, second, 1000);
		one.add('a:taskCompleted');
		other.add('b:taskCompleted');
		saved(first);
		const later = new (restarted())(name, saved(second), 1000);
		expect(later.has('a:taskCompleted')).toBe(true);
		expect(later.has('b:taskCompleted')).toBe(true);
	});

	it('takes over what another process saved, and keeps its own', () => {
		const name = newTrigger();
		const staticData = {};
		new RememberedEvents(name, staticData, 1000).add('a:taskCompleted');
		const elsewhere = saved(staticData);
		new (restarted())(name, elsewhere, 1001).add('b:taskCompleted');
		const back = saved(elsewhere);
		const here = new RememberedEvents(name, back, 1002);
		here.add('c:taskCompleted');
		const later = new (restarted())(name, saved(back), 1003);
		for (const task of ['a', 'b', 'c']) expect(later.has(`${task}:taskCompleted`)).toBe(true);
	});

	it('learns nothing back from what it saved itself, and has forgotten since', () => {
		const name = newTrigger();
		const staticData: IDataObject = {};
		const remembered = new RememberedEvents(name, staticData, 1000);
		remembered.add('a');
		const before = saved(staticData);
		remembered.forget();
		expect(new RememberedEvents(name, before, 1000).has('a')).toBe(false);
	});

	it('keeps its own time of an event that another process emitted earlier', () => {
		const name = newTrigger();
		const elsewhere = {};
		new (restarted())(name, elsewhere, 1000, 60).add('a');
		new RememberedEvents(name, {}, 1050, 60).add('a');
		expect(new RememberedEvents(name, saved(elsewhere), 1100, 60).has('a')).toBe(true);
	});

	it('forgets what is older than it must be', () => {
		const name = newTrigger();
		const staticData = {};
		new RememberedEvents(name, staticData, 1000, 60).add('old');
		expect(new RememberedEvents(name, {}, 1060, 60).has('old')).toBe(true);
		expect(new RememberedEvents(name, {}, 1061, 60).has('old')).toBe(false);
		new RememberedEvents(name, staticData, 1061, 60).add('new');
		expect(new (restarted())(name, saved(staticData), 1061, 60).has('old')).toBe(false);
		expect(saved(staticData).events.events).toHaveLength(19);
	});

	it('keeps a bounded number, the newest, and little of each, however long its id', () => {
		const name = newTrigger();
		const staticData = {};
		const remembered = new RememberedEvents(name, staticData, 1000);
		const event = (index: number) => `${'x'.repeat(250)}-${index}:taskCompleted`;
		for (let index = 0; index < REMEMBERED_EVENTS + 5; index++) {
			remembered.add(event(index));
			saved(staticData);
		}
		expect(remembered.has(event(4))).toBe(false);
		expect(remembered.has(event(5))).toBe(true);
		expect(remembered.has(event(REMEMBERED_EVENTS + 4))).toBe(true);
		expect(JSON.stringify(staticData).length).toBeLessThan(20 * REMEMBERED_EVENTS);
	});

	it('forgets all when the trigger is deactivated', () => {
		const name = newTrigger();
		const staticData = {};
		const remembered = new RememberedEvents(name, staticData, 1000);
		remembered.add('task:taskCompleted');
		remembered.forget();
		expect(new RememberedEvents(name, staticData, 1000).has('task:taskCompleted')).toBe(false);
		expect(staticData).toEqual({});
	});

	it('forgets nothing when n8n ends listening for a test event', () => {
		const name = newTrigger();
		new RememberedEvents(name, {}, 1000).add('task:taskCompleted');
		new RememberedEvents(name, {}, 1000).forget();
		expect(new RememberedEvents(name, {}, 1000).has('task:taskCompleted')).toBe(true);
	});

	it.each([undefined, null, 7, {}, [], 'short', { writer: 'x' }, { writer: 'x', events: 5 }])(
		'starts empty where n8n has %j',
		(events) => {
			const remembered = new RememberedEvents(newTrigger(), { events } as IDataObject, 1000);
			expect(remembered.has('task:taskCompleted')).toBe(false);
		},
	);

	it('keeps the newest time of an event that comes again', () => {
		const name = newTrigger();
		new RememberedEvents(name, {}, 1000, 60).add('a');
		new RememberedEvents(name, {}, 1050, 60).add('a');
		expect(new RememberedEvents(name, {}, 1100, 60).has('a')).toBe(true);
	});
});
