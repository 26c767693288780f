import { setTimeout as pause } from 'node:timers/promises';
import type { IRunData } from 'n8n-workflow';
import { createEndedTask, sendCallback } from '../../dev/fixtures/callbacks.cts';
import {
	buildCredentialData,
	CREDENTIAL_TYPE,
	startPair,
	TOKEN,
	type Pair,
} from '../../dev/fixtures/pair.cts';
import {
	chain,
	editSample,
	items,
	loop,
	mediaGeneration,
	SEEN,
	triggered,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Workflow, WorkflowNode } from '../../dev/n8n/workflow.cts';
import { startService } from '../../dev/service/index.cts';

let pair: Pair;

beforeAll(async () => {
	pair = await startPair({ service: { credits: 1e9 } });
});

afterAll(async () => await pair?.stop());

beforeEach(() => {
	pair.service.set({
		faultsFor: () => ({}),
		taskSeconds: 0.5,
		callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6, 3.2],
	});
	pair.service.tasks.clear();
	pair.service.requests.length = 0;
});

const NODE = 'Media Generation';

const prompts = (...texts: string[]) => items(texts.map((prompt) => ({ prompt })));

/** Our node, with a seed that is another one each time that n8n evaluates it. */
const edit = (parameters: object = {}, node: object = {}) =>
	mediaGeneration(
		editSample(pair.service.resultsUrl, {
			prompt: '={{ $json.prompt }}',
			seed: '={{ Math.floor(Math.random() * 1e9) }}',
			options: { tasksPer10Seconds: 0, concurrency: 1 },
			...parameters,
		}),
		node,
	);

const save = async (workflow: Workflow) => (await pair.importWorkflow(workflow)).id;

const start = async (nodes: WorkflowNode[], settings: object = {}) => {
	const workflow = chain('Runs', nodes);
	workflow.settings = { ...workflow.settings, ...settings };
	return await pair.n8n.run(await save(workflow));
};

const run = async (...nodes: WorkflowNode[]) =>
	await pair.n8n.waitForExecution(await start(nodes), { timeout: 90_000 });

const listPrompts = () => [...pair.service.tasks.values()].map(({ input }) => input.prompt).sort();
const listIds = () => [...pair.service.tasks.keys()];
const DETAILS = '/api/v1/jobs/recordInfo';

const countDetails = () => pair.service.requests.filter(({ path }) => path === DETAILS).length;

const countCreations = () =>
	pair.service.requests.filter(({ path }) => path.endsWith('/createTask')).length;
const findTask = (prompt: string) =>
	[...pair.service.tasks.values()].find(({ input }) => input.prompt === prompt);

/** Waits until so many tasks exist. */
async function waitForTasks(count: number) {
	while (pair.service.tasks.size < count) await pause(20);
}

const WAIT_FOR = ['callback', 'polling'];

describe.each(WAIT_FOR)('by %s', (waitFor) => {
	it('creates one task under Execute Once, and returns it', async () => {
		const execution = await run(
			prompts('one', 'two'),
			edit({ waitFor }, { executeOnce: true }),
			SEEN,
		);
		expect(execution.status).toBe('success');
		expect(listPrompts()).toEqual(['one']);
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: listIds()[0], status: 'completed' }]);
		expect(execution.getItems('Seen')).toEqual([{ prompt: 'one', status: 'completed' }]);
	});

	it('creates a task for each of three equal items of a loop', async () => {
		const workflow = loop(prompts('same', 'same', 'same'), edit({ waitFor, seed: 7 }));
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(await save(workflow)));
		expect(listPrompts()).toEqual(['same', 'same', 'same']);
		const output = execution.getItems('Loop');
		expect(output.map(({ taskId }) => taskId).sort()).toEqual(listIds().sort());
		expect(output.map(({ status }) => status)).toEqual(Array(3).fill('completed'));
	});

	it('waits in two nodes in a row, each for its own task', async () => {
		const second = edit({ waitFor, prompt: 'second' }, { name: 'Second' });
		const execution = await run(prompts('first'), edit({ waitFor }), second);
		expect(execution.status).toBe('success');
		expect(listPrompts()).toEqual(['first', 'second']);
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: findTask('first')?.taskId }]);
		expect(execution.getItems('Second')).toMatchObject([
			{ taskId: findTask('second')?.taskId, status: 'completed' },
		]);
	});

	it('waits in two parallel branches, each for its own task', async () => {
		const workflow = chain('Branches', [prompts('first'), edit({ waitFor })]);
		const second = edit({ waitFor, prompt: 'second' }, { id: 'second', name: 'Second' });
		workflow.nodes.push({ position: [440, 300], ...second });
		workflow.connections.Items?.main?.[0]?.push({ node: 'Second', type: 'main', index: 0 });
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(await save(workflow)));
		expect(execution.status).toBe('success');
		expect(listPrompts()).toEqual(['first', 'second']);
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
		expect(execution.getItems('Second')).toMatchObject([{ status: 'completed' }]);
	});
});

