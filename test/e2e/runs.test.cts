import type { IRunData } from 'n8n-workflow';
import { setTimeout as pause } from 'node:timers/promises';
import {
	buildCredentialData,
	CREDENTIAL_TYPE,
	TOKEN,
	type Pair,
} from '../../dev/fixtures/pair.cts';
import {
	chain,
	editSample,
	items,
	loop,
	NODE,
	prompts,
	SEEN,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { startService } from '../../dev/service/index.cts';
import {
	countRequests,
	CREATE,
	findId,
	listIds,
	listPrompts,
	park,
	start,
	usePair,
} from './support.cts';

let pair: Pair;

usePair((started) => (pair = started), {
	service: { taskSeconds: 0.5, credits: 1e9, callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6, 3.2] },
});

/** Our node, with a seed that is another one each time that n8n evaluates it. */
const edit = (parameters: object = {}, node?: object) =>
	editSample(
		pair.service.resultsUrl,
		{
			seed: '={{ Math.floor(Math.random() * 1e9) }}',
			options: { tasksPer10Seconds: 0, concurrency: 1 },
			...parameters,
		},
		node,
	);

const build = (nodes: WorkflowNode[], settings: object = {}) => {
	const workflow = chain('Runs', nodes);
	return { ...workflow, settings: { ...workflow.settings, ...settings } };
};

const countCreations = () => countRequests(pair.service, CREATE);

/** Waits until so many tasks exist. */
const waitForTasks = async (count: number) =>
	await poll(() => pair.service.tasks.size >= count, {
		timeout: 30_000,
		what: `${count} tasks`,
	});

const sendRetry = async (id: string, loadWorkflow: boolean) =>
	await pair.n8n.request<{ id: string }>('POST', `/rest/executions/${id}/retry`, { loadWorkflow });

describe.each(['callback', 'polling'])('by %s', (waitFor) => {
	it('creates one task under Execute Once, and returns it', async () => {
		const once = edit({ waitFor }, { executeOnce: true });
		const execution = await pair.run(build([prompts(['one', 'two']), once, SEEN]));
		expect(execution.status).toBe('success');
		expect(listPrompts(pair.service)).toEqual(['one']);
		const [taskId] = listIds(pair.service);
		expect(execution.getItems(NODE)).toMatchObject([{ taskId, status: 'completed' }]);
		expect(execution.getItems('Seen')).toEqual([{ prompt: 'one', status: 'completed' }]);
	});

	it('waits in two nodes in a row and in a parallel branch, each for its own task', async () => {
		const [first, second, third] = ['first', 'second', 'third'].map((name) =>
			edit({ waitFor, prompt: name }, { id: name, name, position: [0, 0] }),
		) as [WorkflowNode, WorkflowNode, WorkflowNode];
		const workflow = build([prompts(['item']), first, second]);
		workflow.nodes.push(third);
		workflow.connections.Items?.main?.[0]?.push({ node: 'third', type: 'main', index: 0 });
		const execution = await pair.run(workflow);
		expect(execution.status).toBe('success');
		expect(listPrompts(pair.service)).toEqual(['first', 'second', 'third']);
		for (const { name } of [first, second, third])
			expect(execution.getItems(name)).toMatchObject([
				{ taskId: findId(pair.service, name), status: 'completed' },
			]);
	});
});

it('creates a task for each of three equal items of a loop', async () => {
	const execution = await pair.run(loop(prompts(['same', 'same', 'same']), edit({ seed: 7 })));
	expect(listPrompts(pair.service)).toEqual(['same', 'same', 'same']);
	const output = execution.getItems('Loop');
	expect(output.map(({ taskId }) => taskId).sort()).toEqual(listIds(pair.service).sort());
	expect(output.map(({ status }) => status)).toEqual(Array(3).fill('completed'));
});

