import { expect } from '@jest/globals';
import {
	generate,
	buildItems,
	loop,
	numberTexts,
	buildPrompts,
} from '../../dev/fixtures/workflows.cts';
import { evaluate } from '../../dev/n8n/inspect.cts';
import { CREATE_PATH, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 1, callbackRetrySeconds: [0.5, 1, 2] },
	keeps: true,
});

/** Sends a callback that says that the task goes on, or by default that the task has ended. */
async function sendCallback(prompt: string, callbackType?: string) {
	const { taskId } = pair.findTask(prompt);
	const data = { task_id: taskId, callbackType };
	const body = callbackType && { code: 200, msg: 'success', taskId, data };
	const { status, body: answer } = await pair.service.sendCallback(taskId, body ? { body } : {});
	return { status, ...(JSON.parse(answer) as object) };
}

const REFUSED = { status: 404, reason: 'taskNotInExecution' };

const IMAGE = 'image #noCallback';
const VIDEO = 'video #noCallback';

it('two Generates in a row: neither progress nor a copy of the first callback ends a wait', async () => {
	const image = generate({ anyInput: { prompt: IMAGE } }, { name: IMAGE });
	const anyInput = `={{ { prompt: '${VIDEO}', image: $json.resultUrls[0] } }}`;
	const id = await pair.startSleeping(image, generate({ anyInput }, { name: VIDEO }));
	for (const prompt of [IMAGE, VIDEO]) {
		await pair.waitForTasks(prompt);
		await pair.waitForSleep(id);
		if (prompt === VIDEO) expect(await sendCallback(IMAGE)).toMatchObject(REFUSED);
		await pair.service.waitForTask(pair.findId(prompt));
		for (const type of ['text', 'first'])
			expect(await sendCallback(prompt, type)).toEqual({
				status: 200,
				accepted: true,
				resumed: false,
			});
		expect(await sendCallback(prompt)).toMatchObject({ status: 200, resumed: true });
	}
	const execution = await pair.n8n.waitForExecution(id);
	for (const prompt of [IMAGE, VIDEO])
		expect(execution.getItems(prompt)).toMatchObject(pair.listCompleted(prompt));
	expect(pair.findTask(VIDEO).input.image).toContain(pair.findId(IMAGE));
});

it('a round of a loop sleeps until its task ends, though the limit of the round before had passed', async () => {
	const [first, second] = ['first #neverEnds', 'second #neverEnds'];
	const rounds = [
		{ prompt: first, limit: 0.05 },
		{ prompt: second, limit: 1 },
	];
	const node = generate({ options: { waitLimit: '={{ $json.limit }}', failedTasks: 'output' } });
	const { id: workflowId } = await pair.importWorkflow(loop(buildItems(rounds), node));
	const id = await pair.n8n.run(workflowId);
	await pair.waitForSleep(id);
	// Each minute, n8n looks for waits that end soon. It doesn't clear a timer that it has set for a wait.
	const isTimed = await evaluate<boolean>(
		pair.n8n,
		`{
			const tracker = load('@n8n/di').Container.get(load('./wait-tracker').WaitTracker);
			await tracker.getWaitingExecutions();
			return tracker.has('${id}');
		}`,
	);
	expect(isTimed).toBe(false);
	await pair.waitForTasks(second);
	await pair.waitForSleep(id);
	expect(await sendCallback(first)).toMatchObject(REFUSED);
	await pair.endTask(pair.findTask(second));
	expect(await sendCallback(second)).toMatchObject({ status: 200, resumed: true });
	const execution = await pair.n8n.waitForExecution(id);
	const timedOut = { taskId: pair.findId(first), status: 'timedOut' };
	const expected = [timedOut, ...pair.listCompleted(second)];
	expect(execution.getItems('Loop')).toMatchObject(expected);
});

it('in an outage, a loop of twenty rounds sends three creations of unknown outcome', async () => {
	const { length } = pair.service.requests;
	const texts = numberTexts(20, 'outage #status=500');
	const execution = await pair.run(
		loop(buildPrompts(texts), generate({}, { onError: 'continueRegularOutput' })),
	);
	expect(execution.status).toBe('success');
	const sent = pair.service.requests.slice(length).filter(({ path }) => path === CREATE_PATH);
	expect(sent).toHaveLength(3);
	const errors = execution.getItems<{ error: string; message: string }>('Loop');
	expect(errors).toHaveLength(20);
	for (const { error } of errors.slice(0, 3)) expect(error).toContain('internal fault');
	for (const { error, message } of errors.slice(3)) {
		expect(error).toContain('This item was not sent');
		expect(message).toContain('retry the execution from the list');
	}
});