describe('Execute Once by callback, when the limit passes', () => {
	it('returns the task that goes on, and no input item', async () => {
		pair.service.set({ faultsFor: () => ({ noCallback: true, slow: 120 }) });
		const parameters = { waitFor: 'callback', waitLimit: 0.01 };
		const id = await start([prompts('one', 'two'), edit(parameters, { executeOnce: true })]);
		const execution = await pair.n8n.waitForExecution(id, { timeout: 110_000 });
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: listIds()[0], status: 'timedOut' }]);
	});
});

describe('an execution that is stopped', () => {
	const readCustomData = async (id: string) => {
		const { customData } = await pair.n8n.request<{ customData: Record<string, string> }>(
			'GET',
			`/rest/executions/${id}`,
		);
		return Object.values(customData).join(' ');
	};

	const stop = async (id: string) => {
		await pair.n8n.request('POST', `/rest/executions/${id}/stop`);
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.status).toBe('canceled');
		await pause(500);
	};

	/** n8n has nothing to run again, or passes on what was parked. */
	async function expectNoCreationByRetry(id: string) {
		const before = countCreations();
		for (const loadWorkflow of [false, true])
			await pair.n8n
				.request('POST', `/rest/executions/${id}/retry`, { loadWorkflow })
				.catch(() => undefined);
		expect(countCreations()).toBe(before);
	}

	it('names its tasks in its data and in the log: while polling', async () => {
		pair.service.set({ taskSeconds: 60 });
		const id = await start([prompts('one', 'two'), edit({ waitFor: 'polling' })]);
		await waitForTasks(2);
		await pause(200);
		await stop(id);
		for (const taskId of listIds()) {
			expect(await readCustomData(id)).toContain(taskId);
			expect(pair.n8n.readLog()).toContain(`created task ${taskId}`);
		}
		await expectNoCreationByRetry(id);
	});

	it('creates nothing more, and names in the log the task whose creation was under way', async () => {
		for (const delaySeconds of [0, 1.5])
			pair.service.faultNext({ path: '/api/v1/jobs/createTask', delaySeconds });
		const id = await start([prompts('one', 'two', 'three'), edit({ waitFor: 'polling' })]);
		await waitForTasks(1);
		await pause(500);
		await stop(id);
		await waitForTasks(2);
		await pause(2_000);
		expect(listPrompts()).toEqual(['one', 'two']);
		expect(await readCustomData(id)).toContain(findTask('one')?.taskId);
		for (const taskId of listIds()) expect(pair.n8n.readLog()).toContain(`created task ${taskId}`);
		await expectNoCreationByRetry(id);
	});

	it('names its tasks while it is parked, and passes them on when it is retried', async () => {
		pair.service.set({ faultsFor: () => ({ noCallback: true }) });
		const id = await start([prompts('one', 'two'), edit({ waitFor: 'callback' })]);
		await pair.n8n.waitForExecution(id, { until: ['waiting'] });
		await stop(id);
		const output = (await pair.n8n.getExecution(id)).getItems(NODE);
		expect(output.map(({ taskId }) => taskId)).toEqual(listIds());
		await expectNoCreationByRetry(id);
	});

	it('names its tasks in a later node too', async () => {
		const wait = {
			name: 'Wait',
			type: 'n8n-nodes-base.wait',
			typeVersion: 1.1,
			parameters: { amount: 30, unit: 'seconds' },
		};
		const id = await start([prompts('one'), edit({ operation: 'create' }), wait]);
		await waitForTasks(1);
		await pause(500);
		await stop(id);
		expect(await readCustomData(id)).toContain(listIds()[0]);
		await expectNoCreationByRetry(id);
	});

	it('names its tasks when the timeout of its workflow stops it', async () => {
		pair.service.set({ taskSeconds: 60 });
		const nodes = [prompts('one'), edit({ waitFor: 'polling' })];
		const id = await start(nodes, { executionTimeout: 2 });
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.status).toBe('canceled');
		await pause(500);
		expect(await readCustomData(id)).toContain(listIds()[0]);
		expect(pair.n8n.readLog()).toContain(`created task ${listIds()[0]}`);
	});

	it('names as many of 100 tasks as n8n keeps, and where the others are', async () => {
		pair.service.set({ taskSeconds: 60 });
		const many = Array.from({ length: 100 }, (_, index) => `prompt ${index}`);
		const id = await start([prompts(...many), edit({ waitFor: 'polling' })]);
		await waitForTasks(100);
		await pause(300);
		await stop(id);
		const shown = (await readCustomData(id)).match(/[0-9a-f]{32}/g) ?? [];
		expect(shown.length).toBeGreaterThanOrEqual(35);
		expect(await readCustomData(id)).toContain(`${100 - shown.length}, named in the log`);
		for (const taskId of listIds()) expect(pair.n8n.readLog()).toContain(taskId);
	});
});

