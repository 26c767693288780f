import fs from 'node:fs';
import path from 'node:path';
import fastify from 'fastify';
import {
	createEndedTask,
	createTask,
	isFromStart,
	parseAnswer,
	postJson,
	runConcurrently,
} from '../../dev/fixtures/callbacks.cts';
import { serveTool } from '../../dev/fixtures/mcp.cts';
import { startPair, type Pair } from '../../dev/fixtures/pair.cts';
import { buildResultBytes } from '../../dev/fixtures/results.cts';
import { startScriptedModel } from '../../dev/fixtures/scriptedModel.cts';
import {
	connect,
	editSample,
	generate,
	buildHttpRequest,
	buildMediaGeneration,
	NODE,
	numberTexts,
	setJson,
	SPLIT_ITEMS,
	buildTriggered,
	buildWebhook,
} from '../../dev/fixtures/workflows.cts';
import type { N8nProcess } from '../../dev/n8n/process.cts';
import { startQueueN8n } from '../../dev/n8n/queue.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { openFolder } from '../../dev/pack.cts';
import type { Service } from '../../dev/service/index.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';

const MINUTE = 60_000;
const isUnderway = ({ status }: { status: string }) =>
	['new', 'running', 'waiting'].includes(status);

/** By default n8n notices after a minute and a half that a worker is gone, and after three hours that its caller is gone. */
const NOTICE_SOON = {
	N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '0.5',
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '5000',
};

/** The processes of n8n note each isolate for expressions in a file of this folder. */
const isolates = openFolder();
const isolatesFile = path.join(isolates.path, 'isolates');

let service: Service;
let queue: Awaited<ReturnType<typeof startQueueN8n>>;
let pair: Pair;
/** Notes the tasks that a workflow has used, outside of n8n. */
const recorder = fastify();
const used: string[] = [];
let noteIt: WorkflowNode;

beforeAll(async () => {
	recorder.get<{ Params: { taskId: string } }>('/:taskId', ({ params }) => {
		used.push(params.taskId);
		return {};
	});
	const recorderUrl = await recorder.listen({ host: '127.0.0.1', port: 0 });
	noteIt = buildHttpRequest({ url: `=${recorderUrl}/{{ $json.taskId }}` }, { name: 'Note it' });
	queue = await startQueueN8n({
		tarball: String(process.env.MEDIA_GENERATION_TARBALL),
		// Isolates are made only when an expression needs one, as docs/running-n8n.md advises.
		env: {
			N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
			DB_POSTGRESDB_POOL_SIZE: '10',
			NODE_OPTIONS: `--require ${path.resolve('dev/fixtures/countIsolates.cjs')}`,
			ISOLATES_FILE: isolatesFile,
			...NOTICE_SOON,
		},
	});
	const settings = { credits: 1e6, callbackRetrySeconds: [1, 2, 4, 8, 8, 8, 8, 8, 8] };
	pair = await startPair({ service: settings, n8n: queue.n8n });
	({ service } = pair);
	answered = callServer();
	// The promise is awaited in its test.
	answered.catch(() => {});
	await poll(() => service.tasks.size > 0, { what: 'the task of a client' });
});

afterAll(async () => {
	await recorder.close();
	await queue?.stop();
	await service?.close();
	isolates[Symbol.dispose]();
});

const ASKED = 'asked #neverEnds';

/** Calls our node by an MCP server. The answer takes long, so other tests run meanwhile. */
async function callServer() {
	await using model = await startScriptedModel();
	const prompt = "={{ $fromAI('Prompt', 'What to make', 'string') }}";
	const node = editSample(service.filesUrl, { prompt, options: {} });
	const ai_tool = { ...node, type: `${node.type}Tool` };
	// A client talks to one process.
	const url = String(queue.webhooks[0]?.url);
	await using server = await serveTool(pair, url, [{ ai_tool }], model);
	return await server.call(ASKED);
}

let answered: ReturnType<typeof callServer>;

