import { expect } from '@jest/globals';
import { chain, createAndWait, items, loop, prompts } from '../../dev/fixtures/workflows.cts';
import { evaluate } from '../../dev/n8n/inspect.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 1, callbackRetrySeconds: [0.5, 1, 2] },
	keeps: true,
});

const waitForTask = async (prompt: string) =>
	await poll(() => pair.listPrompts().includes(prompt), { what: `the task "${prompt}"` });

/** Sends a callback that says that the task goes on, or by default that it has ended. */
async function call(prompt: string, callbackType?: string) {
	const { taskId } = pair.findTask(prompt);
	const data = { task_id: taskId, callbackType };
	const body = callbackType && { code: 200, msg: 'success', taskId, data };
	const { status, body: answer } = await pair.service.callback(taskId, body ? { body } : {});
	return { status, ...(JSON.parse(answer) as object) };
}

const REFUSED = { status: 404, reason: 'taskNotInExecution' };

/** Its second round ends by a look, after half a minute; meanwhile the other test runs. */
let looped: Promise<string>;
const ENDLESS = 'first #neverEnds';
const LOOKED_FOR = 'second #noCallback';

beforeAll(() => {
	looped = startLoop();
	// It is awaited in its test.
	looped.catch(() => {});
});

async function startLoop() {
	const rounds = [
		{ prompt: ENDLESS, limit: 0.05 },
		{ prompt: LOOKED_FOR, limit: 2 },
	];
	const id = await pair.park(
		loop(items(rounds), createAndWait({ waitLimit: '={{ $json.limit }}' })),
	);
	// n8n does so each minute. The timers that it sets are not cleared when the wait ends.
	await evaluate(
		pair.n8n,
		`await load('@n8n/di').Container.get(load('./wait-tracker').WaitTracker).getWaitingExecutions()`,
	);
	await waitForTask(LOOKED_FOR);
	return id;
}

const IMAGE = 'image #noCallback';
const VIDEO = 'video #noCallback';

it('two Generates in a row: progress goes by, and so does a copy of the first callback in the second wait', async () => {
	const image = { ...createAndWait({ customInput: { prompt: IMAGE } }), name: IMAGE };
	const customInput = `={{ { prompt: '${VIDEO}', image: $json.resultUrls[0] } }}`;
	const video = { ...createAndWait({ customInput }), name: VIDEO };
	const id = await pair.park(chain('In a row', [prompts(1), image, video]));
	for (const prompt of [IMAGE, VIDEO]) {
		await waitForTask(prompt);
		await pair.n8n.waitForExecution(id, { until: ['waiting'] });
		if (prompt === VIDEO) expect(await call(IMAGE)).toMatchObject(REFUSED);
		await pair.service.waitForTask(pair.findId(prompt));
		for (const type of ['text', 'first'])
			expect(await call(prompt, type)).toEqual({ status: 200, accepted: true, resumed: false });
		expect(await call(prompt)).toMatchObject({ status: 200, resumed: true });
	}
	const execution = await pair.n8n.waitForExecution(id);
	for (const prompt of [IMAGE, VIDEO])
		expect(execution.getItems(prompt)).toMatchObject([
			{ taskId: pair.findId(prompt), status: 'completed' },
		]);
	expect(pair.findTask(VIDEO).input.image).toContain(pair.findId(IMAGE));
});

it('a round of a loop goes on to its end after one whose limit passed, whatever n8n had set up for that one', async () => {
	const id = await looped;
	await pair.n8n.waitForExecution(id, { until: ['waiting'] });
	expect(await call(ENDLESS)).toMatchObject(REFUSED);
	const execution = await pair.n8n.waitForExecution(id);
	const tasks = execution.getItems<Task>('Loop');
	expect(pair.readPrompts(tasks)).toEqual([ENDLESS, LOOKED_FOR]);
	expect(tasks).toMatchObject([{ status: 'timedOut' }, { status: 'completed' }]);
	expect(pair.listPrompts()).toEqual([ENDLESS, IMAGE, LOOKED_FOR, VIDEO]);
});