describe('an execution that is stopped', () => {
	async function readCustomData(id: string) {
		const { customData } = await pair.n8n.request<{ customData: Record<string, string> }>(
			'GET',
			`/rest/executions/${id}`,
		);
		return Object.values(customData).join(' ');
	}

	async function stop(id: string) {
		await pair.n8n.request('POST', `/rest/executions/${id}/stop`);
		expect((await pair.n8n.waitForExecution(id)).status).toBe('canceled');
	}

	/** n8n stores custom data a moment after the execution has ended. */
	async function expectNamed(id: string, [taskId = '']: string[]) {
		await poll(async () => (await readCustomData(id)).includes(taskId), {
			timeout: 5_000,
			what: 'the ID in the custom data',
		});
		for (const one of listIds(pair.service))
			expect(pair.n8n.readLog()).toContain(`created task ${one}`);
	}

	/** n8n has nothing to run again, or passes on what was parked. */
	async function expectNoCreationByRetry(id: string) {
		const before = countCreations();
		for (const loadWorkflow of [false, true])
			await sendRetry(id, loadWorkflow).catch(() => undefined);
		expect(countCreations()).toBe(before);
	}

	it('while it polls for 60 tasks, names as many as n8n keeps, and where the others are', async () => {
		pair.service.set({ taskSeconds: 60 });
		const id = await start(pair, build([prompts(60), edit({ waitFor: 'polling' })]));
		await waitForTasks(60);
		await pause(200);
		await stop(id);
		await expectNamed(id, listIds(pair.service));
		const shown = (await readCustomData(id)).match(/[0-9a-f]{32}/g) ?? [];
		expect(shown.length).toBeGreaterThanOrEqual(35);
		expect(await readCustomData(id)).toContain(`${60 - shown.length}, named in the log`);
		await expectNoCreationByRetry(id);
	});

	it('creates nothing more, and names in the log the task whose creation was under way', async () => {
		for (const delaySeconds of [0, 1.5]) pair.service.faultNext({ path: CREATE, delaySeconds });
		const texts = prompts(['one', 'two', 'three']);
		const id = await start(pair, build([texts, edit({ waitFor: 'polling' })]));
		await waitForTasks(1);
		await pause(500);
		await stop(id);
		await waitForTasks(2);
		await pause(1_000);
		expect(listPrompts(pair.service)).toEqual(['one', 'two']);
		await expectNamed(id, [findId(pair.service, 'one')]);
		await expectNoCreationByRetry(id);
	});

	it('names its tasks while it is parked, and passes them on when it is retried', async () => {
		const texts = prompts(['one #noCallback', 'two #noCallback']);
		const id = await park(pair, build([texts, edit()]));
		await stop(id);
		const output = (await pair.n8n.getExecution(id)).getItems(NODE);
		expect(output.map(({ taskId }) => taskId)).toEqual(listIds(pair.service));
		await expectNoCreationByRetry(id);
	});

	it('names its tasks in a later node too', async () => {
		const wait = {
			name: 'Wait',
			type: 'n8n-nodes-base.wait',
			typeVersion: 1.1,
			parameters: { amount: 30, unit: 'seconds' },
		};
		const nodes = [prompts(['one']), edit({ operation: 'create' }), wait];
		const id = await start(pair, build(nodes));
		await waitForTasks(1);
		await pause(500);
		await stop(id);
		await expectNamed(id, listIds(pair.service));
		await expectNoCreationByRetry(id);
	});

	it('names its tasks when the timeout of its workflow stops it', async () => {
		pair.service.set({ taskSeconds: 60 });
		const nodes = [prompts(['one']), edit({ waitFor: 'polling' })];
		const execution = await pair.run(build(nodes, { executionTimeout: 2 }));
		expect(execution.status).toBe('canceled');
		await expectNamed(execution.id, listIds(pair.service));
	});
});

describe('an execution that failed, retried from the executions list', () => {
	it.each([
		['the workflow as it was', false],
		['the workflow as it is saved now', true],
	])('keeps the tasks of the same requests, with %s', async (_, loadWorkflow) => {
		const texts = prompts(['one', '#status=422', 'three']);
		const { id } = await pair.importWorkflow(build([texts, edit({ seed: 7 })]));
		const failed = await pair.n8n.waitForExecution(await pair.n8n.run(id));
		expect(failed.status).toBe('error');
		expect(failed.getError()?.description).toContain(findId(pair.service, 'one'));
		const { nodes } = await pair.n8n.getWorkflow(id);
		const corrected = JSON.stringify(nodes).replace(
			'{{ $json.prompt }}',
			"{{ $json.prompt.replace('#status=422', 'two') }}",
		);
		await pair.n8n.request('PATCH', `/rest/workflows/${id}`, {
			nodes: JSON.parse(corrected) as object,
		});
		const before = countCreations();
		const retried = await sendRetry(failed.id, loadWorkflow);
		const execution = await pair.n8n.waitForExecution(retried.id);
		expect(execution.status).toBe(loadWorkflow ? 'success' : 'error');
		expect(countCreations()).toBe(before + (loadWorkflow ? 2 : 1));
		expect(listPrompts(pair.service)).toEqual(loadWorkflow ? ['one', 'three', 'two'] : ['one']);
		if (loadWorkflow)
			expect(execution.getItems(NODE)).toMatchObject(
				['one', 'two', 'three'].map((prompt) => ({
					taskId: findId(pair.service, prompt),
					status: 'completed',
				})),
			);
	});
});

it('creates a task for each item that a part of a workflow is given in the editor, pinned ones too', async () => {
	const nodes = [prompts(['one']), edit({ operation: 'create' })];
	const { id } = await pair.importWorkflow(build(nodes));
	const whole = await pair.n8n.waitForExecution(await pair.n8n.run(id));
	expect(listPrompts(pair.service)).toEqual(['one']);
	const runData: IRunData = { ...whole.data.resultData.runData };
	delete runData[NODE];
	const { executionId } = await pair.n8n.request<{ executionId: string }>(
		'POST',
		`/rest/workflows/${id}/run`,
		{
			runData,
			dirtyNodeNames: [NODE],
			destinationNode: { nodeName: NODE, mode: 'inclusive' },
		},
	);
	const part = await pair.n8n.waitForExecution(executionId);
	expect(part.getItems(NODE)).toHaveLength(1);
	expect(listPrompts(pair.service)).toEqual(['one', 'one']);
	const pinData = { Items: [{ json: { prompt: 'pinned' } }, { json: { prompt: 'pinned' } }] };
	await pair.n8n.waitForExecution(await pair.n8n.run(id, { pinData }));
	expect(listPrompts(pair.service)).toEqual(['one', 'one', 'pinned', 'pinned']);
});

it('charges each item to its own account where the credential has expressions, and polls instead of sleeping', async () => {
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
		const accounts = items([
			{ url: pair.service.url, token: TOKEN, prompt: 'one' },
			{ url: other.url, token: 'other-token', prompt: 'two' },
		]);
		const execution = await pair.run(build([accounts, edit()]), { credential });
		expect(listPrompts(pair.service)).toEqual(['one']);
		expect(listPrompts(other)).toEqual(['two']);
		expect(execution.getItems(NODE).map(({ status }) => status)).toEqual([
			'completed',
			'completed',
		]);
		expect(execution.getRuns(NODE)[0]?.hints?.[0]?.message).toContain('polled instead of waiting');
	} finally {
		await other.close();
	}
});
