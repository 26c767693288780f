import { setImmediate as endJob } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { IDataObject } from 'n8n-workflow';
import { beginCallback } from '../../../nodes/MediaGeneration/trigger/events';
import { makeResponse } from '../../world/response.cts';
import { buildWebhook } from '../n8n';

let triggers = 0;

/** A trigger, with what n8n has saved for it. n8n has answered its callbacks. */
function newTrigger() {
	const id = `events-${triggers++}`;
	const begin = async (
		taskId: string,
		staticData: IDataObject = {},
		{ begin: beginOne = beginCallback, isAnswered = true } = {},
	) => {
		const response = Object.assign(makeResponse(), { writableEnded: isAnswered });
		const more = { getWorkflowStaticData: () => staticData };
		const context = buildWebhook({ taskId, node: { id }, more }, response);
		const begun = await beginOne(context, taskId, 0);
		if ('remember' in begun) return begun;
		throw new Error('reason' in begun ? begun.reason : begun.ignored);
	};
	return { begin };
}

/** Copies data as n8n does for the next process. */
const copy = (staticData: IDataObject) => JSON.parse(JSON.stringify(staticData)) as IDataObject;

const DONE = 'taskCompleted';

jest.useFakeTimers();

it('events are known after a restart, also of callbacks at the same time, each with the data before', async () => {
	const { begin } = newTrigger();
	const [one, other] = [{}, {}];
	const [a, b] = [await begin('a', one), await begin('b', other)];
	a.remember(DONE);
	b.remember(DONE);
	// Whoever writes them otherwise starts workflows again that have run.
	expect(other).toEqual({ events: '4cVH2uvPE2pqpsMO3vN0VR RlUyQv9Zfx3ws7qluSSEzb' });
	let anew = beginCallback;
	jest.isolateModules(() => {
		const path = '../../../nodes/MediaGeneration/trigger/events';
		({ beginCallback: anew } = jest.requireActual(path));
	});
	const beginAnew = async (task: string) => await begin(task, copy(other), { begin: anew });
	for (const task of ['a', 'b']) await expect(beginAnew(task)).rejects.toThrow('duplicate');
	const { isKnown } = await beginAnew('c');
	expect([DONE, 'taskFailed'].map(isKnown)).toEqual([false, false]);
	await expect(newTrigger().begin('a')).resolves.toBeDefined();
});

it('a response holds its task as long as n8n can answer it, and no longer', async () => {
	v8.setFlagsFromString('--expose-gc');
	const collectGarbage = vm.runInNewContext('gc') as () => void;
	const { begin } = newTrigger();
	const beginHeld = async () => await begin('task', {}, { isAnswered: false });
	await expect(beginHeld()).resolves.toBeDefined();
	await endJob();
	await expect(beginHeld()).rejects.toThrow('underway');
	await endJob();
	collectGarbage();
	await expect(beginHeld()).resolves.toBeDefined();
});