/** Activates a workflow that runs in a worker, and calls it this many times with an item for each prompt. */
async function start(prompts: string[], nodes: WorkflowNode[], times = 1) {
	const { id, url } = await pair.activate(
		connect('Called', [buildWebhook(), SPLIT_ITEMS, ...nodes]),
	);
	const items = prompts.map((prompt) => ({ prompt }));
	for (let call = 0; call < times; call++)
		expect((await postJson(url, { items })).status).toBe(200);
	return id;
}

/** Returns a function that returns the IDs of the tasks that were created since now. */
function followTasks() {
	const { size } = service.tasks;
	return () => [...service.tasks.keys()].slice(size);
}

/**
 * Reads the executions of a workflow from the database. n8n's own list sorts by start and cuts its pages by ID, so it leaves out
 * what one of several workers started late.
 */
function listExecutions(workflowId: string) {
	const rows = queue.query(
		`select id, status from execution_entity where "workflowId" = '${workflowId}' and "deletedAt" is null order by id`,
	);
	return [...rows.matchAll(/^(.+)\|(.+)$/gm)].map(([, id = '', status = '']) => ({ id, status }));
}

type Executions = ReturnType<typeof listExecutions>;

/** Waits until the executions of a workflow are as a test expects, and returns them. */
async function waitFor(workflowId: string, what: string, isDone: (all: Executions) => boolean) {
	let last: Executions = [];
	const find = () => {
		last = listExecutions(workflowId);
		return isDone(last) ? last : undefined;
	};
	return await poll(find, { what, details: () => JSON.stringify(last) });
}

/** Returns all executions of a workflow, once there are this many and all have ended. */
const waitForAll = async (workflowId: string, count: number) =>
	await waitFor(workflowId, `${count} executions of ${workflowId}`, (all) => {
		return all.length >= count && !all.some(isUnderway);
	});

const waitForSleep = async (workflowId: string, count: number) =>
	await waitFor(workflowId, `${count} executions to sleep`, (all) => {
		return all.filter(({ status }) => status === 'waiting').length === count;
	});

/** Waits for the only execution of a workflow, which has not failed. */
async function waitForOne(workflowId: string) {
	const [ended] = await waitForAll(workflowId, 1);
	const execution = await queue.n8n.getExecution(String(ended?.id));
	expect(execution.getError()).toBeUndefined();
	return execution;
}

/** Returns the output of a node in all these executions. */
async function getItems(executions: Executions, node: string) {
	const load = async ({ id }: { id: string }) => await queue.n8n.getExecution(id);
	const loaded = await runConcurrently(executions, 4, load);
	return loaded.flatMap((execution) => execution.getItems<Task & { reference: string }>(node));
}

const readPrompt = (taskId: string) => String(service.tasks.get(taskId)?.input.prompt);

const getIds = (tasks: Task[]) => tasks.map(({ taskId }) => taskId);

/** Counts the processes that took executions on, by what they log then. */
const countBusy = (processes: N8nProcess[], words: string) =>
	processes.filter((one) => one.readLog().includes(words)).length;

