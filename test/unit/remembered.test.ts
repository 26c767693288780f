import {
	REMEMBERED_EVENTS,
	RememberedEvents,
} from '../../nodes/MediaGeneration/trigger/remembered';

let trigger = 0;
const newTrigger = () => `workflow:node-${trigger++}`;

describe('RememberedEvents', () => {
	it('remembers what was added, in what n8n keeps', () => {
		const staticData = {};
		new RememberedEvents(newTrigger(), staticData, 1000).add('task:taskCompleted');
		const later = new RememberedEvents(newTrigger(), staticData, 1010);
		expect(later.has('task:taskCompleted')).toBe(true);
		expect(later.has('task:taskFailed')).toBe(false);
	});

	it('remembers what this process added before n8n saved it', () => {
		const name = newTrigger();
		new RememberedEvents(name, {}, 1000).add('task:taskCompleted');
		expect(new RememberedEvents(name, {}, 1000).has('task:taskCompleted')).toBe(true);
		expect(new RememberedEvents(newTrigger(), {}, 1000).has('task:taskCompleted')).toBe(false);
	});

	it('forgets what is older than it must be', () => {
		const name = newTrigger();
		const staticData: { events?: object } = {};
		new RememberedEvents(name, staticData, 1000, 60).add('old');
		expect(new RememberedEvents(name, staticData, 1060, 60).has('old')).toBe(true);
		expect(new RememberedEvents(name, staticData, 1061, 60).has('old')).toBe(false);
		new RememberedEvents(name, staticData, 1061, 60).add('new');
		expect(staticData.events).toEqual({ new: 1061 });
	});

	it('keeps a bounded number, the newest', () => {
		const name = newTrigger();
		const staticData: { events?: object } = {};
		const remembered = new RememberedEvents(name, staticData, 1000);
		for (let index = 0; index < REMEMBERED_EVENTS + 5; index++)
			remembered.add(`task-${index}:done`);
		expect(Object.keys(staticData.events ?? {})).toHaveLength(REMEMBERED_EVENTS);
		expect(remembered.has('task-0:done')).toBe(false);
		expect(remembered.has(`task-${REMEMBERED_EVENTS + 4}:done`)).toBe(true);
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
});