describe('an execution that failed, retried from the executions list', () => {
	it.each([
		['the workflow as it was', false],
		['the workflow as it is saved now', true],
	])('keeps the tasks of the same requests, with %s', async (_, loadWorkflow) => {
		const parameters = { operation: 'createAndWait', waitFor: 'callback', seed: 7 };
		const workflow = chain('Retried', [prompts('one', '#status=422', 'three'), edit(parameters)]);
		const workflowId = await save(workflow);
		const failed = await pair.n8n.waitForExecution(await pair.n8n.run(workflowId));
		expect(failed.status).toBe('error');
		expect(failed.getError()?.description).toContain(findTask('one')?.taskId);
		const { nodes } = await pair.n8n.getWorkflow(workflowId);
		await pair.n8n.request('PATCH', `/rest/workflows/${workflowId}`, {
			nodes: nodes.map((node) =>
				node.name === NODE
					? {
							...node,
							parameters: {
								...node.parameters,
								prompt: "={{ $json.prompt.replace('#status=422', 'two') }}",
							},
						}
					: node,
			),
		});
		const before = countCreations();
		const retried = await pair.n8n.request<{ id: string }>(
			'POST',
			`/rest/executions/${failed.id}/retry`,
			{ loadWorkflow },
		);
		const execution = await pair.n8n.waitForExecution(retried.id);
		expect(listPrompts().filter((prompt) => prompt === 'one')).toHaveLength(1);
		if (!loadWorkflow) {
			expect(execution.status).toBe('error');
			expect(countCreations()).toBe(before + 1);
			return;
		}
		expect(execution.status).toBe('success');
		expect(listPrompts()).toEqual(['one', 'three', 'two']);
		expect(execution.getItems(NODE)).toMatchObject(
			['one', 'two', 'three'].map((prompt) => ({
				taskId: findTask(prompt)?.taskId,
				status: 'completed',
			})),
		);
	});
});

describe('a part of a workflow, run in the editor', () => {
	it('creates a task for each item that it is given, pinned ones too', async () => {
		const workflow = chain('Part', [prompts('one'), edit({ operation: 'create' })]);
		const workflowId = await save(workflow);
		const whole = await pair.n8n.waitForExecution(await pair.n8n.run(workflowId));
		expect(listPrompts()).toEqual(['one']);
		const runData: IRunData = { ...whole.data.resultData.runData };
		delete runData[NODE];
		const { executionId } = await pair.n8n.request<{ executionId: string }>(
			'POST',
			`/rest/workflows/${workflowId}/run`,
			{
				runData,
				dirtyNodeNames: [NODE],
				destinationNode: { nodeName: NODE, mode: 'inclusive' },
			},
		);
		const part = await pair.n8n.waitForExecution(executionId);
		expect(part.getItems(NODE)).toHaveLength(1);
		expect(listPrompts()).toEqual(['one', 'one']);
		const pinData = { Items: [{ json: { prompt: 'pinned' } }, { json: { prompt: 'pinned' } }] };
		await pair.n8n.waitForExecution(await pair.n8n.run(workflowId, { pinData }));
		expect(listPrompts()).toEqual(['one', 'one', 'pinned', 'pinned']);
	});
});

