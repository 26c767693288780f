import { expect } from '@jest/globals';
import { startAccounts } from '../../dev/fixtures/accounts.cts';
import { chain, createAndWait, NODE, prompts } from '../../dev/fixtures/workflows.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { usePair } from './support.cts';

const pair = usePair({
	service: {
		taskSeconds: 0.5,
		credits: 1e6,
		callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6, 3.2],
	},
});

const CREDITS = '/api/v1/chat/credit';
const CONTINUE = { onError: 'continueRegularOutput' };
const COMPLETED = { status: 'completed' };

/** Our node, which creates one task after the other. */
const wait = (
	parameters: Record<string, unknown> = {},
	node: object = {},
	options: object = {},
) => ({
	...createAndWait({
		options: { tasksPer10Seconds: 0, concurrency: 1, ...options },
		...parameters,
	}),
	...node,
});

/** Retries an execution with the workflow as it is saved now, and returns the new one when it has ended. */
async function retry(id: string) {
	const url = `/rest/executions/${id}/retry`;
	const retried = await pair.n8n.request<{ id: string }>('POST', url, { loadWorkflow: true });
	return await pair.n8n.waitForExecution(retried.id);
}

it('a batch takes nothing of what is known of another account whose tasks have equal IDs', async () => {
	const TOKENS = ['token-one', 'token-two'];
	await using accounts = await startAccounts(TOKENS, {
		taskSeconds: 1,
		callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6],
	});
	const credentials = await Promise.all(
		TOKENS.map(async (accessToken) =>
			pair.createCredential({ baseUrl: accounts.url, accessToken }, accessToken),
		),
	);
	const BATCHES = [
		['one', 'two #slow=6'],
		['one #fail #slow=3', 'two #slow=6'],
	];
	const ids: string[] = [];
	for (const [index, texts] of BATCHES.entries())
		ids.push(
			await pair.park(chain('Account', [prompts(texts), wait()]), {
				credential: credentials[index],
			}),
		);
	const [first, second] = await Promise.all(
		ids.map(async (id) => await pair.n8n.waitForExecution(id)),
	);
	const task = (number: number, status: string) => ({ taskId: `task-${number}`, status });
	expect(first?.getItems(NODE)).toMatchObject([task(1, 'completed'), task(2, 'completed')]);
	expect(second?.getItems(NODE)).toMatchObject([task(1, 'failed'), task(2, 'completed')]);
	for (const [index, execution] of [first, second].entries())
		for (const { resultUrls = [] } of execution?.getItems<Task>(NODE) ?? [])
			for (const link of resultUrls) expect(link).toContain(accounts.accounts[index]?.resultsUrl);
});

describe('Maximum Tasks per Run', () => {
	it('counts the tasks of this execution, and not those of the one that is retried, asks once for the credits to keep, and tells what the tasks cost', async () => {
		const texts = ['one', '#status=422'];
		const node = wait({ waitFor: 'polling' }, {}, { maxTasksPerRun: 2, keepCredits: 1 });
		const { id } = await pair.importWorkflow(chain('Counted', [prompts(texts), node]));
		const failed = await pair.runSaved(id);
		expect(failed.status).toBe('error');
		const asked = pair.countRequests(CREDITS);
		const { nodes } = await pair.n8n.getWorkflow(id);
		const corrected = JSON.stringify(nodes).replace('$json.prompt', "'new ' + $itemIndex");
		await pair.n8n.request('PATCH', `/rest/workflows/${id}`, {
			nodes: JSON.parse(corrected) as object,
		});
		const retried = await retry(failed.id);
		expect(retried.readError()).not.toMatch(/\d+ were created before in this execution/);
		expect(retried.getItems(NODE)).toMatchObject([COMPLETED, COMPLETED]);
		expect(pair.listPrompts()).toEqual(['new 0', 'new 1', 'one']);
		expect(pair.countRequests(CREDITS)).toBe(asked + 1);
		expect(retried.getRuns(NODE)[0]?.hints).toMatchObject([
			{ message: expect.stringMatching(/^2 tasks consumed [\d.]+ credits\.$/) },
		]);
	});
});

it('names a task whose creation has an unknown outcome, in the error of its item and in the log', async () => {
	const readLog = pair.n8n.followLog();
	const texts = ['one', '#accepted=503'];
	const execution = await pair.runNodes(prompts(texts), wait({ waitFor: 'polling' }, CONTINUE));
	const ids = pair.listIds();
	expect(ids).toHaveLength(2);
	const [task, error] = execution.getItems(NODE);
	expect(task).toMatchObject({ taskId: ids[0], ...COMPLETED });
	expect(JSON.stringify(error)).toContain(ids[1]);
	for (const id of ids) expect(readLog()).toContain(id);
});
