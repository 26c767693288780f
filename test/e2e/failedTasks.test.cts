import { expect } from '@jest/globals';
import { chain, generate, NODE, buildPrompts } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { readHints, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 0.5, credits: 1e9, callbackRetrySeconds: [0.3, 0.6, 1.2, 2.4] },
	keeps: true,
});

const GOES_ON = { onError: 'continueRegularOutput' };
const TO_ERRORS = { onError: 'continueErrorOutput' };
const THREE_TRIES = { retryOnFail: true, maxTries: 3, waitBetweenTries: 50 };

let runs = 0;

/** Runs the node for these prompts, to which it adds a name of the run. The run sleeps, so n8n's tries begin anew when it wakes. */
async function run(texts: string[], settings: object = {}) {
	const name = `run${++runs}`;
	const named = texts.map((text) => `${text} ${name}`);
	const options = { howToWait: 'callback', downloadResults: true };
	const node = generate({ options }, settings);
	const { id: workflowId } = await pair.importWorkflow(chain(name, [buildPrompts(named), node]));
	const execution = await pair.runSaved(workflowId);
	const tasks = named.map((prompt) =>
		pair.listTasks().filter(({ input }) => input.prompt === prompt),
	);
	// The run slept.
	for (const { callBackUrl } of tasks.flat()) expect(callBackUrl).toBeDefined();
	/** The IDs of each item's tasks, the oldest first. */
	const ids = tasks.map((some) => some.map(({ taskId }) => taskId));
	return { workflowId, execution, ids };
}

const readItems = (execution: Execution) =>
	execution.getOutput(NODE).map(({ json, binary, pairedItem }) => ({
		...json,
		files: Object.keys(binary ?? {}),
		item: (pairedItem as { item: number }).item,
	}));

const FAILED = expect.stringMatching(/^The task failed: .+ \(code 501\) \[item 2 of \d\]$/);
const FAILED_ITEM = expect.stringMatching(/^The task failed: .+ \(code 501\)$/);
const endsWithId = (taskId?: string) => expect.stringMatching(new RegExp(`Task ID: ${taskId}$`));

describe('a task that failed', () => {
	const TEXTS = ['#slow=3 one', 'two #fail', '#slow=3 three'];

	it('comes out at the error output, with an error that ends with its ID', async () => {
		const { execution, ids } = await run(TEXTS, TO_ERRORS);
		expect(execution.status).toBe('success');
		expect(readItems(execution)).toMatchObject([
			{ taskId: ids[0]?.[0], status: 'completed', files: ['data'], item: 0 },
			{ taskId: ids[2]?.[0], status: 'completed', files: ['data'], item: 2 },
		]);
		// n8n adds the fields of the input item.
		const [json, ...others] = execution.getOutput(NODE, { branch: 1 }).map((one) => one.json);
		expect(others).toEqual([]);
		const prompt = expect.stringContaining('two #fail');
		const details = {
			...{ taskId: ids[1]?.[0], status: 'failed' },
			...{ failCode: '501', failMessage: expect.any(String) },
		};
		const message = endsWithId(ids[1]?.[0]);
		expect(json).toEqual({ prompt, error: FAILED_ITEM, message, details });
	});

	it("is created again only by n8n's tries, and no more often, though the tries begin anew after a sleep", async () => {
		const { execution, ids } = await run(['one', 'two #fail'], THREE_TRIES);
		expect(execution.status).toBe('error');
		expect(ids.map(({ length }) => length)).toEqual([1, 3]);
		const { message, description } = execution.getError() ?? {};
		expect(message).toEqual(FAILED);
		for (const taskId of ids.flat()) expect(description).toContain(taskId);
		expect(description).toEqual(endsWithId(ids[1]?.[2]));
	});

	it('is not paid for again by a retry from the list, which outputs the finished tasks with the settings that are saved then', async () => {
		const { workflowId, execution, ids } = await run(TEXTS);
		const before = pair.countCreations();
		const again = await pair.retry(execution.id);
		expect(again.status).toBe('error');
		expect(again.getError()?.message).toEqual(FAILED);
		expect(again.getError()?.description).toContain('without paying again');

		const { nodes } = await pair.n8n.getWorkflow(workflowId);
		const changed = nodes.map((node) => (node.name === NODE ? { ...node, ...GOES_ON } : node));
		await pair.n8n.request('PATCH', `/rest/workflows/${workflowId}`, { nodes: changed });
		const continued = await pair.retry(execution.id, { loadWorkflow: true });
		expect(continued.status).toBe('success');
		expect(readItems(continued)).toMatchObject([
			{ taskId: ids[0]?.[0], status: 'completed', files: ['data'] },
			{ taskId: ids[1]?.[0], status: 'failed', error: FAILED_ITEM },
			{ taskId: ids[2]?.[0], status: 'completed', files: ['data'] },
		]);
		expect(pair.countCreations()).toBe(before);
		expect(readHints(continued).join()).toContain('tasks come from the earlier run');
	});
});
