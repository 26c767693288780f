const { CREDENTIAL_TYPE, buildCredentialData, startPair } = require('../../dev/fixtures/pair.cts');
const { chain, items, mediaGeneration, SEEN } = require('../../dev/fixtures/workflows.cts');

/** @type {Awaited<ReturnType<typeof startPair>>} */
let pair;

beforeAll(async () => {
	pair = await startPair();
});

afterAll(async () => {
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

const NODE = 'Media Generation';

const edit = (more = {}) => ({
	resource: 'task',
	operation: 'createAndWait',
	model: 'beta2/image-edit',
	image: `${pair.service.resultsUrl}/sample.png`,
	prompt: '={{ $json.prompt }}',
	options: { tasksPer10Seconds: 0, concurrency: 20 },
	...more,
});

const prompts = (/** @type {string[]} */ ...texts) => texts.map((prompt) => ({ prompt }));

/**
 * Starts a workflow with our node, without waiting for its end.
 * @param {object[]} inputs
 * @param {Record<string, unknown>} [parameters]
 * @param {{ credential?: object, node?: object, after?: any[] }} [options]
 */
async function start(inputs, parameters = {}, { credential, node, after = [] } = {}) {
	const { n8n, service } = pair;
	const used = credential
		? await n8n.createCredential({
				name: 'Changed',
				type: CREDENTIAL_TYPE,
				data: buildCredentialData(service, credential),
			})
		: pair.credential;
	const workflow = chain('Create and wait', [
		items(inputs),
		mediaGeneration(edit(parameters), node),
		...after,
	]);
	const { id } = await n8n.importWorkflow(workflow, { credentials: { [CREDENTIAL_TYPE]: used } });
	return await n8n.run(id);
}

/** @type {(...args: Parameters<typeof start>) => Promise<import('../../dev/n8n/execution.cts').Execution>} */
const run = async (...args) =>
	await pair.n8n.waitForExecution(await start(...args), { timeout: 110_000 });

const parked = async (/** @type {string} */ id) =>
	await pair.n8n.waitForExecution(id, { until: ['waiting'] });

const tasks = () => [...pair.service.tasks.values()];

const requestsTo = (/** @type {string} */ path) =>
	pair.service.requests.filter((request) => request.path.startsWith(path)).length;

const refusalsLogged = (/** @type {string} */ reason) =>
	pair.n8n
		.readLog()
		.split('\n')
		.filter((line) => line.includes('refused a callback') && line.includes(reason));

describe('waiting for the callback', () => {
	it('parks the execution, asks nothing, and goes on with the finished task', async () => {
		pair.service.set({ taskSeconds: 2 });
		const id = await start(prompts('one'), {}, { after: [SEEN] });
		await parked(id);
		const asked = pair.service.requests.length;
		await pair.service.idle();
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.status).toBe('success');
		expect(execution.getOutput(NODE)).toEqual([
			{
				json: expect.objectContaining({
					taskId: tasks()[0]?.taskId,
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

	it('answers the sender in words of its own', async () => {
		pair.service.set({ taskSeconds: 2 });
		await pair.n8n.waitForExecution(await start(prompts('one', 'two')));
		const answers = tasks().map(({ callbacks }) => JSON.parse(String(callbacks.at(-1)?.answer)));
		expect(answers.map(({ resumed }) => resumed).sort()).toEqual([false, true]);
	});

	it.each([20, 200])(
		'goes on once all of %d tasks are done, which call in any order, in the order of the items',
		async (count) => {
			pair.service.set({
				faultsFor: () => ({ slow: 1 + Math.random() * 5 }),
				callbackRetrySeconds: [1, 3, 6],
			});
			const texts = Array.from({ length: count }, (_, index) => `prompt ${index}`);
			const execution = await run(prompts(...texts), {}, { after: [SEEN] });
			const output = execution.getItems(NODE);
			expect(output.map(({ status }) => status)).toEqual(texts.map(() => 'completed'));
			expect(output.map(({ taskId }) => pair.service.tasks.get(taskId)?.input.prompt)).toEqual(
				texts,
			);
			expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual(texts);
			const perTask = requestsTo('/api/v1/jobs/recordInfo') / count;
			console.log(
				`${count} tasks by callback: ${(1 + perTask).toFixed(2)} requests per finished task`,
			);
			expect(requestsTo('/api/v1/jobs/createTask')).toBe(count);
			expect(perTask).toBeLessThanOrEqual(3);
		},
	);

	it('goes on when all callbacks come at the same instant, and once', async () => {
		pair.service.set({ taskSeconds: 60 });
		pair.service.set({ faultsFor: () => ({ noCallback: true, slow: 2 }) });
		const id = await start(prompts(...'abcdefghijklmnop'), {}, { after: [SEEN] });
		await parked(id);
		await Promise.all(tasks().map(({ taskId }) => pair.service.waitForTask(taskId)));
		const answers = await Promise.all(
			tasks().map(({ taskId }) =>
				pair.service.callback(taskId).then(({ body }) => JSON.parse(body)),
			),
		);
		expect(answers.filter(({ resumed }) => resumed)).toHaveLength(1);
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.getRuns('Seen')).toHaveLength(1);
		expect(execution.getItems('Seen')).toHaveLength(16);
	});

	it('is not moved by the same callback twice', async () => {
		const execution = await run(prompts('#callbackTwice', '#slow=3'));
		expect(execution.getItems(NODE).map(({ status }) => status)).toEqual([
			'completed',
			'completed',
		]);
		const [twice] = tasks().filter(({ faults }) => faults.callbackTwice);
		expect(twice?.callbacks.length).toBeGreaterThanOrEqual(2);
	});

	it('is not moved by 100 forged callbacks, nor by one for another task', async () => {
		pair.service.set({ faultsFor: () => ({ noCallback: true }) });
		const id = await start(prompts('one'));
		await parked(id);
		const [task] = tasks();
		const taskId = String(task?.taskId);
		await pair.service.waitForTask(taskId);
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
		const foreign = await pair.service.callback(taskId, {
			body: { taskId: 'another', data: { task_id: 'another' } },
			timestamp: now,
			signature: pair.service.sign('another', now),
		});
		expect(foreign).toMatchObject({ status: 404 });
		expect((await pair.n8n.getExecution(id)).status).toBe('waiting');
		for (const reason of [
			'signatureWrong',
			'headerMissing',
			'timestampStale',
			'taskNotInExecution',
		])
			expect(refusalsLogged(reason)).toHaveLength(1);
		expect(await pair.service.callback(taskId)).toMatchObject({ status: 200 });
		expect((await pair.n8n.waitForExecution(id)).getItems(NODE)).toMatchObject([
			{ status: 'completed' },
		]);
	});

	it('is not moved without the secret of the resume URL', async () => {
		pair.service.set({ faultsFor: () => ({ noCallback: true }) });
		const id = await start(prompts('one'));
		await parked(id);
		const [task] = tasks();
		await pair.service.waitForTask(String(task?.taskId));
		const { origin, pathname } = new URL(String(task?.callBackUrl));
		const answer = await pair.service.callback(String(task?.taskId), { url: origin + pathname });
		expect(answer.status).toBe(401);
		expect((await pair.n8n.getExecution(id)).status).toBe('waiting');
		await pair.service.callback(String(task?.taskId));
		await pair.n8n.waitForExecution(id);
	});

	it('trusts the secret of the resume URL and the details when there is no key', async () => {
		pair.service.set({ webhookSecret: '', taskSeconds: 1.5 });
		const execution = await run(prompts('one'), {}, { credential: { webhookSecret: '' } });
		pair.service.set({ webhookSecret: 'dev-webhook-key' });
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
	});

	it('does not believe a callback whose task has not ended', async () => {
		pair.service.set({ faultsFor: () => ({ noCallback: true, slow: 3 }) });
		const id = await start(prompts('one'));
		await parked(id);
		const taskId = String(tasks()[0]?.taskId);
		expect(await pair.service.callback(taskId)).toMatchObject({ status: 503 });
		expect((await pair.n8n.getExecution(id)).status).toBe('waiting');
		await pair.service.waitForTask(taskId);
		await pair.service.callback(taskId);
		await pair.n8n.waitForExecution(id);
	});

	it('leaves the callback to be sent again while details can not be had', async () => {
		pair.service.set({ taskSeconds: 1.5 });
		const id = await start(prompts('one'));
		await parked(id);
		pair.service.faultNext({ path: '/api/v1/jobs/recordInfo', status: 500, times: 2 });
		expect((await pair.n8n.waitForExecution(id)).getItems(NODE)).toMatchObject([
			{ status: 'completed' },
		]);
		expect(tasks()[0]?.callbacks.map(({ status }) => status)).toEqual([503, 503, 200]);
	});

	it('does not park at all when creating took so long that all tasks are done', async () => {
		pair.service.set({ taskSeconds: 0, faultsFor: () => ({ noCallback: true }) });
		const options = { tasksPer10Seconds: 0, concurrency: 1 };
		pair.service.faultNext({ path: '/api/v1/jobs/createTask', delaySeconds: 1.2, times: 2 });
		const execution = await run(prompts('one', 'two'), { options });
		expect(execution.getItems(NODE)).toMatchObject([
			{ status: 'completed' },
			{ status: 'completed' },
		]);
	});

	it('takes the callback that comes again, when the first came before the execution was parked', async () => {
		pair.service.set({ taskSeconds: 0 });
		const execution = await run(prompts('one'));
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
		expect(tasks()[0]?.callbacks.at(-1)).toMatchObject({ status: 200 });
	});

	it('gives out failed tasks by their status, beside the good ones', async () => {
		const execution = await run(prompts('one', '#fail', 'three'));
		expect(execution.status).toBe('success');
		expect(execution.getItems(NODE)).toMatchObject([
			{ status: 'completed' },
			{ status: 'failed', failCode: '501', failMessage: expect.any(String), resultUrls: [] },
			{ status: 'completed' },
		]);
	});

	it('gives out the items that could not be created where On Error says, and waits for the others', async () => {
		pair.service.set({ taskSeconds: 1.5 });
		const execution = await run(
			prompts('one', '#status=402', 'three'),
			{},
			{
				node: { onError: 'continueErrorOutput' },
			},
		);
		expect(execution.getItems(NODE)).toMatchObject([
			{ status: 'completed' },
			{ status: 'completed' },
		]);
		expect(execution.getItems(NODE, { branch: 1 })).toMatchObject([
			{ error: expect.stringContaining('too few credits'), message: expect.any(String) },
		]);
	});

	it('stops before anything is created when the service can not reach this n8n', async () => {
		const execution = await run(
			prompts('one'),
			{},
			{
				credential: { baseUrl: 'https://api.service.example' },
			},
		);
		const error = execution.getError(NODE);
		expect(error.message).toContain(
			"The service can't reach this n8n: callbacks would go to http://",
		);
		expect(error.description).toMatch(/WEBHOOK_URL.*Polling/);
		expect(pair.service.requests).toHaveLength(0);
	});
});

describe('polling', () => {
	it('looks at all tasks together until they are done', async () => {
		pair.service.set({ faultsFor: () => ({ slow: 1 + Math.random() * 3 }) });
		const texts = Array.from({ length: 20 }, (_, index) => `prompt ${index}`);
		const started = Date.now();
		const execution = await run(prompts(...texts), { waitFor: 'polling' });
		expect(
			execution.getItems(NODE).map(({ taskId }) => pair.service.tasks.get(taskId)?.input.prompt),
		).toEqual(texts);
		expect(execution.getItems(NODE).every(({ status }) => status === 'completed')).toBe(true);
		expect(Date.now() - started).toBeLessThan(30_000);
		expect(tasks().every(({ callBackUrl }) => callBackUrl === undefined)).toBe(true);
		const perTask = requestsTo('/api/v1/jobs/recordInfo') / texts.length;
		console.log(
			`20 tasks of 1 to 4 s by polling: ${(1 + perTask).toFixed(2)} requests per finished task`,
		);
	});

	it('is not ended by a query that fails', async () => {
		pair.service.faultNext({ path: '/api/v1/jobs/recordInfo', status: 500, times: 1 });
		const execution = await run(prompts('one'), { waitFor: 'polling' });
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
	});

	it('gives out every task id when the limit passes', async () => {
		const execution = await run(prompts('#neverEnds', 'two'), {
			waitFor: 'polling',
			waitLimit: 0.06,
		});
		expect(execution.getItems(NODE)).toMatchObject([
			{ taskId: expect.any(String), status: 'timedOut', model: 'beta2/image-edit' },
			{ status: 'completed' },
		]);
	});
});

describe('in workflows of other shapes', () => {
	it('waits in a sub-workflow, and the caller goes on with the result', async () => {
		pair.service.set({ taskSeconds: 2 });
		const inner = chain('Inner', [mediaGeneration(edit({ prompt: 'one' }))]);
		Object.assign(/** @type {object} */ (inner.nodes[0]), {
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		});
		const { id: innerId } = await pair.n8n.importWorkflow(inner, pair.credentials);
		await pair.n8n.activate(innerId);
		const outer = chain('Outer', [
			{
				name: 'Call',
				type: 'n8n-nodes-base.executeWorkflow',
				typeVersion: 1.2,
				parameters: {
					workflowId: { __rl: true, mode: 'id', value: innerId },
					options: { waitForSubWorkflow: true },
				},
			},
		]);
		const { id } = await pair.n8n.importWorkflow(outer);
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id));
		expect(execution.getItems('Call')).toMatchObject([{ status: 'completed' }]);
	});

	it('waits anew each time that a loop passes it', async () => {
		pair.service.set({ taskSeconds: 1 });
		const workflow = chain('Loop', [
			items(prompts('one', 'two', 'three')),
			{
				name: 'Loop',
				type: 'n8n-nodes-base.splitInBatches',
				typeVersion: 3,
				parameters: { options: {} },
			},
			mediaGeneration(edit()),
		]);
		workflow.connections.Loop = {
			main: [[], [{ node: NODE, type: 'main', index: 0 }]],
		};
		workflow.connections[NODE] = { main: [[{ node: 'Loop', type: 'main', index: 0 }]] };
		const { id } = await pair.n8n.importWorkflow(workflow, pair.credentials);
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id));
		const runs = execution.getRuns(NODE);
		expect(runs).toHaveLength(3);
		expect(execution.getItems('Loop').map(({ status }) => status)).toEqual(
			Array(3).fill('completed'),
		);
		expect(tasks()).toHaveLength(3);
	});

	it('creates nothing when its output is pinned', async () => {
		const workflow = chain('Pinned', [items(prompts('one')), mediaGeneration(edit())]);
		const { id } = await pair.n8n.importWorkflow(workflow, pair.credentials);
		const pinData = { [NODE]: [{ json: { taskId: 'pinned', status: 'completed' } }] };
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id, { pinData }));
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: 'pinned' }]);
		expect(pair.service.requests).toHaveLength(0);
	});

	it('works in an active workflow that a webhook starts', async () => {
		pair.service.set({ taskSeconds: 1.5 });
		const workflow = chain('Production', [mediaGeneration(edit({ prompt: 'one' }))]);
		Object.assign(/** @type {object} */ (workflow.nodes[0]), {
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: 'c0ffee00-0000-4000-8000-00000000aaaa',
			parameters: { path: 'produce' },
		});
		const { id } = await pair.n8n.importWorkflow(workflow, pair.credentials);
		await pair.n8n.activate(id);
		expect((await fetch(pair.n8n.buildWebhookUrl('produce'))).status).toBe(200);
		const [execution] = await pair.n8n.waitForExecutions({
			workflowId: id,
			count: 1,
			status: 'success',
		});
		expect(execution?.getItems(NODE)).toMatchObject([{ status: 'completed' }]);
	});
});

