import { expect } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import type { INodeExecutionData } from 'n8n-workflow';
import {
	callWorkflow,
	chain,
	connect,
	generate,
	editSample,
	NODE_TYPE,
	numberTexts,
	buildPrompts,
	WHEN_CALLED,
} from '../../dev/fixtures/workflows.cts';
import { evaluate } from '../../dev/n8n/inspect.cts';
import { poll } from '../../dev/n8n/wait.cts';
import { CREATE_PATH, isOldest, readHints, usePair } from './support.cts';

const pair = usePair({
	service: { taskSeconds: 0.5, credits: 1e9, callbackRetrySeconds: [0.2, 0.4, 0.8, 1.6, 3.2] },
});

/** Builds our node with a seed that changes each time that n8n evaluates it. */
const edit = (options: object = {}, node?: object) => {
	const seed = '={{ Math.floor(Math.random() * 1e9) }}';
	const all = { concurrency: 1, ...options };
	return editSample(pair.service.filesUrl, { seed, options: all }, node);
};

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

	const waitForCount = async (count: number) =>
		await poll(() => pair.service.tasks.size >= count, { what: `${count} tasks` });

	/** n8n stores custom data a moment after the execution has ended. */
	async function expectNamed(id: string, [taskId = '']: string[]) {
		const isNamed = async () => (await readCustomData(id)).includes(taskId);
		await poll(isNamed, { what: 'the ID in the custom data' });
		for (const one of pair.listIds()) expect(pair.n8n.readLog()).toContain(`created task ${one}`);
	}

	it('while it polls for 60 tasks, names as many as n8n keeps, and all in the log', async () => {
		pair.service.set({ taskSeconds: 60 });
		const id = await pair.start(buildPrompts(numberTexts(60)), edit({ howToWait: 'polling' }));
		await waitForCount(60);
		await pause(200);
		await stop(id);
		await expectNamed(id, pair.listIds());
		const shown = (await readCustomData(id)).match(/[0-9a-f]{32}/g) ?? [];
		expect(shown.length).toBeGreaterThanOrEqual(7);
	});

	it('creates nothing more, and names in the log the task whose creation was under way', async () => {
		for (const delaySeconds of [0, 1.5]) pair.service.addFault({ path: CREATE_PATH, delaySeconds });
		const id = await pair.start(
			buildPrompts(['one', 'two', 'three']),
			edit({ howToWait: 'polling' }),
		);
		await waitForCount(1);
		await pause(500);
		await stop(id);
		await waitForCount(2);
		await pause(1_000);
		expect(pair.listPrompts()).toEqual(['one', 'two']);
		await expectNamed(id, [pair.findId('one')]);
	});
});

/** n8n's timeout, in seconds. */
const TIMEOUT = 8;

interface ExecutedNode {
	status: 'success' | 'error';
	output?: INodeExecutionData[][];
	error?: { message: string };
}

/** Has the service of n8n's AI assistant execute our node alone, as its tool `nodes` does it. */
async function executeNode(parameters: Record<string, unknown>, texts: string[]) {
	const node = generate(parameters);
	const { id, name } = pair.credential;
	const request = {
		type: NODE_TYPE,
		version: node.typeVersion,
		config: { parameters: node.parameters, credentials: { mediaGenerationApi: { id, name } } },
		input: texts.map((prompt) => ({ json: { prompt } })),
		timeoutMs: TIMEOUT * 1_000,
	};
	return await evaluate<ExecutedNode>(
		pair.n8n,
		`{
			const { Container } = load('@n8n/di');
			const { ProjectRepository, UserRepository } = load('@n8n/db');
			const { ExecuteNodeService } = load('./node-execution/execute-node.service');
			const user = await Container.get(UserRepository).findOneOrFail({
				where: { email: ${JSON.stringify(pair.n8n.owner.email)} },
				relations: ['role'],
			});
			const project = await Container.get(ProjectRepository).getPersonalProjectForUserOrFail(user.id);
			return await Container.get(ExecuteNodeService).run(user, {
				...${JSON.stringify(request)},
				projectId: project.id,
			});
		}`,
	);
}

// n8n has this service since 2.41. The oldest n8n hasn't.
(isOldest ? it.skip : it)(
	'"Execute node" of n8n outputs before its timeout the tasks that have ended, and the ID of a task that has not, whatever How to Wait says',
	async () => {
		const execute = async (howToWait: string) => {
			const ended = `${howToWait} ends`;
			const endless = `${howToWait} #neverEnds`;
			const { status, output, error } = await executeNode({ options: { howToWait } }, [
				ended,
				endless,
			]);
			expect(error).toBeUndefined();
			expect(status).toBe('success');
			const note = expect.stringMatching(/taskId.*Get/);
			expect(output?.[0]?.map(({ json }) => json)).toMatchObject([
				...pair.listCompleted(ended),
				{ taskId: pair.findId(endless), status: 'timedOut', note },
			]);
		};
		await Promise.all([execute('callback'), execute('polling')]);
		expect(pair.listTasks().filter(({ callBackUrl }) => callBackUrl)).toEqual([]);
	},
);

it('outputs the IDs before the timeout of the workflow that called it', async () => {
	const anyInput = '{ "prompt": "#neverEnds" }';
	const inner = connect('Called', [
		WHEN_CALLED,
		generate({ anyInput, options: { failedTasks: 'output' } }),
	]);
	const { id } = await pair.activate(inner);
	const workflow = chain('With a timeout', [callWorkflow(id)]);
	workflow.settings = { ...workflow.settings, executionTimeout: TIMEOUT };
	const execution = await pair.run(workflow);
	expect(execution.status).toBe('success');
	expect(execution.getItems('Call')).toMatchObject([
		{ taskId: pair.findId('#neverEnds'), status: 'timedOut' },
	]);
	const [called] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
	expect(readHints(called)).toContainEqual(expect.stringContaining("'Timeout Workflow'"));
});

it("before the workflow's timeout, the node creates no further task, and outputs what there is", async () => {
	const LATE = 'late #delay=30';
	// Not all tasks are created before the last moment for a creation.
	const options = { tasksPer10Seconds: 5, howToWait: 'polling', failedTasks: 'output' };
	const node = generate({ options }, { onError: 'continueRegularOutput' });
	const workflow = chain('With a timeout', [buildPrompts([LATE, ...numberTexts(11)]), node]);
	workflow.settings = { ...workflow.settings, executionTimeout: 16 };
	const execution = await pair.run(workflow);
	expect(execution.status).toBe('success');
	const [late, ...others] = execution.getItems<{ taskId?: string; error?: string }>(node.name);
	expect(late).toMatchObject({
		error: expect.stringContaining('so long to create the task that n8n would have ended'),
		message: expect.stringContaining('may exist'),
	});
	const created = others.flatMap(({ taskId }) => taskId ?? []);
	expect(created).not.toEqual([]);
	expect([pair.findId(LATE), ...created].sort()).toEqual(pair.listIds().sort());
	const unsent = others.filter(({ error }) => error?.includes("before n8n's timeout"));
	expect(unsent).toHaveLength(11 - created.length);
	expect(unsent).not.toEqual([]);
});
