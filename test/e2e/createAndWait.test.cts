import { expect } from '@jest/globals';
import { parseAnswer } from '../../dev/fixtures/callbacks.cts';
import { startPair, WEBHOOK_SECRET, type Pair } from '../../dev/fixtures/pair.cts';
import {
	chain,
	connect,
	editSample,
	items,
	loop,
	mediaGeneration,
	SEEN,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';

const NODE = 'Media Generation';
const DETAILS = '/api/v1/jobs/recordInfo';
const CREATE = '/api/v1/jobs/createTask';

let pair: Pair;
/** Parked until the limit passes. As n8n looks at limits once a minute, it waits while the other tests run. */
let limited: { pair: Pair; prompts: string[]; id: string };

beforeAll(async () => {
	pair = await startPair({ n8n: 'shared' });
	const on = await startPair({ service: { taskSeconds: 0.5 }, n8n: 'shared' });
	const prompts = ['#noCallback #slow=90', 'two'];
	limited = { pair: on, prompts, id: await start(prompts, { waitLimit: 0.05 }, { on }) };
});

afterAll(async () => {
	await limited?.pair.stop();
	await pair?.stop();
});

beforeEach(() => {
	pair.service.set({
		faultsFor: undefined,
		taskSeconds: 0.5,
		credits: 1e6,
		callbackRetrySeconds: [0.2, 0.4, 0.8],
	});
	pair.service.tasks.clear();
	pair.service.requests.length = 0;
});

const edit = (parameters: Record<string, unknown> = {}, on = pair) => ({
	...editSample(on.service.resultsUrl),
	prompt: '={{ $json.prompt }}',
	options: { tasksPer10Seconds: 0, concurrency: 20 },
	...parameters,
});

interface StartOptions {
	/** Changes of the credential. */
	changes?: object;
	/** More settings of our node. */
	node?: object;
	on?: Pair;
}

/** Starts a workflow that creates a task for each prompt, and returns the execution's ID. */
async function start(
	prompts: string[],
	parameters: Record<string, unknown> = {},
	{ changes, node, on = pair }: StartOptions = {},
) {
	const workflow = chain('Create and wait', [
		items(prompts.map((prompt) => ({ prompt }))),
		mediaGeneration(edit(parameters, on), node),
		SEEN,
	]);
	const credential = changes && (await on.createCredential(changes));
	const { id } = await on.importWorkflow(workflow, { credential });
	return await on.n8n.run(id);
}

const run = async (...args: Parameters<typeof start>) =>
	await pair.n8n.waitForExecution(await start(...args), { timeout: 110_000 });

/** Starts a workflow, and waits until its execution is parked. */
async function park(...args: Parameters<typeof start>) {
	const id = await start(...args);
	await pair.n8n.waitForExecution(id, { until: ['waiting'] });
	return id;
}

/** Parks an execution for one task, which ends without a callback. */
async function parkForEndedTask() {
	pair.service.set({ faultsFor: () => ({ noCallback: true }) });
	const id = await park(['one']);
	const [task] = pair.listTasks();
	const taskId = String(task?.taskId);
	await pair.service.waitForTask(taskId);
	return { id, taskId, url: new URL(String(task?.callBackUrl)) };
}

const readStatus = async (id: string) => (await pair.n8n.getExecution(id)).status;

const buildPrompts = (count: number) =>
	Array.from({ length: count }, (_, index) => `prompt ${index}`);

/** Returns the prompts of output tasks, in their order. */
const findPrompts = (tasks: Task[]) =>
	tasks.map(({ taskId }) => pair.service.tasks.get(taskId)?.input.prompt);

const countRequests = (path: string) =>
	pair.service.requests.filter((request) => request.path.startsWith(path)).length;

const COMPLETED = { status: 'completed' };

describe('waiting for the callback', () => {
	it('parks the execution without a request, and resumes it with the finished task', async () => {
		pair.service.set({ taskSeconds: 2 });
		const id = await park(['one']);
		const asked = pair.service.requests.length;
		await pair.service.idle();
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.status).toBe('success');
		expect(execution.getOutput(NODE)).toEqual([
			{
				json: expect.objectContaining({
					taskId: pair.listTasks()[0]?.taskId,
					status: 'completed',
					state: 'success',
					resultUrls: [expect.stringContaining('/results/')],
				}),
				pairedItem: expect.objectContaining({ item: 0 }),
			},
		]);
		expect(execution.getItems('Seen')).toEqual([{ prompt: 'one', status: 'completed' }]);
		expect(asked).toBe(1);
		expect(pair.service.requests).toHaveLength(2);
	});

	it('tells the sender which callback resumed the execution', async () => {
		pair.service.set({ taskSeconds: 2 });
		await run(['one', 'two']);
		const answers = pair
			.listTasks()
			.map(({ callbacks }) => parseAnswer(String(callbacks.at(-1)?.answer)));
		expect(answers.map(({ resumed }) => resumed).sort()).toEqual([false, true]);
	});

	it.each([20, 200])(
		'resumes once all of %d tasks have called back in any order, with the tasks in the order of the items',
		async (count) => {
			pair.service.set({
				faultsFor: () => ({ slow: 1 + Math.random() * 5 }),
				callbackRetrySeconds: [1, 3, 6],
			});
			const prompts = buildPrompts(count);
			const execution = await run(prompts);
			const tasks = execution.getItems<Task>(NODE);
			expect(tasks.map(({ status }) => status)).toEqual(prompts.map(() => 'completed'));
			expect(findPrompts(tasks)).toEqual(prompts);
			expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual(prompts);
			const perTask = countRequests(DETAILS) / count;
			console.log(
				`${count} tasks by callback: ${(1 + perTask).toFixed(2)} requests per finished task`,
			);
			expect(countRequests(CREATE)).toBe(count);
			expect(perTask).toBeLessThanOrEqual(3);
		},
	);

	it('resumes once when all callbacks come at the same instant', async () => {
		pair.service.set({ faultsFor: () => ({ noCallback: true, slow: 2 }) });
		const id = await park([...'abcdefghijklmnop']);
		const ids = [...pair.service.tasks.keys()];
		await Promise.all(ids.map((taskId) => pair.service.waitForTask(taskId)));
		const answers = await Promise.all(ids.map((taskId) => pair.service.callback(taskId)));
		expect(answers.filter(({ body }) => parseAnswer(body).resumed)).toHaveLength(1);
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.getRuns('Seen')).toHaveLength(1);
		expect(execution.getItems('Seen')).toHaveLength(16);
	});

	it('ignores a second callback of the same task', async () => {
		const execution = await run(['#callbackTwice', '#slow=3']);
		expect(execution.getItems(NODE).map(({ status }) => status)).toEqual([
			'completed',
			'completed',
		]);
		const twice = pair.listTasks().find(({ faults }) => faults.callbackTwice);
		expect(twice?.callbacks.length).toBeGreaterThanOrEqual(2);
	});

	it('refuses 100 forged callbacks and one for another task, with a line in the log for each reason', async () => {
		const readLog = pair.n8n.followLog();
		const { id, taskId } = await parkForEndedTask();
		const now = Math.floor(Date.now() / 1000);
		const forged = Array.from({ length: 100 }, (_, index) =>
			[
				{ secret: `guess ${index}` },
				{ signature: Buffer.alloc(32, index).toString('base64') },
				{ headers: { 'x-webhook-signature': undefined } },
				{ timestamp: now - 301 - index },
				{ timestamp: now, signature: pair.service.sign(taskId, now + 1) },
			].at(index % 5),
		);
		const answers = await Promise.all(
			forged.map((overrides) => pair.service.callback(taskId, overrides)),
		);
		expect(answers.map(({ status }) => status)).toEqual(forged.map(() => 401));
		const foreign = await poll(
			async () => {
				const answer = await pair.service.callback(taskId, {
					body: { taskId: 'another', data: { task_id: 'another' } },
					timestamp: now,
					signature: pair.service.sign('another', now),
				});
				// Of n8n itself, when its database does not answer in time.
				return answer.status === 503 ? undefined : answer;
			},
			{ timeout: 20_000, what: 'n8n to take a callback' },
		);
		expect(foreign).toMatchObject({ status: 404 });
		expect(await readStatus(id)).toBe('waiting');
		const refusals = readLog()
			.split('\n')
			.filter((line) => line.includes(`"${NODE}" refused a callback`));
		for (const reason of [
			'signatureWrong',
			'headerMissing',
			'timestampStale',
			'taskNotInExecution',
		])
			expect(refusals.filter((line) => line.includes(reason))).toHaveLength(1);
		expect(await pair.service.callback(taskId)).toMatchObject({ status: 200 });
		expect((await pair.n8n.waitForExecution(id)).getItems(NODE)).toMatchObject([COMPLETED]);
	});

	it('refuses a callback without the secret of the resume URL', async () => {
		const { id, taskId, url } = await parkForEndedTask();
		const answer = await pair.service.callback(taskId, { url: url.origin + url.pathname });
		expect(answer.status).toBe(401);
		expect(await readStatus(id)).toBe('waiting');
		await pair.service.callback(taskId);
		await pair.n8n.waitForExecution(id);
	});

	it('trusts the secret of the resume URL and the details when there is no key', async () => {
		pair.service.set({ webhookSecret: '', taskSeconds: 1.5 });
		const execution = await run(['one'], {}, { changes: { webhookSecret: '' } });
		pair.service.set({ webhookSecret: WEBHOOK_SECRET });
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
	});

	it('refuses a callback whose task has not ended', async () => {
		pair.service.set({ faultsFor: () => ({ noCallback: true, slow: 3 }) });
		const id = await park(['one']);
		const taskId = String(pair.listTasks()[0]?.taskId);
		expect(await pair.service.callback(taskId)).toMatchObject({ status: 503 });
		expect(await readStatus(id)).toBe('waiting');
		await pair.service.waitForTask(taskId);
		await pair.service.callback(taskId);
		await pair.n8n.waitForExecution(id);
	});

	it('leaves the callback to be sent again while details are unavailable', async () => {
		pair.service.set({ taskSeconds: 1.5 });
		const id = await park(['one']);
		pair.service.faultNext({ path: DETAILS, status: 500, times: 2 });
		expect((await pair.n8n.waitForExecution(id)).getItems(NODE)).toMatchObject([COMPLETED]);
		const [task] = pair.listTasks();
		expect(task?.callbacks.map(({ status }) => status)).toEqual([503, 503, 200]);
	});

	it('does not park when creating took so long that all tasks have ended', async () => {
		pair.service.set({ taskSeconds: 0, faultsFor: () => ({ noCallback: true }) });
		pair.service.faultNext({ path: CREATE, delaySeconds: 1.2, times: 2 });
		// The second task ends before its details are asked for.
		pair.service.faultNext({ path: DETAILS, delaySeconds: 1, times: 2 });
		const options = { tasksPer10Seconds: 0, concurrency: 1 };
		const execution = await run(['one', 'two'], { options });
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED, COMPLETED]);
	});

	it('accepts the retry of a callback that came before the execution was parked', async () => {
		pair.service.set({ taskSeconds: 0 });
		const execution = await run(['one']);
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
		const [task] = pair.listTasks();
		expect(task?.callbacks.at(-1)).toMatchObject({ status: 200 });
	});

	it('outputs failed tasks by their status, beside the completed ones', async () => {
		const execution = await run(['one', '#fail', 'three']);
		expect(execution.status).toBe('success');
		expect(execution.getItems(NODE)).toMatchObject([
			COMPLETED,
			{ status: 'failed', failCode: '501', failMessage: expect.any(String), resultUrls: [] },
			COMPLETED,
		]);
	});

	it('outputs the items without a task where On Error says, and waits for the others', async () => {
		pair.service.set({ taskSeconds: 1.5 });
		const node = { onError: 'continueErrorOutput' };
		const execution = await run(['one', '#status=402', 'three'], {}, { node });
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED, COMPLETED]);
		expect(execution.getItems(NODE, { branch: 1 })).toMatchObject([
			{ error: expect.stringContaining('too few credits'), message: expect.any(String) },
		]);
	});

	it("stops before anything is created when the service can't reach this n8n", async () => {
		const changes = { baseUrl: 'https://api.service.example' };
		const error = (await run(['one'], {}, { changes })).getError(NODE);
		expect(error?.message).toContain(
			"The service can't reach this n8n: callbacks would go to http://",
		);
		expect(error?.description).toMatch(/WEBHOOK_URL.*Polling/);
		expect(pair.service.requests).toHaveLength(0);
	});
});