describe('answers to a creation, under Retry On Fail', () => {
	const RETRY = {
		onError: 'continueRegularOutput',
		retryOnFail: true,
		maxTries: 3,
		waitBetweenTries: 20,
	};

	it('are sent once and told as unknown, unless they are surely refusals', async () => {
		const faults = [408, 409, 499, 302, 307, 500, 503].map(
			(status) => `#status=${status} #created`,
		);
		const execution = await run(prompts(...faults), edit({ operation: 'create' }, RETRY));
		expect(countCreations()).toBe(faults.length);
		expect(execution.getItems(NODE)).toEqual(
			faults.map(() => ({
				error: expect.any(String) as string,
				message: expect.stringContaining('may exist') as string,
			})),
		);
	});

	it('with a task ID are tasks, whatever else they say', async () => {
		const answers = ['#accepted=201', '#accepted=202', '#code=0', '#code=201', '#numericId'];
		const execution = await run(prompts(...answers), edit({ operation: 'create' }, RETRY));
		expect(countCreations()).toBe(answers.length);
		expect(execution.getItems(NODE).map(({ taskId }) => taskId)).toEqual(
			answers.map((prompt) => findTask(prompt)?.taskId),
		);
	});

	it('with code 430 for another reason than the rate are not waited out', async () => {
		pair.service.faultNext({ code: 430, msg: 'could not generate' });
		const begun = Date.now();
		const execution = await run(prompts('one'), edit({ operation: 'create' }, RETRY));
		expect(Date.now() - begun).toBeLessThan(30_000);
		expect(countCreations()).toBe(1);
		expect(execution.getItems(NODE)).toMatchObject([
			{ error: expect.stringContaining('430: could not generate') as string },
		]);
	});
});

describe('a download that stalls', () => {
	const download = async (options: object) => {
		const prompt = '#fileStalls #noCallback';
		const taskId = await createEndedTask(pair.service, { prompt });
		return mediaGeneration({ resource: 'task', operation: 'download', taskId, options });
	};

	it('ends in the time that a request may take', async () => {
		const begun = Date.now();
		const execution = await run(await download({ timeoutSeconds: 2 }));
		expect(execution.getError()?.message).toContain('sent nothing for 2 s');
		expect(Date.now() - begun).toBeLessThan(30_000);
	});

	it('ends when the execution is stopped', async () => {
		const id = await start([await download({ timeoutSeconds: 60 })]);
		await pause(1_000);
		await pair.n8n.request('POST', `/rest/executions/${id}/stop`);
		expect((await pair.n8n.waitForExecution(id)).status).toBe('canceled');
		// The driver's process is asked to end gracefully after the tests: a request under way would hold it up.
	});

	it('asks the service for links, also when its item looks like a task', async () => {
		const taskId = await createEndedTask(pair.service);
		const link = `${pair.service.url}/internal`;
		const fake = {
			taskId,
			status: 'completed',
			resultUrls: [link],
			result: { resultUrls: [link] },
		};
		const node = mediaGeneration({ resource: 'task', operation: 'download', taskId });
		const execution = await run(items([fake]), node);
		expect(execution.getItems(NODE)).toMatchObject([{ taskId, file: { kind: 'result' } }]);
		expect(pair.service.requests.some(({ path }) => path === '/internal')).toBe(false);
	});
});

describe("n8n's HTTP Request node with our credential", () => {
	// The oldest n8n that the package works with has none newer than 4.4.
	const newest = process.env.MEDIA_GENERATION_N8N === 'oldest' ? [] : [4.5];
	it.each([3, 4, 4.1, 4.2, 4.3, 4.4, ...newest])(
		'version %d sends the token on to no other origin',
		async (typeVersion) => {
			const { url, resultsUrl, leaks } = pair.service;
			leaks.length = 0;
			pair.service.faultNext({ location: `${resultsUrl}/sample.png` });
			const execution = await run({
				name: 'Request',
				type: 'n8n-nodes-base.httpRequest',
				typeVersion,
				parameters: {
					url: `${url}/api/v1/chat/credit`,
					authentication: 'predefinedCredentialType',
					nodeCredentialType: CREDENTIAL_TYPE,
					options: { redirect: { redirect: { followRedirects: true, maxRedirects: 5 } } },
				},
				credentials: { [CREDENTIAL_TYPE]: {} },
			});
			expect(pair.service.requests).toHaveLength(1);
			expect(execution.status).toBe('success');
			expect(leaks).toEqual([]);
		},
	);
});

