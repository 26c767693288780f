const { randomUUID } = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { startQueueN8n } = require('../../dev/n8n/queue.cts');
const { poll } = require('../../dev/n8n/wait.cts');
const { startService } = require('../../dev/service');
const {
	CREDENTIAL_TYPE,
	buildCredentialData,
	WEBHOOK_SECRET,
} = require('../../dev/fixtures/pair.cts');
const { runConcurrently, createEndedTask, postJson } = require('../../dev/fixtures/callbacks.cts');
const { chain, mediaGeneration, triggered } = require('../../dev/fixtures/workflows.cts');

/** @typedef {import('../../dev/n8n/workflow.cts').Workflow} Workflow */
/** @typedef {import('../../dev/n8n/process.cts').N8nProcess} N8nProcess */

const MINUTE = 60_000;
const OPEN = ['new', 'running', 'waiting'];

/** By default n8n notices after a minute and a half that a worker is gone, and after three hours that who called it is, too. */
const NOTICE_SOON = {
	N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '0.5',
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '5000',
};

/** @type {Awaited<ReturnType<typeof startService>>} */
let service;
/** @type {Awaited<ReturnType<typeof startQueueN8n>>} */
let queue;
/** @type {{ credentials: Record<string, import('../../dev/n8n/n8n.cts').Credential> }} */
let credentials;

beforeAll(async () => {
	service = await startService({
		webhookSecret: WEBHOOK_SECRET,
		credits: 1e6,
		callbackRetrySeconds: [1, 2, 4, 8, 8, 8, 8, 8, 8],
	});
	queue = await startQueueN8n({
		tarball: String(process.env.MEDIA_GENERATION_TARBALL),
		env: { DB_POSTGRESDB_POOL_SIZE: '10', ...NOTICE_SOON },
	});
	const credential = await queue.n8n.createCredential({
		name: 'Media Generation',
		type: CREDENTIAL_TYPE,
		data: buildCredentialData(service),
	});
	credentials = { credentials: { [CREDENTIAL_TYPE]: credential } };
}, 5 * MINUTE);

/** @type {http.Server | undefined} */
let recorder;

afterAll(async () => {
	recorder?.close();
	await queue?.stop();
	await service?.close();
});

/**
 * A workflow that runs in a worker: it starts with an item for each entry of `items` in the body that its webhook gets.
 * @param {string} name
 * @param {Parameters<typeof chain>[1]} nodes
 * @returns {Workflow}
 */
function called(name, nodes) {
	const workflow = chain(name, [
		{
			name: 'Items',
			type: 'n8n-nodes-base.splitOut',
			parameters: { fieldToSplitOut: 'body.items', options: {} },
		},
		...nodes,
	]);
	const [start] = workflow.nodes;
	if (!start) throw new Error('A chain starts with a node');
	Object.assign(start, {
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		parameters: { path: name.toLowerCase(), httpMethod: 'POST', options: {} },
	});
	return workflow;
}

/** @param {Workflow} workflow */
async function activated(workflow) {
	const { id } = await queue.n8n.importWorkflow(workflow, credentials);
	await queue.n8n.activate(id);
	return id;
}

/**
 * @param {string} name
 * @param {object[]} items
 */
async function call(name, items) {
	const answer = await postJson(
		queue.n8n.buildWebhookUrl(name.toLowerCase()),
		{ 'content-type': 'application/json' },
		{ items },
	);
	expect(answer.status).toBe(200);
}

/**
 * All executions of a workflow, when there are that many and none is under way any more.
 * @param {string} workflowId
 * @param {number} count
 */
async function ended(workflowId, count) {
	let found = '';
	return await poll(
		async () => {
			const all = await queue.n8n.listAllExecutions({ workflowId });
			const statuses = all.map(({ status }) => status);
			found = statuses.join();
			return all.length >= count && !statuses.some((status) => OPEN.includes(status))
				? all
				: undefined;
		},
		{
			timeout: 3 * MINUTE,
			what: `${count} executions of ${workflowId}`,
			details: () => found,
			every: 1000,
		},
	);
}

/** What the named node gave out in these executions. @param {Array<{ id: string }>} executions @param {string} node */
async function itemsOf(executions, node) {
	const loaded = await runConcurrently(
		executions,
		4,
		async ({ id }) => await queue.n8n.getExecution(id),
	);
	return loaded.flatMap((execution) => execution.getItems(node));
}

/** Which of the processes took executions on. @param {N8nProcess[]} processes @param {string} words */
const busy = (processes, words) => processes.filter((one) => one.readLog().includes(words)).length;

