import { setTimeout as pause } from 'node:timers/promises';
import { TOKEN } from '../../dev/fixtures/pair.cts';
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
import { CREATE, usePair } from './support.cts';

const pair = usePair({
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

const build = (...nodes: WorkflowNode[]) => chain('Runs', nodes);

/** Waits until this number of tasks exist. */
const waitForTasks = async (count: number) =>
	await poll(() => pair.service.tasks.size >= count, { what: `${count} tasks` });

const sendRetry = async (id: string, loadWorkflow: boolean) =>
	await pair.n8n.request<{ id: string }>('POST', `/rest/executions/${id}/retry`, { loadWorkflow });

describe.each(['callback', 'polling'])('by %s', (waitFor) => {
	it('creates one task under Execute Once, and returns it', async () => {
		const once = edit({ waitFor }, { executeOnce: true });
		const execution = await pair.runNodes(prompts(['one', 'two']), once, SEEN);
		expect(execution.status).toBe('success');
		expect(pair.listPrompts()).toEqual(['one']);
		const [taskId] = pair.listIds();
		expect(execution.getItems(NODE)).toMatchObject([{ taskId, status: 'completed' }]);
		expect(execution.getItems('Seen')).toEqual([{ prompt: 'one', status: 'completed' }]);
	});

	it('waits in two nodes in a row and in a parallel branch, each for its own task', async () => {
		const wait = (name: string) =>
			edit({ waitFor, prompt: name }, { id: name, name, position: [0, 0] });
		const workflow = build(prompts(['item']), wait('first'), wait('second'));
		workflow.nodes.push(wait('third'));
		workflow.connections.Items?.main?.[0]?.push({ node: 'third', type: 'main', index: 0 });
		const execution = await pair.run(workflow);
		expect(execution.status).toBe('success');
		const names = ['first', 'second', 'third'];
		expect(pair.listPrompts()).toEqual(names);
		for (const name of names)
			expect(execution.getItems(name)).toMatchObject([
				{ taskId: pair.findId(name), status: 'completed' },
			]);
	});
});

it('creates a task for each of three equal items of a loop', async () => {
	const execution = await pair.run(loop(prompts(['same', 'same', 'same']), edit({ seed: 7 })));
	expect(pair.listPrompts()).toEqual(['same', 'same', 'same']);
	const output = execution.getItems('Loop');
	expect(output.map(({ taskId }) => taskId).sort()).toEqual(pair.listIds().sort());
	expect(output.map(({ status }) => status)).toEqual(Array(3).fill('completed'));
});

describe('an execution that is stopped', () => {
	async function readCustomData(id: string) {
		const path = `/rest/executions/${id}`;
		const { customData } = await pair.n8n.request<{ customData: object }>('GET', path);
		return Object.values(customData).join(' ');
	}

	async function stop(id: string) {
		await pair.n8n.request('POST', `/rest/executions/${id}/stop`);
		expect((await pair.n8n.waitForExecution(id)).status).toBe('canceled');
	}

	/** n8n stores custom data a moment after the execution has ended. */
	async function expectNamed(id: string, [taskId = '']: string[]) {
		await poll(async () => (await readCustomData(id)).includes(taskId), {
			what: 'the ID in the custom data',
		});
		for (const one of pair.listIds()) expect(pair.n8n.readLog()).toContain(`created task ${one}`);
	}

	/** n8n has nothing to run again, or passes on what was parked. */
	async function expectNoCreationByRetry(id: string) {
		const before = pair.countCreations();
		for (const loadWorkflow of [false, true])
			await sendRetry(id, loadWorkflow).catch(() => undefined);
		expect(pair.countCreations()).toBe(before);
	}

	it('while it polls for 60 tasks, names as many as n8n keeps, and all in the log', async () => {
		pair.service.set({ taskSeconds: 60 });
		const id = await pair.start(build(prompts(60), edit({ waitFor: 'polling' })));
		await waitForTasks(60);
		await pause(200);
		await stop(id);
		await expectNamed(id, pair.listIds());
		const shown = (await readCustomData(id)).match(/[0-9a-f]{32}/g) ?? [];
		expect(shown.length).toBeGreaterThanOrEqual(7);
		await expectNoCreationByRetry(id);
	});

	it('creates nothing more, and names in the log the task whose creation was under way', async () => {
		for (const delaySeconds of [0, 1.5]) pair.service.faultNext({ path: CREATE, delaySeconds });
		const texts = prompts(['one', 'two', 'three']);
		const id = await pair.start(build(texts, edit({ waitFor: 'polling' })));
		await waitForTasks(1);
		await pause(500);
		await stop(id);
		await waitForTasks(2);
		await pause(1_000);
		expect(pair.listPrompts()).toEqual(['one', 'two']);
		await expectNamed(id, [pair.findId('one')]);
		await expectNoCreationByRetry(id);
	});

	it('names its tasks while it is parked, and passes them on when it is retried', async () => {
		const texts = prompts(['one #noCallback', 'two #noCallback']);
		const id = await pair.park(build(texts, edit()));
		await stop(id);
		const output = (await pair.n8n.getExecution(id)).getItems(NODE);
		expect(output.map(({ taskId }) => taskId)).toEqual(pair.listIds());
		await expectNoCreationByRetry(id);
	});
});

it('an execution that failed, corrected and retried from the executions list, keeps the tasks of the same requests', async () => {
	const texts = prompts(['one', '#status=422', 'three']);
	const { id } = await pair.importWorkflow(build(texts, edit({ seed: 7 })));
	const failed = await pair.runSaved(id);
	expect(failed.status).toBe('error');
	expect(failed.getError()?.description).toContain(pair.findId('one'));
	const { nodes } = await pair.n8n.getWorkflow(id);
	const corrected = JSON.stringify(nodes).replace(
		'{{ $json.prompt }}',
		"{{ $json.prompt.replace('#status=422', 'two') }}",
	);
	await pair.n8n.request('PATCH', `/rest/workflows/${id}`, {
		nodes: JSON.parse(corrected) as object,
	});
	const before = pair.countCreations();
	const retried = await sendRetry(failed.id, true);
	const execution = await pair.n8n.waitForExecution(retried.id);
	expect(execution.status).toBe('success');
	expect(pair.countCreations()).toBe(before + 2);
	expect(pair.listPrompts()).toEqual(['one', 'three', 'two']);
	expect(execution.getItems(NODE)).toMatchObject(
		['one', 'two', 'three'].map((prompt) => ({
			taskId: pair.findId(prompt),
			status: 'completed',
		})),
	);
});

it('creates a task for each item that a part of a workflow is given in the editor, pinned ones too', async () => {
	const create = edit({ operation: 'create' });
	const { id } = await pair.importWorkflow(build(prompts(['one']), create));
	const whole = await pair.runSaved(id);
	expect(pair.listPrompts()).toEqual(['one']);
	const url = `/rest/workflows/${id}/run`;
	const { executionId } = await pair.n8n.request<{ executionId: string }>('POST', url, {
		runData: { ...whole.data.resultData.runData, [NODE]: undefined },
		dirtyNodeNames: [NODE],
		destinationNode: { nodeName: NODE, mode: 'inclusive' },
	});
	const part = await pair.n8n.waitForExecution(executionId);
	expect(part.getItems(NODE)).toHaveLength(1);
	expect(pair.listPrompts()).toEqual(['one', 'one']);
	const pinData = { Items: [{ json: { prompt: 'pinned' } }, { json: { prompt: 'pinned' } }] };
	await pair.runSaved(id, { pinData });
	expect(pair.listPrompts()).toEqual(['one', 'one', 'pinned', 'pinned']);
});

it('charges each item to its own account where the credential has expressions, and polls instead of sleeping', async () => {
	const other = await startService({ token: 'other-token', taskSeconds: 0.5 });
	try {
		const byItem = { baseUrl: '={{ $json.url }}', accessToken: '={{ $json.token }}' };
		const credential = await pair.createCredential(byItem);
		const accounts = items([
			{ url: pair.service.url, token: TOKEN, prompt: 'one' },
			{ url: other.url, token: 'other-token', prompt: 'two' },
		]);
		for (const node of [edit(), edit({}, { executeOnce: true })]) {
			const execution = await pair.run(build(accounts, node), { credential });
			for (const item of execution.getItems(NODE)) expect(item.status).toBe('completed');
			expect(execution.getRuns(NODE)[0]?.hints?.[0]?.message).toContain(
				'The node polled: the credential',
			);
		}
		expect(pair.listPrompts()).toEqual(['one', 'one']);
		expect([...other.tasks.values()]).toMatchObject([{ input: { prompt: 'two' } }]);
	} finally {
		await other.close();
	}
});