describe('a trigger whose switch is set by an expression or a workflow file', () => {
	it.each(["={{ '' }}", '={{ 0 }}', '={{ undefined }}', '', 0, null])(
		'still verifies the signature with %j',
		async (value) => {
			const id = await save(triggered({ verifySignature: value }));
			await pair.n8n.activate(id);
			const url = await pair.n8n.getProductionWebhookUrl(id);
			const taskId = await createEndedTask(pair.service);
			const unsigned = await pair.service.callback(taskId, { url, secret: '' });
			expect(unsigned.status).toBe(401);
			await sendCallback(pair.service, url, taskId);
			await pair.n8n.deactivate(id);
		},
	);

	it('still emits an event once, as the service has it, with Options that are blank', async () => {
		const options = { deduplicate: '', fetchDetails: 0, toleranceSeconds: '' };
		const id = await save(triggered({ options }));
		await pair.n8n.activate(id);
		const url = await pair.n8n.getProductionWebhookUrl(id);
		const taskId = await createEndedTask(pair.service);
		for (let copy = 0; copy < 3; copy++) await sendCallback(pair.service, url, taskId);
		const executions = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		await pause(500);
		expect(await pair.n8n.listExecutions({ workflowId: id })).toHaveLength(1);
		expect(executions[0]?.getItems('Trigger')).toMatchObject([
			{ taskId, status: 'completed', verification: { details: 'fetched' } },
		]);
		await pair.n8n.deactivate(id);
	});
});

describe('a credential with expressions', () => {
	it('charges each item to its own account, and polls instead of sleeping', async () => {
		const other = await startService({ token: 'other-token', taskSeconds: 0.5 });
		try {
			const credential = await pair.n8n.createCredential({
				name: 'By item',
				type: CREDENTIAL_TYPE,
				data: buildCredentialData(pair.service, {
					baseUrl: '={{ $json.url }}',
					accessToken: '={{ $json.token }}',
				}),
			});
			const inputs = [
				{ url: pair.service.url, token: TOKEN, prompt: 'one' },
				{ url: other.url, token: 'other-token', prompt: 'two' },
			];
			const workflow = chain('Accounts', [items(inputs), edit({ waitFor: 'callback' })]);
			const { id } = await pair.n8n.importWorkflow(workflow, {
				credentials: { [CREDENTIAL_TYPE]: credential },
			});
			const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id));
			expect(listPrompts()).toEqual(['one']);
			expect([...other.tasks.values()].map(({ input }) => input.prompt)).toEqual(['two']);
			expect(execution.getItems(NODE).map(({ status }) => status)).toEqual([
				'completed',
				'completed',
			]);
			expect(execution.getRuns(NODE)[0]?.hints?.[0]?.message).toContain(
				'polled instead of waiting',
			);
		} finally {
			await other.close();
		}
	});
});

describe('a sender that hangs up early', () => {
	it('starts the workflow all the same, once, and holds up no other event', async () => {
		const id = await save(triggered());
		await pair.n8n.activate(id);
		const url = await pair.n8n.getProductionWebhookUrl(id);
		const taskIds = await Promise.all([1, 2, 3].map(() => createEndedTask(pair.service)));
		for (const taskId of taskIds.slice(0, 2)) {
			pair.service.faultNext({ path: DETAILS, delaySeconds: 0.5 });
			const timestamp = Math.floor(Date.now() / 1000);
			const sender = new AbortController();
			const sent = fetch(url, {
				method: 'POST',
				headers: {
					'content-type': 'application/json',
					'x-webhook-timestamp': String(timestamp),
					'x-webhook-signature': pair.service.sign(taskId, timestamp),
				},
				body: JSON.stringify({ data: { task_id: taskId } }),
				signal: sender.signal,
			});
			const asked = countDetails();
			await poll(async () => countDetails() > asked, { timeout: 20_000, what: 'a request for it' });
			sender.abort();
			await expect(sent).rejects.toThrow('aborted');
		}
		await pair.n8n.waitForExecutions({ workflowId: id, count: 2 });
		const milliseconds = await sendCallback(pair.service, url, String(taskIds[2]));
		// What a response holds up would wait a minute.
		expect(milliseconds).toBeLessThan(15_000);
		for (const taskId of taskIds) await sendCallback(pair.service, url, taskId);
		const executions = await pair.n8n.waitForExecutions({ workflowId: id, count: 3 });
		expect(executions.map((execution) => execution.getItems('Trigger')[0]?.taskId).sort()).toEqual(
			[...taskIds].sort(),
		);
		await pair.n8n.deactivate(id);
	});
});