const createAndWait = (/** @type {object} */ more = {}) =>
	mediaGeneration({
		resource: 'task',
		operation: 'createAndWait',
		model: 'custom',
		customModel: 'custom/any',
		customInput: '={{ JSON.stringify({ prompt: $json.prompt }) }}',
		options: { tasksPer10Seconds: 0 },
		...more,
	});

describe('queue mode', () => {
	it('starts a workflow once for each task, in several processes', async () => {
		service.set({ taskSeconds: 1, faultsFor: () => ({ callbackTwice: true }) });
		const id = await activated(triggered());
		const callBackUrl = await queue.n8n.getProductionWebhookUrl(id);
		const addresses = Array.from({ length: 24 }, (_, index) => `${callBackUrl}?task=${index}`);
		const tasks = await runConcurrently(addresses, 4, async (callBackUrl) =>
			createEndedTask(service, { prompt: 'one', callBackUrl }),
		);
		await service.idle();
		const executions = await ended(id, tasks.length);
		expect(executions.map(({ status }) => status)).toEqual(tasks.map(() => 'success'));
		const items = await itemsOf(executions, 'Trigger');
		expect(items.map(({ taskId }) => taskId).sort()).toEqual([...tasks].sort());
		expect(items[0]).toMatchObject({
			status: 'completed',
			verification: { signature: 'current', details: 'fetched' },
		});
		expect(busy(queue.webhooks, 'Enqueued execution')).toBe(2);
		expect(busy(queue.workers, 'Worker started execution')).toBe(2);

		const copied = await createEndedTask(service);
		const answers = [];
		for (const { url } of queue.webhooks) {
			const { body } = await service.callback(copied, {
				url: callBackUrl.replace(queue.address, url),
			});
			answers.push(JSON.parse(body));
		}
		expect(answers).toEqual([
			{ accepted: true, emitted: true },
			{ accepted: true, emitted: false, reason: 'duplicate' },
		]);
	});

	it('parks a batch in one process and resumes it in another, once', async () => {
		service.set({ taskSeconds: 3, faultsFor: () => ({ callbackTwice: true }) });
		const id = await activated(called('Batch', [createAndWait()]));
		const before = service.requests.length;
		await call(
			'Batch',
			Array.from({ length: 20 }, (_, index) => ({ prompt: `prompt ${index}` })),
		);
		const executions = await ended(id, 1);
		const items = await itemsOf(executions, 'Media Generation');
		expect(items.map(({ status }) => status)).toEqual(items.map(() => 'completed'));
		expect(items.map(({ taskId }) => service.tasks.get(taskId)?.input.prompt)).toEqual(
			Array.from({ length: 20 }, (_, index) => `prompt ${index}`),
		);
		expect((service.requests.length - before) / 20).toBeLessThanOrEqual(3);
	});

	it('uploads and downloads files that the processes share', async () => {
		service.set({ taskSeconds: 1, faultsFor: () => ({}) });
		const sample = `${service.resultsUrl}/sample.png`;
		const id = await activated(
			called('Files', [
				{
					name: 'Fetch',
					type: 'n8n-nodes-base.httpRequest',
					typeVersion: 4.2,
					parameters: {
						url: sample,
						options: { response: { response: { responseFormat: 'file' } } },
					},
				},
				createAndWait({
					model: 'beta2/image-edit',
					image: 'data',
					prompt: 'edit',
					imageSize: '1:1',
				}),
				{
					...mediaGeneration({
						resource: 'task',
						operation: 'download',
						taskId: '={{ $json.taskId }}',
					}),
					name: 'Download',
				},
				{
					...mediaGeneration({ resource: 'file', operation: 'upload' }),
					name: 'Upload',
				},
			]),
		);
		await call('Files', [{}]);
		const executions = await ended(id, 1);
		const [execution] = await Promise.all(executions.map((one) => queue.n8n.getExecution(one.id)));
		expect(execution?.getError()).toBeUndefined();
		const [uploaded] = await itemsOf(executions, 'Upload');
		const [{ taskId } = { taskId: '' }] = await itemsOf(executions, 'Media Generation');
		const [result] = JSON.parse(String(service.tasks.get(taskId)?.resultJson)).resultUrls;
		expect(await bytesOf(uploaded.url)).toEqual(await bytesOf(result));
	});

	it(
		'brings every one of 500 tasks out, once, when a worker, then a webhook process, is killed',
		async () => {
			const sweep = await sweepExample();
			const batches = await activated(called('Parked', [createAndWait()]));
			const creates = await activated(called('Creates', createAndWriteDown(sweep)));
			const parked = await tasksOf('Parked', { calls: 10, each: 10 });
			await parkedExecutions(batches, 10);
			const written = await tasksOf('Creates', { calls: 20, each: 20 });
			await ended(creates, 20);
			await service.idle();

			let done = 0;
			const sending = runConcurrently(written, 6, async (taskId) => {
				await deliver(taskId);
				done++;
			});
			for (const [share, victim] of /** @type {Array<[number, N8nProcess | undefined]>} */ ([
				[0.3, queue.workers[0]],
				[0.6, queue.webhooks[0]],
			])) {
				await poll(async () => done > share * written.length, {
					timeout: 5 * MINUTE,
					what: 'callbacks to be answered',
				});
				await victim?.kill();
				await victim?.start();
			}
			await sending;
			// All have ended by now, so one callback of each batch is enough.
			await runConcurrently(
				parked.filter((_, index) => index % 10 === 0),
				2,
				deliver,
			);

			const resumed = await itemsOf(await ended(batches, 10), 'Media Generation');
			expect(resumed.map(({ taskId }) => taskId).sort()).toEqual([...parked].sort());
			expect(resumed.every(({ status }) => status === 'completed')).toBe(true);

			const byCallback = await ended(sweep.id, written.length);
			const died = byCallback.filter(({ status }) => status !== 'success').length;
			await queue.n8n.waitForExecution(
				await queue.n8n.run(sweep.atOnceId, { trigger: 'Every hour' }),
				{ timeout: MINUTE },
			);
			const uses = written.map((id) => sweep.used.filter((used) => used === id).length);
			const twice = uses.filter((count) => count > 1).length;
			console.log(
				`500 tasks, a worker and a webhook process killed: ${died} executions died; ${twice} tasks were used twice`,
			);
			expect(uses).not.toContain(0);
			const kept = await ranOnce({
				...DATA_TABLE,
				parameters: { operation: 'get', dataTableId: RESULTS, returnAll: true },
			});
			expect(kept.map(({ taskId }) => taskId).sort()).toEqual([...written].sort());
			// The event that the killed webhook process was storing comes again, and what an execution that died had used may
			// not have been crossed out.
			expect(twice).toBeLessThanOrEqual(1 + died);
		},
		15 * MINUTE,
	);

	it('creates no task again when the worker that creates a batch is killed', async () => {
		service.set({ faultsFor: () => ({ slow: 60 }) });
		const before = service.tasks.size;
		const id = await activated(
			called('Killed', [createAndWait({ options: { tasksPer10Seconds: 10, concurrency: 1 } })]),
		);
		await call(
			'Killed',
			Array.from({ length: 20 }, () => ({ prompt: 'killed' })),
		);
		await poll(async () => service.tasks.size >= before + 5, { timeout: MINUTE, what: 'tasks' });
		const [{ id: executionId } = { id: '' }] = await queue.n8n.listAllExecutions({
			workflowId: id,
		});
		const worker = queue.workers.find((one) =>
			one.readLog().includes(`Worker started execution ${executionId} `),
		);
		await worker?.kill();
		const created = service.tasks.size;
		await worker?.start();
		const [{ status } = { status: '' }] = await ended(id, 1);
		expect(['error', 'crashed']).toContain(status);
		expect(service.tasks.size).toBe(created);
	});
});

