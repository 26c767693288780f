import { setImmediate as endJob } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { REMEMBERED_EVENTS, TaskEvents } from '../../../nodes/MediaGeneration/trigger/events';

let triggers = 0;

/** The events of one trigger, with what n8n has saved for it. */
function newTrigger(toleranceSeconds = 300) {
	const id = `events-${triggers++}`;
	const saved: IDataObject = {};
	const buildContext = (staticData: IDataObject) =>
		({
			getNode: () => ({ id, name: 'Trigger' }),
			getWorkflow: () => ({ id: 'workflow' }),
			getWorkflowStaticData: () => staticData,
			getResponseObject: () => ({}),
		}) as unknown as IWebhookFunctions;
	return {
		saved,
		of: (taskId: string, staticData = saved, Events = TaskEvents) =>
			new Events(buildContext(staticData), taskId, toleranceSeconds),
	};
}

/** Copies data as n8n does for the next process. */
const copy = (staticData: IDataObject) => JSON.parse(JSON.stringify(staticData)) as IDataObject;

const DONE = 'taskCompleted';

jest.useFakeTimers();

it('events are known after a restart, also of callbacks at the same time, each with the data before', () => {
	const { of } = newTrigger();
	const [one, other] = [{}, {}];
	of('a', one).add(DONE);
	of('b', other).add(DONE);
	let anew = TaskEvents;
	jest.isolateModules(() => {
		const path = '../../../nodes/MediaGeneration/trigger/events';
		({ TaskEvents: anew } = jest.requireActual(path));
	});
	const known = ['a', 'b', 'c'].map((task) => of(task, copy(other), anew).has(DONE));
	expect(known).toEqual([true, true, false]);
	expect(of('a', copy(other), anew).has('taskFailed')).toBe(false);
	expect(newTrigger().of('a').has(DONE)).toBe(false);
});

it.each([
	[300, 3_600],
	[7_200, 14_400],
])('with a tolerance of %d s, events are remembered for %d s', (tolerance, seconds) => {
	jest.setSystemTime(Date.UTC(2025, 10, 20));
	const { of, saved } = newTrigger(tolerance);
	of('old').add(DONE);
	jest.advanceTimersByTime(seconds * 1_000);
	expect(of('old').has(DONE)).toBe(true);
	jest.advanceTimersByTime(1_000);
	expect(of('old').has(DONE)).toBe(false);
	of('new').add(DONE);
	expect((saved.events as string).split(' ')).toHaveLength(1);
});

/** What was saved for the events of two tasks. Every later version must read it. */
const SAVED = { events: 'ldBB-eOzFvMK:1763640000 jYIsFQO3VYz6:1763640000' };

it('events that were saved are known, and saved in that form again', () => {
	jest.setSystemTime(1_763_640_000_000);
	const { of } = newTrigger();
	expect(of('task-a', SAVED).has(DONE)).toBe(true);
	expect(of('task-b', SAVED).has('taskFailed')).toBe(true);
	expect(of('task-c', SAVED).has(DONE)).toBe(false);
	const other = newTrigger();
	other.of('task-a').add(DONE);
	other.of('task-b').add('taskFailed');
	expect(other.saved).toEqual(SAVED);
});

it('events count by their newest time, though n8n has saved an earlier one', () => {
	const { of, saved } = newTrigger();
	of('task').add(DONE);
	const early = copy(saved);
	jest.advanceTimersByTime(3_000_000);
	of('task').add(DONE);
	jest.advanceTimersByTime(3_000_000);
	expect(of('task', early).has(DONE)).toBe(true);
});

it('the newest events are remembered, and little of each, however long its ID', () => {
	const { of, saved } = newTrigger();
	const task = (index: number) => of(`${'x'.repeat(250)}-${index}`);
	for (let index = 0; index < REMEMBERED_EVENTS + 5; index++) task(index).add(DONE);
	const kept = [4, 5, REMEMBERED_EVENTS + 4].map((index) => task(index).has(DONE));
	expect(kept).toEqual([false, true, true]);
	expect((saved.events as string).length).toBeLessThan(30 * REMEMBERED_EVENTS);
});

it.each([undefined, null, 7, {}, '{"a":1}'])('there are no events where n8n has %j', (events) => {
	const { of } = newTrigger();
	for (const version of [undefined, 1]) expect(of('a', { version, events }).has(DONE)).toBe(false);
});

it('a response holds its task as long as n8n can answer it, and no longer', async () => {
	v8.setFlagsFromString('--expose-gc');
	const collectGarbage = vm.runInNewContext('gc') as () => void;
	const { of } = newTrigger();
	expect(await of('task').begin(0)).toBe(true);
	await endJob();
	expect(await of('task').begin(0)).toBe(false);
	await endJob();
	collectGarbage();
	expect(await of('task').begin(0)).toBe(true);
});