describe('a large batch whose tasks ended without a callback', () => {
	async function parkBatch(count: number) {
		pair.service.set({ faultsFor: () => ({ noCallback: true, slow: 5 }) });
		const inputs = Array.from({ length: count }, (_, index) => `prompt ${index}`);
		const options = { tasksPer10Seconds: 0, concurrency: 50 };
		const id = await start([prompts(...inputs), edit({ waitFor: 'callback', options })]);
		await pair.n8n.waitForExecution(id, { until: ['waiting'] });
		for (const taskId of listIds()) await pair.service.waitForTask(taskId);
		for (let request = 0; request < 3 * count; request++)
			pair.service.faultNext({ path: DETAILS, delaySeconds: 0.15 });
		return id;
	}

	it('goes on by one callback, within the time that a sender waits', async () => {
		const id = await parkBatch(300);
		const begun = Date.now();
		const { body } = await pair.service.callback(String(listIds().at(-1)));
		expect(JSON.parse(body)).toEqual({ accepted: true, resumed: true });
		// One after the other, the requests for the tasks take 45 seconds.
		expect(Date.now() - begun).toBeLessThan(15_000);
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.getItems(NODE).filter(({ status }) => status === 'completed')).toHaveLength(
			300,
		);
	});

	it('answers each of many callbacks that come together, the first ones while it still asks for tasks', async () => {
		const id = await parkBatch(100);
		let detailsAtFirst: number | undefined;
		const answers = await Promise.all(
			listIds().map(async (taskId) => {
				const { status, body } = await pair.service.callback(taskId);
				detailsAtFirst ??= countDetails();
				return { status, ...(JSON.parse(body) as { resumed?: boolean }) };
			}),
		);
		expect(answers.filter(({ resumed }) => resumed)).toHaveLength(1);
		// n8n itself answers 409 to those that it reads after the execution went on.
		expect(answers.every(({ status }) => [200, 409].includes(status))).toBe(true);
		expect(detailsAtFirst).toBeLessThan(countDetails());
		expect((await pair.n8n.waitForExecution(id)).getItems(NODE)).toHaveLength(100);
	});
});

describe('n8n killed in each phase', () => {
	it('creates nothing again, names every task in the log, and goes on with what is parked', async () => {
		const parked = await start([prompts('parked'), edit({ waitFor: 'callback' })]);
		pair.service.set({ faultsFor: () => ({ noCallback: true }) });
		await pair.n8n.waitForExecution(parked, { until: ['waiting'] }).catch(() => undefined);
		const waiting = await start([prompts('waiting'), edit({ waitFor: 'callback' })]);
		await pair.n8n.waitForExecution(waiting, { until: ['waiting'] });
		pair.service.set({ taskSeconds: 60 });
		await start([prompts('polling'), edit({ waitFor: 'polling' })]);
		await waitForTasks(3);
		await start([prompts('first', '#hang #created'), edit({ operation: 'create' })]);
		await waitForTasks(5);
		await pause(300);
		const before = countCreations();
		await pair.n8n.kill();
		await pair.n8n.restart();
		await pause(2_000);
		expect(countCreations()).toBe(before);
		for (const { taskId, input } of pair.service.tasks.values())
			if (input.prompt !== '#hang #created')
				expect(pair.n8n.readLog()).toContain(`created task ${taskId}`);
		const callback = await pair.service.callback(String(findTask('waiting')?.taskId));
		expect(callback.status).toBe(200);
		expect((await pair.n8n.waitForExecution(waiting)).getItems(NODE)).toMatchObject([
			{ taskId: findTask('waiting')?.taskId, status: 'completed' },
		]);
	}, 180_000);
});
