import { expect } from '@jest/globals';
import { generate, mediaGeneration, NODE, prompts, SEEN } from '../../dev/fixtures/workflows.cts';
import { readHints, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.5 } });

const ROWS: Array<[prompt: string, status: string]> = [
	['He said "hello"\nand left', 'completed'],
	['#fail', 'failed'],
	['#slow=3 two', 'completed'],
	// Its record isn't there at once, is large, or stands under another code.
	['#hidden=6 three', 'completed'],
	['#hidden=3 #hiddenAs=null four', 'completed'],
	['#hidden=3 #hiddenAs=notFound five', 'completed'],
	['#recordCode=505 six', 'completed'],
	['#fail #recordCode=422 seven', 'failed'],
	['#echo=5 eight', 'completed'],
];
const TEXTS = ROWS.map(([prompt]) => prompt);

it('tasks that were started before come out together as Generate outputs them, with their files', async () => {
	const start = generate({ operation: 'start' }, { name: 'Tasks' });
	const options = { failedTasks: 'output' };
	const wait = mediaGeneration({ resource: 'task', operation: 'wait', options });
	const execution = await pair.runNodes(prompts(TEXTS), start, wait, SEEN);
	expect(execution.getItems('Seen')).toEqual(ROWS.map(([prompt, status]) => ({ prompt, status })));
	const output = execution.getOutput(NODE);
	const files = output.map(({ binary }) => Object.keys(binary ?? {}));
	expect(files).toEqual(ROWS.map(([, status]) => (status === 'completed' ? ['data'] : [])));
	expect(output.map(({ json }) => json.taskId)).toEqual(TEXTS.map((text) => pair.findId(text)));
	expect(readHints(execution)).toContainEqual(
		expect.stringMatching(/^Tasks that failed: 2 of 9\./),
	);
	expect(pair.countCreations()).toBe(TEXTS.length);
	expect(pair.listTasks().filter(({ callBackUrl }) => callBackUrl)).toEqual([]);
});
