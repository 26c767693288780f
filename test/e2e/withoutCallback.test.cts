import { expect } from '@jest/globals';
import { chain, generate, NODE, buildPrompts } from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { evaluate } from '../../dev/n8n/inspect.cts';
import { DETAILS_PATH, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.2, credits: 1e6 }, keeps: true });

const QUICK = 'quick #noCallback';
/** The first look comes soon after the run fell asleep, the second at its limit. Both fail. */
const FAILING_LOOKS = 'looks that fail #noCallback #slow=8 #detailsFail=2';
const GONE = 'gone #neverEnds';

/** The ended executions, by the prompts of their tasks. They slept side by side. */
const ended = new Map<string, Execution>();

async function start(prompt: string, waitLimit: number) {
	const credential = await pair.createCredential({});
	const options = { howToWait: 'callback', waitLimit };
	const workflow = chain('Without callback', [buildPrompts([prompt]), generate({ options })]);
	const { id } = await pair.importWorkflow(workflow, { credential });
	const executionId = await pair.n8n.run(id);
	await pair.waitForSleep(executionId);
	if (prompt === GONE) await pair.n8n.request('DELETE', `/rest/credentials/${credential.id}`);
	ended.set(prompt, await pair.n8n.waitForExecution(executionId));
}

beforeAll(
	async () => await Promise.all([start(QUICK, 30), start(FAILING_LOOKS, 0.2), start(GONE, 0.2)]),
);

/** Lists the HTTP statuses of the service's answers to looks. */
const listLooks = () =>
	pair.service.requests.flatMap(({ path, status }) => (path === DETAILS_PATH ? [status] : []));

it('a task that ended before n8n could take a callback comes out some seconds later', () => {
	expect(ended.get(QUICK)?.getItems(NODE)).toMatchObject(pair.listCompleted(QUICK));
	expect(pair.findTask(QUICK).callbacks).toEqual([]);
});

it('a look that fails at the limit of a sleep is repeated', () => {
	expect(ended.get(FAILING_LOOKS)?.getItems(NODE)).toMatchObject(pair.listCompleted(FAILING_LOOKS));
	expect(listLooks().filter((status) => status === 500)).toHaveLength(2);
	expect(pair.findTask(FAILING_LOOKS).callbacks).toEqual([]);
});

it('a credential that is gone while an execution sleeps is the error of its item at the limit', () => {
	const { message, description } = ended.get(GONE)?.getError() ?? {};
	expect(message).toMatch(
		/had not ended when the wait was over.*last look failed: Credential .* does not exist/,
	);
	expect(description).toMatch(new RegExp(`Task ID: ${pair.findId(GONE)}$`));
});

it('there are no other looks', () => {
	expect(listLooks()).toHaveLength(5);
});

describe('a sleep that n8n ends by itself', () => {
	const ENDLESS = ['first #neverEnds', 'second #neverEnds'];
	const retry = { retryOnFail: true, maxTries: 2, waitBetweenTries: 50 };

	/** Brings n8n's own end of a sleep forward. */
	const endSleep = async (executionId: string) =>
		void (await evaluate(
			pair.n8n,
			`{
				const { Container } = load('@n8n/di');
				const executions = Container.get(load('@n8n/db').ExecutionRepository);
				await executions.update('${executionId}', { waitTill: new Date(Date.now() + 1_000) });
				await Container.get(load('./wait-tracker').WaitTracker).getWaitingExecutions();
			}`,
		));

	it.each([
		['continueErrorOutput', {}],
		['continueErrorOutput', retry],
		['continueRegularOutput', retry],
	])('outputs the tasks that timed out as errors: %s, %j', async (onError, more) => {
		const name = `${onError} ${JSON.stringify(more)}`;
		const texts = ENDLESS.map((text) => `${text} ${name}`);
		const id = await pair.startSleeping(buildPrompts(texts), generate({}, { onError, ...more }));
		await endSleep(id);
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.status).toBe('success');
		const isApart = onError === 'continueErrorOutput';
		expect(execution.getOutput(NODE, { branch: isApart ? 0 : 1 })).toEqual([]);
		const errors = execution.getOutput(NODE, { branch: isApart ? 1 : 0 });
		expect(errors.map(({ json }) => json)).toEqual(
			texts.map((text) => ({
				error: expect.stringMatching(
					new RegExp(`^The task had not ended .* Task ID: ${pair.findId(text)}$`),
				),
			})),
		);
	});
});