describe('polling', () => {
	it('looks at all tasks together until they have ended', async () => {
		pair.service.set({ faultsFor: () => ({ slow: 1 + Math.random() * 3 }) });
		const prompts = buildPrompts(20);
		const started = Date.now();
		const execution = await run(prompts, { waitFor: 'polling' });
		const tasks = execution.getItems<Task>(NODE);
		expect(findPrompts(tasks)).toEqual(prompts);
		expect(tasks.every(({ status }) => status === 'completed')).toBe(true);
		expect(Date.now() - started).toBeLessThan(30_000);
		expect(pair.listTasks().every(({ callBackUrl }) => callBackUrl === undefined)).toBe(true);
		const perTask = countRequests(DETAILS) / prompts.length;
		console.log(
			`20 tasks of 1 to 4 s by polling: ${(1 + perTask).toFixed(2)} requests per finished task`,
		);
	});

	it('goes on after a request that fails', async () => {
		pair.service.faultNext({ path: DETAILS, status: 500, times: 1 });
		const execution = await run(['one'], { waitFor: 'polling' });
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
	});

	it('outputs every task ID when the limit passes', async () => {
		const parameters = { waitFor: 'polling', waitLimit: 0.06 };
		const execution = await run(['#neverEnds', 'two'], parameters);
		expect(execution.getItems(NODE)).toMatchObject([
			{ taskId: expect.any(String), status: 'timedOut', model: 'beta2/image-edit' },
			COMPLETED,
		]);
	});
});

