import { expect } from '@jest/globals';
import {
	generate,
	items,
	mediaGeneration,
	NODE,
	prompts,
	SEEN,
} from '../../dev/fixtures/workflows.cts';
import { readHints, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 } });

/** Starts a task for each item, without waiting. */
const START = generate({ operation: 'start' }, { name: 'Tasks' });

/** Waits for the tasks that the node above names. */
const wait = (options: object = {}, more: object = {}) =>
	mediaGeneration({ resource: 'task', operation: 'wait', options }, more);

const OUTPUT = { failedTasks: 'output' };

const TEXTS = ['He said "hello"\nand left', '#fail', '#slow=3 two'];

it('tasks that were started before come out together as Generate outputs them, with their files', async () => {
	const execution = await pair.runNodes(prompts(TEXTS), START, wait(OUTPUT), SEEN);
	const statuses = ['completed', 'failed', 'completed'];
	expect(execution.getItems('Seen')).toEqual(
		TEXTS.map((prompt, index) => ({ prompt, status: statuses[index] })),
	);
	const output = execution.getOutput(NODE);
	const files = output.map(({ binary }) => Object.keys(binary ?? {}));
	expect(files).toEqual([['data'], [], ['data']]);
	expect(output.map(({ json }) => json.taskId)).toEqual(TEXTS.map((text) => pair.findId(text)));
	expect(readHints(execution)).toContainEqual(expect.stringMatching(/^1 of 3 tasks failed/));
	expect(pair.countCreations()).toBe(3);
	expect(pair.listTasks().filter(({ callBackUrl }) => callBackUrl)).toEqual([]);
});

it('a task that has not ended at the limit is timedOut, and another Wait brings it', async () => {
	const first = wait({ waitLimit: 0.01, ...OUTPUT }, { name: 'First' });
	const execution = await pair.runNodes(prompts(['#slow=4 one']), START, first, wait());
	const taskId = pair.findId('#slow=4 one');
	expect(execution.getItems('First')).toMatchObject([{ taskId, status: 'timedOut' }]);
	expect(execution.getItems(NODE)).toMatchObject([{ taskId, status: 'completed' }]);
});

describe('an ID that the service does not know', () => {
	const UNKNOWN = 'The service has no task with this ID';

	it('ends the execution, and says what to check', async () => {
		const execution = await pair.runNodes(items([{ taskId: 'unknown' }]), wait());
		expect(execution.status).toBe('error');
		expect(execution.readError()).toContain(`${UNKNOWN} [item 0]\nCheck Task ID.`);
	});

	it('is the error of its item with On Error "continue", beside the task of the other one', async () => {
		await pair.runNodes(prompts(['#slow=2 one']), START);
		const taskId = pair.findId('#slow=2 one');
		const named = items([{ taskId }, { taskId: 'unknown' }]);
		const node = wait({}, { onError: 'continueRegularOutput' });
		const execution = await pair.runNodes(named, node);
		expect(execution.getItems(NODE)).toMatchObject([
			{ taskId, status: 'completed' },
			{ error: expect.stringContaining(UNKNOWN) },
		]);
	});
});
