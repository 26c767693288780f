import { setImmediate as endJob } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { TaskEvents } from '../../../nodes/MediaGeneration/trigger/events';

let triggers = 0;

/** The events of one trigger, with what n8n has saved for it. */
function newTrigger() {
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
			new Events(buildContext(staticData), taskId),
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
	// Whoever writes them otherwise starts workflows again that have run.
	expect(other).toEqual({ events: '4cVH2uvPE2pqpsMO3vN0VR RlUyQv9Zfx3ws7qluSSEzb' });
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

it('a response holds its task as long as n8n can answer it, and no longer', async () => {
	v8.setFlagsFromString('--expose-gc');
	const collectGarbage = vm.runInNewContext('gc') as () => void;
	const { of } = newTrigger();
	expect(await of('task').begin(0)).toBeUndefined();
	await endJob();
	expect(await of('task').begin(0)).toBe('underway');
	await endJob();
	collectGarbage();
	expect(await of('task').begin(0)).toBeUndefined();
});