describe('the wait limit', () => {
	it('gives out every task id by callback too, and a callback after it changes nothing', async () => {
		const texts = ['#noCallback #slow=90', 'two'];
		const id = await start(prompts(...texts), { waitLimit: 0.05 }, { after: [SEEN] });
		const execution = await pair.n8n.waitForExecution(id, { timeout: 110_000 });
		expect(execution.status).toBe('success');
		const [first, second] = tasks().sort((a, b) =>
			String(a.input.prompt) < String(b.input.prompt) ? -1 : 1,
		);
		expect(execution.getItems(NODE)).toMatchObject([
			{ taskId: first?.taskId, model: 'beta2/image-edit', status: 'timedOut' },
			{ taskId: second?.taskId, status: 'timedOut' },
		]);
		expect(execution.getItems('Seen').map(({ prompt }) => prompt)).toEqual(texts);
		const late = await pair.service.callback(String(second?.taskId));
		expect(late.status).toBe(409);
		expect((await pair.n8n.getExecution(id)).getItems('Seen')).toHaveLength(2);
	});
});

describe('n8n killed while 20 tasks are parked, and callbacks that come while it is down', () => {
	it('loses none of them', async () => {
		pair.service.set({
			callbackRetrySeconds: [5, 10, 20],
			faultsFor: ({ index }) => ({ slow: 2 + (index % 20) / 2 }),
		});
		const texts = Array.from({ length: 20 }, (_, index) => `prompt ${index}`);
		const id = await start(prompts(...texts), {}, { after: [SEEN] });
		await parked(id);
		await pair.service.waitForTask(String(tasks()[2]?.taskId));
		await pair.n8n.kill();
		await pair.n8n.restart();
		const execution = await pair.n8n.waitForExecution(id, { timeout: 90_000 });
		expect(execution.status).toBe('success');
		expect(execution.getItems('Seen')).toEqual(
			texts.map((prompt) => ({ prompt, status: 'completed' })),
		);
		expect(requestsTo('/api/v1/jobs/createTask')).toBe(20);
	}, 180_000);
});