const DATA_TABLE = { type: 'n8n-nodes-base.dataTable', typeVersion: 1 };
const RESULTS = { __rl: true, mode: 'name', value: 'media_results' };

/** What a node gives out that is run once. @param {{ type: string, typeVersion: number, parameters: object }} node */
async function ranOnce(node) {
	const { id } = await queue.n8n.importWorkflow(chain('Once', [{ name: 'Once', ...node }]));
	const execution = await queue.n8n.waitForExecution(await queue.n8n.run(id));
	expect(execution.getError()).toBeUndefined();
	return execution.getItems('Once');
}

/**
 * The example that keeps a list of open tasks, active, with a use of results that takes a second, keeps each in a table by
 * its task, and is noted outside of n8n; and a copy whose sweep looks at all that are open.
 */
async function sweepExample() {
	await ranOnce({
		...DATA_TABLE,
		parameters: {
			resource: 'table',
			operation: 'create',
			tableName: RESULTS.value,
			columns: { column: [{ name: 'taskId', type: 'string' }] },
		},
	});
	const file = path.join(__dirname, '..', '..', 'examples', 'create-with-sweep.json');
	/** @type {Workflow} */
	const workflow = JSON.parse(fs.readFileSync(file, 'utf8'));
	/** @type {string[]} */
	const used = [];
	recorder = http.createServer((request, response) => {
		used.push(String(request.url).slice(1));
		response.end('{}');
	});
	await new Promise((resolve) => recorder?.listen(0, '127.0.0.1', () => resolve(undefined)));
	const { port } = /** @type {import('node:net').AddressInfo} */ (recorder.address());
	const use = workflow.nodes.find(({ name }) => name === 'Use the result');
	Object.assign(/** @type {object} */ (use), {
		type: 'n8n-nodes-base.wait',
		typeVersion: 1.1,
		parameters: { amount: 1, unit: 'seconds' },
	});
	const more = [
		{
			name: 'Keep it',
			...DATA_TABLE,
			parameters: {
				operation: 'upsert',
				dataTableId: RESULTS,
				filters: { conditions: [{ keyName: 'taskId', keyValue: '={{ $json.taskId }}' }] },
				columns: {
					mappingMode: 'defineBelow',
					value: { taskId: '={{ $json.taskId }}' },
					schema: [{ id: 'taskId', type: 'string', display: true }],
				},
			},
		},
		{
			name: 'Note it',
			type: 'n8n-nodes-base.httpRequest',
			typeVersion: 4.2,
			parameters: { url: `=http://127.0.0.1:${port}/{{ $json.taskId }}` },
		},
	];
	for (const [index, node] of more.entries()) {
		workflow.nodes.push(/** @type {any} */ ({ ...use, id: randomUUID(), ...node }));
		workflow.connections[more[index - 1]?.name ?? 'Use the result'] = {
			main: [[{ node: node.name, type: 'main', index: 0 }]],
		};
	}
	const id = await activated(workflow);
	await queue.n8n.waitForExecution(
		await queue.n8n.run(id, {
			trigger: "When clicking 'Execute workflow'",
			destinationNode: 'Make the table',
		}),
	);
	const everything = JSON.parse(JSON.stringify(workflow).replace('minutes: 60', 'minutes: 0'));
	const { id: atOnceId } = await queue.n8n.importWorkflow(
		{ ...everything, name: 'Sweep at once' },
		credentials,
	);
	const url = await queue.n8n.getProductionWebhookUrl(id, 'When a task ends');
	return { id, atOnceId, workflow, url, used };
}