describe('in workflows of other shapes', () => {
	it('waits in a sub-workflow, and the caller goes on with the result', async () => {
		pair.service.set({ taskSeconds: 2 });
		const called = {
			name: 'When called',
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		};
		const inner = connect('Inner', [called, mediaGeneration(edit({ prompt: 'one' }))]);
		const { id } = await pair.importWorkflow(inner);
		await pair.n8n.activate(id);
		const call = {
			name: 'Call',
			type: 'n8n-nodes-base.executeWorkflow',
			typeVersion: 1.2,
			parameters: {
				workflowId: { __rl: true, mode: 'id', value: id },
				options: { waitForSubWorkflow: true },
			},
		};
		const execution = await pair.run(chain('Outer', [call]));
		expect(execution.getItems('Call')).toMatchObject([COMPLETED]);
	});

	it('waits anew in each round of a loop', async () => {
		pair.service.set({ taskSeconds: 1 });
		const prompts = ['one', 'two', 'three'].map((prompt) => ({ prompt }));
		const execution = await pair.run(loop(items(prompts), mediaGeneration(edit())));
		expect(execution.getRuns(NODE)).toHaveLength(3);
		expect(execution.getItems('Loop').map(({ status }) => status)).toEqual(
			Array(3).fill('completed'),
		);
		expect(pair.listTasks()).toHaveLength(3);
	});

	it('creates nothing when its output is pinned', async () => {
		const workflow = chain('Pinned', [items([{ prompt: 'one' }]), mediaGeneration(edit())]);
		const { id } = await pair.importWorkflow(workflow);
		const pinData = { [NODE]: [{ json: { taskId: 'pinned', status: 'completed' } }] };
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id, { pinData }));
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: 'pinned' }]);
		expect(pair.service.requests).toHaveLength(0);
	});

	it('works in an active workflow that a webhook starts', async () => {
		pair.service.set({ taskSeconds: 1.5 });
		const webhook = {
			name: 'Webhook',
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: 'c0ffee00-0000-4000-8000-00000000aaaa',
			parameters: { path: 'produce' },
		};
		const workflow = connect('Production', [webhook, mediaGeneration(edit({ prompt: 'one' }))]);
		const { id, url } = await pair.activate(workflow);
		expect((await fetch(url)).status).toBe(200);
		const [execution] = await pair.n8n.waitForExecutions({
			workflowId: id,
			count: 1,
			status: 'success',
		});
		expect(execution?.getItems(NODE)).toMatchObject([COMPLETED]);
	});
});

it('outputs every task ID when the limit passes, and refuses callbacks after that', async () => {
	const { pair, prompts, id } = limited;
	const execution = await pair.n8n.waitForExecution(id, { timeout: 110_000 });
	expect(execution.status).toBe('success');
	const [first, second] = prompts.map((prompt) =>
		pair.listTasks().find(({ input }) => input.prompt === prompt),
	);
	expect(execution.getItems(NODE)).toMatchObject([
		{ taskId: first?.taskId, model: 'beta2/image-edit', status: 'timedOut' },
		{ taskId: second?.taskId, status: 'timedOut' },
	]);
	expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual(prompts);
	const late = await pair.service.callback(String(second?.taskId));
	expect(late.status).toBe(409);
	expect((await pair.n8n.getExecution(id)).getItems('Seen')).toHaveLength(2);
});
