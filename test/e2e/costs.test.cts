import { expect } from '@jest/globals';
import { chain, generate, loop, buildPrompts } from '../../dev/fixtures/workflows.cts';
import { evaluate } from '../../dev/n8n/inspect.cts';
import { poll } from '../../dev/n8n/wait.cts';
import { usePair } from './support.cts';

const pair = usePair({
	// This dialect says what a task costs while it runs.
	service: { dialect: 'recorded', taskSeconds: 1, callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6, 3.2] },
});

const TASKS = 'Media_Generation_tasks';
const CREDITS = 'Media_Generation_credits';

interface Search {
	key: string;
	value: string;
	exactMatch: boolean;
}

/** Searches n8n's list of executions. @returns their IDs */
async function search(metadata: Search) {
	const query = new URLSearchParams({ filter: JSON.stringify({ metadata: [metadata] }) });
	const url = `/rest/executions?${query.toString()}`;
	const { results } = await pair.n8n.request<{ results: Array<{ id: string }> }>('GET', url);
	return results.map(({ id }) => id);
}

const findByTask = async (value: string) => await search({ key: TASKS, value, exactMatch: false });

async function readCustomData(id: string) {
	const { customData } = await pair.n8n.request<{ customData: Record<string, string> }>(
		'GET',
		`/rest/executions/${id}`,
	);
	return customData;
}

/** Checks that n8n finds an execution by all tasks of a test, and by their costs together, each counted once. */
async function expectFound(id: string) {
	const taskIds = pair.listIds();
	const costs = pair.listTasks().map(({ creditsConsumed }) => creditsConsumed);
	const credits = String(costs.reduce((total, cost) => total + cost));
	expect(Number(credits)).toBeGreaterThan(0);
	// n8n stores custom data a moment after the execution has ended.
	let last: Record<string, string> = {};
	const isShown = async () => {
		last = await readCustomData(id);
		return last[CREDITS] === credits;
	};
	await poll(isShown, { what: `${credits} credits`, details: () => JSON.stringify(last) });
	expect(last[TASKS]?.split(', ').sort()).toEqual(taskIds.sort());
	for (const taskId of taskIds) expect(await findByTask(taskId)).toContain(id);
	expect(await search({ key: CREDITS, value: credits, exactMatch: true })).toContain(id);
}

beforeAll(async () => {
	// Without a license, n8n shows custom data, but doesn't search it.
	await evaluate(
		pair.n8n,
		`{
			const license = load('@n8n/di').Container.get(load('./license').License);
			license.isAdvancedExecutionFiltersEnabled = () => true;
		}`,
	);
});

it.each(['callback', 'polling'])(
	"n8n's list finds an execution by its tasks and their credits, over a loop: %s",
	async (howToWait) => {
		const node = generate({ options: { howToWait } });
		const { id: workflowId } = await pair.importWorkflow(loop(buildPrompts(['one', 'two']), node));
		const id = await pair.n8n.run(workflowId);
		if (howToWait === 'callback') {
			await pair.waitForSleep(id);
			const isFound = async () => (await findByTask(pair.findId('one'))).includes(id);
			await poll(isFound, { what: 'the execution that sleeps, by its task' });
		}
		expect((await pair.n8n.waitForExecution(id)).status).toBe('success');
		for (const { callBackUrl } of pair.listTasks())
			expect(Boolean(callBackUrl)).toBe(howToWait === 'callback');
		await expectFound(id);
	},
);

it.each(['callback', 'polling'])(
	'Maximum Credits per Run holds over a loop and over a batch, anew in its retry from the list: %s',
	async (howToWait) => {
		const node = generate({ options: { howToWait, maxCreditsPerRun: 25 } });
		const texts = buildPrompts(['one', 'two', 'three']);
		const message = `'Maximum Credits per Run' in Options is 25: 2 already created in this execution, for 25 credits, the dearest for 12.5`;
		const fail = async (workflow: ReturnType<typeof chain>) => {
			const before = pair.countCreations();
			const { id } = await pair.importWorkflow(workflow);
			const failed = await pair.runSaved(id);
			expect(failed.status).toBe('error');
			expect(failed.getError()?.message).toContain(message);
			expect(pair.countCreations()).toBe(before + 2);
			return failed.id;
		};
		await fail(loop(texts, node));
		const retried = await pair.retry(await fail(chain('Batch', [texts, node])));
		expect(retried.status).toBe('success');
		expect(pair.countCreations()).toBe(5);
	},
);