describe('queue mode', () => {
	it('starts a workflow once for each task, with its reference, in several processes', async () => {
		service.set({ taskSeconds: 1, faultsFor: () => ({ callbackTwice: true }) });
		const { id, url: callBackUrl } = await pair.activateTrigger();
		const listCreated = followTasks();
		const parameters = {
			operation: 'start',
			callbackUrl: `=${callBackUrl}?task={{ $itemIndex }}`,
			options: { reference: '={{ $json.prompt }}' },
		};
		await waitForOne(await start(numberTexts(16), [generate(parameters)]));
		const tasks = listCreated();
		await service.waitUntilIdle();
		for (const taskId of tasks)
			expect(service.tasks.get(taskId)?.callbacks.length).toBeGreaterThanOrEqual(2);
		const executions = await waitForAll(id, tasks.length);
		expect(executions.map(({ status }) => status)).toEqual(tasks.map(() => 'success'));
		const output = await getItems(executions, 'Trigger');
		expect(getIds(output).sort()).toEqual(tasks.sort());
		for (const { taskId, reference } of output) expect(reference).toBe(readPrompt(taskId));
		expect(output[0]).toMatchObject({
			status: 'completed',
			verification: { signature: 'current', details: 'fetched' },
		});
		expect(countBusy(queue.webhooks, 'Enqueued execution')).toBe(2);
		expect(countBusy(queue.workers, 'Worker started execution')).toBe(2);

		const copied = await createEndedTask(service);
		const answers = [];
		for (const webhook of queue.webhooks) {
			const url = callBackUrl.replace(queue.address, webhook.url);
			answers.push(parseAnswer((await service.sendCallback(copied, { url })).body));
		}
		expect(answers).toEqual([
			{ accepted: true, emitted: true },
			{ accepted: true, emitted: false, reason: 'duplicate' },
		]);
	});

	it('lets an execution sleep and wakes it without any isolate for expressions', async () => {
		service.set({ taskSeconds: 2, faultsFor: () => ({}) });
		const countIn = async (...nodes: WorkflowNode[]) => {
			const { id, url } = await pair.activate(connect('Isolates', [buildWebhook(), ...nodes]));
			const count = () =>
				fs.readFileSync(isolatesFile, { encoding: 'utf8', flag: 'a+' }).split('\n').length;
			const before = count();
			await postJson(url, {});
			await waitForOne(id);
			return count() - before;
		};
		const listCreated = followTasks();
		const anyInput = JSON.stringify({ prompt: 'isolates' });
		expect(await countIn(generate({ anyInput, options: { howToWait: 'callback' } }))).toBe(0);
		const [taskId = ''] = listCreated();
		expect(service.tasks.get(taskId)?.callbacks.at(-1)?.status).toBe(200);
		expect(await countIn(setJson('Set', '{ sum: 1 + 1 }'))).toBeGreaterThan(0);
	});

	it('answers a client of an MCP server before it gives up', async () => {
		const { said, seconds } = await answered;
		expect(seconds).toBeLessThan(46);
		const [task, ...others] = pair.listTasks().filter(({ input }) => input.prompt === ASKED);
		expect(others).toEqual([]);
		expect(said).toContain(task?.taskId);
		expect(said).toContain('use the operation Wait');
	});

	it('brings the files of a batch whose callbacks reach both webhook processes, and uploads them in a worker', async () => {
		const SIZE = 0.3;
		service.set({ faultsFor: () => ({ noCallback: true, files: 2, fileSize: SIZE }) });
		const prompts = [...numberTexts(5, 'file #slow=1'), 'last #neverEnds'];
		const listCreated = followTasks();
		const upload = buildMediaGeneration(
			{ resource: 'file', operation: 'upload' },
			{ name: 'Upload' },
		);
		const id = await start(prompts, [generate({ options: { downloadResults: true } }), upload]);
		await waitForSleep(id, 1);
		const tasks = listCreated().flatMap((taskId) => service.tasks.get(taskId) ?? []);
		const send = async ({ taskId, callBackUrl }: (typeof tasks)[number], number: number) => {
			const url = String(callBackUrl).replace(queue.address, String(queue.webhooks[number]?.url));
			return parseAnswer((await service.sendCallback(taskId, { url })).body);
		};
		const accepted = { accepted: true, resumed: false };
		const last = tasks.find(({ faults }) => faults.neverEnds);
		if (!last) throw new Error('There is no last task');
		for (const [index, task] of tasks.filter((task) => task !== last).entries()) {
			await service.waitForTask(task.taskId);
			expect(await send(task, index % 2)).toEqual(accepted);
		}
		await pair.endTask(last);
		const answers = await Promise.all([send(last, 0), send(last, 1)]);
		// n8n lets one process wake the execution.
		const woken = { accepted: true, resumed: true };
		expect(answers.filter(({ resumed }) => resumed)).toEqual([woken]);

		const execution = await waitForOne(id);
		expect(execution.data.resultData.metadata).toMatchObject({
			Media_Generation_credits: String(tasks.length * last.creditsConsumed),
		});
		const ids = getIds(execution.getItems<Task>(NODE));
		expect(ids.map(readPrompt)).toEqual(prompts);
		const uploaded = execution.getItems<{ url: string }>('Upload');
		for (const [index, { binary = {} }] of execution.getOutput(NODE).entries()) {
			const expected = [0, 1].map((number) => buildResultBytes(String(ids[index]), number, SIZE));
			expect(Object.keys(binary)).toEqual(['data', 'data_1']);
			for (const [number, file] of Object.values(binary).entries())
				expect((await queue.n8n.readBinary(file)).equals(expected[number] as Buffer)).toBe(true);
			const response = await fetch(String(uploaded[index]?.url));
			expect(Buffer.from(await response.arrayBuffer()).equals(expected[0] as Buffer)).toBe(true);
		}
	});

	it(
		'loses no callback and no batch when a worker, then a webhook process, is killed',
		async () => {
			const events = connect('Events', [...buildTriggered().nodes, noteIt]);
			const { id, url: callBackUrl } = await pair.activate(events);
			service.set({ faultsFor: () => ({ slow: 10, noCallback: true }) });
			const listAsleep = followTasks();
			const batches = await start(numberTexts(4), [generate()], 5);
			await waitForSleep(batches, 5);
			const asleep = listAsleep();
			const tasks = await runConcurrently(numberTexts(40), 10, async (prompt) =>
				createTask(service, prompt, callBackUrl),
			);
			await runConcurrently(tasks, 20, async (taskId) => await service.waitForTask(taskId));

			let done = 0;
			const sending = runConcurrently(tasks, 6, async (taskId) => {
				await deliver(taskId);
				done++;
			});
			const restarts: Array<Promise<void> | undefined> = [];
			for (const [share, [victim]] of [
				[0.3, queue.workers],
				[0.6, queue.webhooks],
			] as const) {
				await poll(() => done > share * tasks.length, { what: 'callbacks to be answered' });
				expect(done).toBeLessThan(tasks.length);
				await victim?.kill();
				restarts.push(victim?.start());
			}
			await Promise.all([sending, ...restarts]);
			// All tasks have ended by now, so one callback of each batch is enough. Looks may have come before it.
			const firsts = asleep.filter((_, index) => index % 4 === 0);
			await runConcurrently(firsts, 2, async (taskId) => await deliver(taskId, [200, 409]));

			const continued = (await waitForAll(batches, 5)).filter(({ status }) => status === 'success');
			// n8n's queue recovery, which runs twice a minute here, may take an execution on its way into the queue for crashed.
			expect(continued.length).toBeGreaterThanOrEqual(4);
			const resumed = await getItems(continued, NODE);
			expect(new Set(getIds(resumed)).size).toBe(4 * continued.length);
			expect(resumed.every(({ status }) => status === 'completed')).toBe(true);
			// The event that the killed webhook process was storing comes again. Executions of the killed worker have failed.
			const executions = await waitForAll(id, tasks.length);
			const died = executions.filter(({ status }) => status !== 'success').length;
			const uses = tasks.map((taskId) => used.filter((one) => one === taskId).length);
			expect(uses.filter((count) => count === 0).length).toBeLessThanOrEqual(died);
			expect(uses.filter((count) => count > 1).length).toBeLessThanOrEqual(1 + died);
		},
		15 * MINUTE,
	);
});

/** Sends the callback of a task until it is answered 200, as the service does. */
async function deliver(taskId: string, answers = [200]): Promise<void> {
	let last = '';
	const send = async () => {
		const { status, body } = await service
			.sendCallback(taskId)
			.catch(({ message }: Error) => ({ status: 0, body: message }));
		last = `${status} ${body}`;
		return answers.includes(status) && !isFromStart(body);
	};
	const what = `the callback of ${taskId} to be answered`;
	await poll(send, { what, details: () => last });
}
