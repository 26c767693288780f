import { expect } from '@jest/globals';
import { generate, mediaGeneration, NODE, prompts, SEEN } from '../../dev/fixtures/workflows.cts';
import { readHints, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 } });

const TEXTS = ['He said "hello"\nand left', '#fail', '#slow=3 two'];

it('tasks that were started before come out together as Generate outputs them, with their files', async () => {
	const start = generate({ operation: 'start' }, { name: 'Tasks' });
	const options = { failedTasks: 'output' };
	const wait = mediaGeneration({ resource: 'task', operation: 'wait', options });
	const execution = await pair.runNodes(prompts(TEXTS), start, wait, SEEN);
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
