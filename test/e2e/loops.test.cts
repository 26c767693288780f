import { expect } from '@jest/globals';
import { generate, items, loop, numberTexts, prompts } from '../../dev/fixtures/workflows.cts';
import { evaluate } from '../../dev/n8n/inspect.cts';
import { CREATE, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 1, callbackRetrySeconds: [0.5, 1, 2] },
	keeps: true,
});

/** Sends a callback that says that the task goes on, or by default that it has ended. */
async function call(prompt: string, callbackType?: string) {
	const { taskId } = pair.findTask(prompt);
	const data = { task_id: taskId, callbackType };
	const body = callbackType && { code: 200, msg: 'success', taskId, data };
	const { status, body: answer } = await pair.service.callback(taskId, body ? { body } : {});
	return { status, ...(JSON.parse(answer) as object) };
}

const REFUSED = { status: 404, reason: 'taskNotInExecution' };

/** Its second round ends by a nudge at its limit; meanwhile the other test runs. */
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
		{ prompt: LOOKED_FOR, limit: 1 },
	];
	const workflow = loop(
		items(rounds),
		generate({
			options: { waitLimit: '={{ $json.limit }}', failedTasks: 'output' },
		}),
	);
	const id = await pair.n8n.run((await pair.importWorkflow(workflow)).id);
	await pair.waitForParked(id);
	// n8n does so each minute. The timers that it sets are not cleared when the wait ends.
	await evaluate(
		pair.n8n,
		`await load('@n8n/di').Container.get(load('./wait-tracker').WaitTracker).getWaitingExecutions()`,
	);
	await pair.waitForTasks(LOOKED_FOR);
	return id;
}

const IMAGE = 'image #noCallback';
const VIDEO = 'video #noCallback';

it('two Generates in a row: progress goes by, and so does a copy of the first callback in the second wait', async () => {
	const image = generate({ anyInput: { prompt: IMAGE } }, { name: IMAGE });
	const anyInput = `={{ { prompt: '${VIDEO}', image: $json.resultUrls[0] } }}`;
	const id = await pair.park(image, generate({ anyInput }, { name: VIDEO }));
	for (const prompt of [IMAGE, VIDEO]) {
		await pair.waitForTasks(prompt);
		await pair.waitForParked(id);
		if (prompt === VIDEO) expect(await call(IMAGE)).toMatchObject(REFUSED);
		await pair.service.waitForTask(pair.findId(prompt));
		for (const type of ['text', 'first'])
			expect(await call(prompt, type)).toEqual({ status: 200, accepted: true, resumed: false });
		expect(await call(prompt)).toMatchObject({ status: 200, resumed: true });
	}
	const execution = await pair.n8n.waitForExecution(id);
	for (const prompt of [IMAGE, VIDEO])
		expect(execution.getItems(prompt)).toMatchObject(pair.listCompleted(prompt));
	expect(pair.findTask(VIDEO).input.image).toContain(pair.findId(IMAGE));
});

it('a round of a loop goes on to its end after one whose limit passed, whatever n8n had set up for that one', async () => {
	const id = await looped;
	await pair.waitForParked(id);
	expect(await call(ENDLESS)).toMatchObject(REFUSED);
	const execution = await pair.n8n.waitForExecution(id);
	const timedOut = { taskId: pair.findId(ENDLESS), status: 'timedOut' };
	const expected = [timedOut, ...pair.listCompleted(LOOKED_FOR)];
	expect(execution.getItems('Loop')).toMatchObject(expected);
	pair.expectNoCallbacks(LOOKED_FOR);
	expect(pair.listPrompts()).toEqual([ENDLESS, IMAGE, LOOKED_FOR, VIDEO]);
});

it('in an outage, a loop of twenty rounds sends three creations of unknown outcome', async () => {
	const { length } = pair.service.requests;
	const texts = numberTexts(20, 'outage #status=500');
	const execution = await pair.run(
		loop(prompts(texts), generate({}, { onError: 'continueRegularOutput' })),
	);
	expect(execution.status).toBe('success');
	const sent = pair.service.requests.slice(length).filter(({ path }) => path === CREATE);
	expect(sent).toHaveLength(3);
	const errors = execution.getItems<{ error: string; message: string }>('Loop');
	expect(errors).toHaveLength(20);
	for (const { error } of errors.slice(0, 3)) expect(error).toContain('internal fault');
	for (const { error, message } of errors.slice(3)) {
		expect(error).toContain('This item was not sent');
		expect(message).toContain('retry the execution from the list');
	}
});