/** The example's way to create a task and write it down, for each item. @param {{ workflow: Workflow, url: string }} sweep */
function createAndWriteDown({ workflow, url }) {
	const writeDown = workflow.nodes.find(({ name }) => name === 'Write it down');
	return [
		mediaGeneration({
			resource: 'task',
			operation: 'create',
			model: 'custom',
			customModel: 'custom/any',
			customInput: '={{ JSON.stringify({ prompt: $json.prompt }) }}',
			callbackUrl: url,
			options: { tasksPer10Seconds: 0 },
		}),
		/** @type {import('../../dev/n8n/workflow.cts').WorkflowNode} */ (writeDown),
	];
}

/** @param {string} workflowId @param {number} count */
const parkedExecutions = async (workflowId, count) =>
	await poll(
		async () =>
			(await queue.n8n.listAllExecutions({ workflowId, status: 'waiting' })).length === count,
		{ timeout: MINUTE, what: `${count} executions to be parked`, every: 500 },
	);

/**
 * The tasks that a workflow creates, by calling it several times; each ends after 20 s and sends no callback by itself.
 * @param {string} name
 * @param {{ calls: number, each: number }} numbers
 */
async function tasksOf(name, { calls, each }) {
	service.set({ faultsFor: () => ({ slow: 20, noCallback: true }) });
	const known = new Set(service.tasks.keys());
	const created = () => [...service.tasks.keys()].filter((id) => !known.has(id));
	for (let number = 1; number <= calls; number++) {
		await call(
			name,
			Array.from({ length: each }, () => ({ prompt: name })),
		);
		await poll(async () => created().length === number * each, {
			timeout: MINUTE,
			what: `${number * each} tasks`,
		});
	}
	return created();
}

/** Sends the callback of a task until it is answered 200, as the service does. @param {string} taskId */
async function deliver(taskId) {
	let last = '';
	await poll(
		async () => {
			const answer = await service
				.callback(taskId)
				.catch((error) => ({ status: 0, body: `${error}` }));
			last = `${answer.status} ${answer.body}`;
			return answer.status === 200;
		},
		{
			timeout: 3 * MINUTE,
			what: `the callback of ${taskId} to be answered`,
			details: () => last,
			every: 1000,
		},
	);
}

/** @param {string} url */
const bytesOf = async (url) => Buffer.from(await (await fetch(url)).arrayBuffer());
