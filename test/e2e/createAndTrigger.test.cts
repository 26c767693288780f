const http = require('node:http');
const { CREDENTIAL_TYPE, buildCredentialData, startPair } = require('../../dev/fixtures/pair.cts');
const { chain, items, mediaGeneration, triggered } = require('../../dev/fixtures/workflows.cts');

/** @type {Awaited<ReturnType<typeof startPair>>} */
let pair;

beforeAll(async () => {
	pair = await startPair();
});

afterAll(async () => {
	await pair?.stop();
});

/**
 * Runs our action node by hand, once for each item.
 * @param {Record<string, unknown>} parameters
 * @param {{ inputs?: object[], credential?: object, onError?: string }} [options]
 */
async function run(parameters, { inputs = [{}], credential, onError } = {}) {
	const { n8n } = pair;
	const used = credential
		? await n8n.createCredential({
				name: 'Changed',
				type: CREDENTIAL_TYPE,
				data: buildCredentialData(pair.service, credential),
			})
		: pair.credential;
	const workflow = chain('Create', [items(inputs), mediaGeneration(parameters, { onError })]);
	const { id } = await n8n.importWorkflow(workflow, { credentials: { [CREDENTIAL_TYPE]: used } });
	return await n8n.waitForExecution(await n8n.run(id));
}

/** @param {Record<string, unknown>} [parameters] */
async function activeTrigger(parameters) {
	const { id } = await pair.n8n.importWorkflow(triggered(parameters), pair.credentials);
	await pair.n8n.activate(id);
	return { id, url: await pair.n8n.getProductionWebhookUrl(id) };
}

const edit = (more = {}) => ({
	resource: 'task',
	operation: 'create',
	model: 'beta2/image-edit',
	image: `${pair.service.resultsUrl}/sample.png`,
	...more,
});

describe('the credential', () => {
	/** @param {object} [changes] */
	const testCredential = async (changes) =>
		await pair.n8n.testCredential({
			type: CREDENTIAL_TYPE,
			data: buildCredentialData(pair.service, changes),
		});

	it('passes its test with the right token', async () => {
		expect(await testCredential()).toMatchObject({ status: 'OK' });
	});

	it('does not with a wrong one, though the service answers HTTP 200, and says what to do', async () => {
		expect(await testCredential({ accessToken: 'wrong' })).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(
				/^The service does not accept the access token\. .*paste a valid Access Token/,
			),
		});
		expect(pair.service.requests.at(-1)).toMatchObject({ status: 200, code: 401 });
	});

	it('does not at an address where something else answers', async () => {
		const site = http.createServer((_, answer) => answer.end('<html>A site</html>'));
		await new Promise((resolve) => site.listen(0, '127.0.0.1', () => resolve(undefined)));
		const { port } = /** @type {import('node:net').AddressInfo} */ (site.address());
		const answer = await testCredential({ baseUrl: `http://127.0.0.1:${port}` });
		site.close();
		expect(answer).toMatchObject({
			status: 'Error',
			message: expect.stringContaining('not as the task service does. Check Base URL'),
		});
	});

	it("serves n8n's HTTP Request node too, for requests to the service and nowhere else", async () => {
		const request = async (/** @type {string} */ url) => {
			const node = {
				name: 'HTTP Request',
				type: 'n8n-nodes-base.httpRequest',
				typeVersion: 4.2,
				parameters: {
					url,
					authentication: 'predefinedCredentialType',
					nodeCredentialType: CREDENTIAL_TYPE,
				},
				credentials: { [CREDENTIAL_TYPE]: {} },
			};
			const { id } = await pair.n8n.importWorkflow(chain('Request', [node]), pair.credentials);
			return await pair.n8n.waitForExecution(await pair.n8n.run(id));
		};
		const credits = await request(`${pair.service.url}/api/v1/chat/credit`);
		expect(credits.getItems('HTTP Request')).toMatchObject([
			{ code: 200, data: expect.any(Number) },
		]);
		const elsewhere = await request(`${pair.service.resultsUrl}/sample.png`);
		expect(elsewhere.getError()?.message).toContain('only sent to Base URL');
	});

	it('does not where nothing answers', async () => {
		expect(await testCredential({ baseUrl: 'http://127.0.0.1:9' })).toMatchObject({
			status: 'Error',
		});
	});
});

describe('a task and its callback', () => {
	const image = () => `${pair.service.resultsUrl}/sample.png`;
	const references = () => [image(), image()];

	it('go round for every model, and start the workflow once each with the finished task', async () => {
		const { id: workflowId, url: callbackUrl } = await activeTrigger();
		/** @type {Array<[string, Record<string, unknown>]>} */
		const models = [
			[
				'alpha-3.0/motion-control',
				{ image: image(), video: `${pair.service.resultsUrl}/sample.mp4` },
			],
			['beta2/image-edit', { image: image(), prompt: 'Night' }],
			[
				'delta-1-1/reference-to-video',
				{ referenceImages: references(), prompt: 'A knight character1' },
			],
			['delta/reference-to-video', { referenceImages: references(), seed: 7 }],
			[
				'gamma-v6/reference-to-video',
				{
					imageReferences: { reference: [{ image: image(), type: 'subject', refName: 'hero' }] },
					generateAudio: true,
				},
			],
			['custom', { customModel: 'custom/any', customInput: '{"prompt":"Night"}' }],
		];
		const created = [];
		for (const [model, fields] of models) {
			const execution = await run({
				resource: 'task',
				operation: 'create',
				model,
				callbackUrl,
				...fields,
			});
			expect(execution.getError()).toBeUndefined();
			const [task] = execution.getItems('Media Generation');
			expect(task).toMatchObject({ status: 'pending', resultUrls: [] });
			created.push(task.taskId);
		}
		await pair.service.idle();
		const executions = await pair.n8n.waitForExecutions({ workflowId, count: models.length });
		const tasks = executions.flatMap((execution) => execution.getItems('Trigger'));
		expect(tasks.map(({ taskId }) => taskId).sort()).toEqual(created.sort());
		for (const task of tasks) {
			expect(task).toMatchObject({
				status: 'completed',
				state: 'success',
				verification: { signature: 'current', details: 'fetched' },
				callback: { data: { task_id: task.taskId, callbackType: 'task_completed' } },
			});
			const media = await fetch(task.resultUrls[0]);
			expect(media.headers.get('content-type')).toMatch(
				task.model === 'beta2/image-edit' ? /^image\/png$/ : /^(video\/mp4|image\/png)$/,
			);
			expect((await media.arrayBuffer()).byteLength).toBeGreaterThan(500);
		}
		const sent = [...pair.service.tasks.values()].flatMap(({ callbacks }) => callbacks);
		expect(sent.map(({ status }) => status)).toEqual(models.map(() => 200));
	});

	it('go round in nodes of version 1', async () => {
		const older = (/** @type {import('../../dev/n8n/workflow.cts').Workflow} */ workflow) => ({
			...workflow,
			nodes: workflow.nodes.map((node) => ({
				...node,
				typeVersion: node.type.includes('mediaGeneration') ? 1 : node.typeVersion,
			})),
		});
		const { id } = await pair.n8n.importWorkflow(older(triggered()), pair.credentials);
		await pair.n8n.activate(id);
		const callbackUrl = await pair.n8n.getProductionWebhookUrl(id);
		const create = chain('Create', [mediaGeneration(edit({ callbackUrl }))]);
		const { id: createId } = await pair.n8n.importWorkflow(older(create), pair.credentials);
		const created = await pair.n8n.waitForExecution(await pair.n8n.run(createId));
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		expect(execution?.getItems('Trigger')).toMatchObject([
			{ taskId: created.getItems('Media Generation')[0].taskId, status: 'completed' },
		]);
	});

	it('go round for a failed task, when the trigger is asked for those', async () => {
		const wanting = await activeTrigger({ events: ['taskFailed'] });
		const notWanting = await activeTrigger({ events: ['taskCompleted'] });
		for (const { url } of [wanting, notWanting])
			await run(edit({ prompt: '#fail', callbackUrl: url }));
		await pair.service.idle();
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: wanting.id, count: 1 });
		expect(execution?.getItems('Trigger')).toMatchObject([
			{ status: 'failed', failCode: '501', failMessage: expect.any(String) },
		]);
		expect(await pair.n8n.listExecutions({ workflowId: notWanting.id })).toHaveLength(0);
		const [callback] = [...pair.service.tasks.values()].at(-1)?.callbacks ?? [];
		expect(callback).toMatchObject({ status: 200 });
		expect(JSON.parse(callback?.answer ?? '')).toEqual({
			accepted: true,
			emitted: false,
			reason: 'eventNotWanted',
		});
	});

	it('start the workflow once, though the service calls twice at the same instant', async () => {
		const { id, url } = await activeTrigger();
		await run(edit({ prompt: '#callbackTwice', callbackUrl: url }));
		await pair.service.idle();
		const [task] = [...pair.service.tasks.values()].slice(-1);
		await pair.service.callback(String(task?.taskId));
		const answers = task?.callbacks.map(({ answer }) => JSON.parse(String(answer)).emitted);
		expect(answers?.filter(Boolean)).toHaveLength(1);
		expect(answers).toHaveLength(3);
		await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		expect(await pair.n8n.listExecutions({ workflowId: id })).toHaveLength(1);
	});

	it('work by the test URL too', async () => {
		const { id } = await pair.n8n.importWorkflow(triggered(), pair.credentials);
		const callbackUrl = await pair.n8n.listenForTestEvent(id);
		await run(edit({ callbackUrl }));
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		expect(execution?.getItems('Trigger')).toMatchObject([{ status: 'completed' }]);
	});

	it('give out the task id alone when its details can not be had', async () => {
		const { id, url } = await activeTrigger();
		pair.service.faultNext({ path: '/api/v1/jobs/recordInfo', status: 500, times: 1 });
		await run(edit({ callbackUrl: url }));
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		const [task] = [...pair.service.tasks.values()].slice(-1);
		expect(execution?.getItems('Trigger')).toEqual([
			{
				taskId: task?.taskId,
				callback: expect.objectContaining({ taskId: task?.taskId }),
				verification: { signature: 'current', details: 'unavailable' },
			},
		]);
	});
});

describe('a callback that is not genuine', () => {
	it('starts nothing, and is told why', async () => {
		const { id, url } = await activeTrigger();
		const execution = await run(edit({ prompt: '#noCallback', callbackUrl: url }));
		const { taskId } = execution.getItems('Media Generation')[0];
		await pair.service.waitForTask(taskId);
		const old = Math.floor(Date.now() / 1000) - 3600;
		/** @type {Array<[number, string, import('../../dev/service').CallbackOverrides]>} */
		const bad = [
			[401, 'headerMissing', { headers: { 'x-webhook-signature': undefined } }],
			[401, 'headerMissing', { headers: { 'x-webhook-timestamp': undefined } }],
			[401, 'headerMissing', { secret: '' }],
			[401, 'signatureWrong', { secret: 'a-stranger' }],
			[401, 'signatureWrong', { signature: 'A'.repeat(44) }],
			[401, 'timestampStale', { timestamp: old }],
			[401, 'timestampMalformed', { headers: { 'x-webhook-timestamp': 'now' } }],
			[400, 'taskIdMissing', { body: { taskId } }],
			[400, 'taskIdMissing', { body: { taskId, data: {} } }],
			[400, 'taskIdContradictory', { body: { taskId: 'another', data: { task_id: taskId } } }],
			[400, 'bodyNotAnObject', { body: [taskId] }],
			[401, 'signatureWrong', { body: { taskId: 'another', data: { task_id: 'another' } } }],
		];
		for (const [status, reason, overrides] of bad) {
			const answer = await pair.service.callback(taskId, { url, ...overrides });
			expect([answer.status, JSON.parse(answer.body)]).toEqual([
				status,
				{ accepted: false, reason, message: expect.any(String) },
			]);
		}
		expect(await pair.n8n.listExecutions({ workflowId: id })).toHaveLength(0);
		expect(await pair.service.callback(taskId, { url })).toMatchObject({ status: 200 });
		await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
	});

	it('of a task that has not ended, or that the service does not know, is left to be sent again', async () => {
		const { id, url } = await activeTrigger();
		const execution = await run(edit({ prompt: '#neverEnds', callbackUrl: url }));
		const { taskId } = execution.getItems('Media Generation')[0];
		expect(await pair.service.callback(taskId, { url })).toMatchObject({ status: 503 });
		pair.service.tasks.delete(taskId);
		const timestamp = Math.floor(Date.now() / 1000);
		const answer = await fetch(url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				'x-webhook-timestamp': String(timestamp),
				'x-webhook-signature': pair.service.sign(taskId, timestamp),
			},
			body: JSON.stringify({ taskId, data: { task_id: taskId } }),
		});
		expect(answer.status).toBe(404);
		expect(await answer.json()).toMatchObject({ reason: 'taskUnknown' });
		expect(await pair.n8n.listExecutions({ workflowId: id })).toHaveLength(0);
	});
});

describe('the trigger without a key', () => {
	/** @param {Record<string, unknown>} [parameters] */
	const withoutKey = async (parameters) => {
		const { n8n, service } = pair;
		const credential = await n8n.createCredential({
			name: 'Without a key',
			type: CREDENTIAL_TYPE,
			data: buildCredentialData(service, { webhookSecret: '' }),
		});
		const workflow = triggered(parameters);
		const { id } = await n8n.importWorkflow(workflow, {
			credentials: { [CREDENTIAL_TYPE]: credential },
		});
		return { id, url: await n8n.getProductionWebhookUrl(id) };
	};

	it('does not become active, and says why', async () => {
		const { id, url } = await withoutKey();
		await expect(pair.n8n.activate(id)).rejects.toThrow('The credential has no Webhook HMAC Key');
		expect((await fetch(url, { method: 'POST' })).status).toBe(404);
	});

	it('takes anything once the user turned verification off, and says so in the item', async () => {
		const { id, url } = await withoutKey({ verifySignature: false });
		await pair.n8n.activate(id);
		await run(edit({ callbackUrl: url }), { credential: { webhookSecret: '' } });
		const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
		expect(execution?.getItems('Trigger')).toMatchObject([
			{ status: 'completed', verification: { signature: 'off', details: 'fetched' } },
		]);
	});
});

describe('what went wrong is told in the editor', () => {
	it.each([
		[
			'a wrong token',
			{ accessToken: 'wrong' },
			'The service does not accept the access token (401',
			'paste a valid Access Token',
		],
		[
			'an unreachable service',
			{ baseUrl: 'http://127.0.0.1:9' },
			"The service at http://127.0.0.1:9 can't be reached",
			'Check Base URL in the credential',
		],
	])('%s', async (_, credential, message, next) => {
		const execution = await run(edit(), { credential });
		expect(execution.status).toBe('error');
		const error = execution.getError('Media Generation');
		expect(error.message).toContain(message);
		expect(error.description).toContain(next);
	});

	it('for the item that it went wrong with, beside those that went well', async () => {
		const execution = await run(edit({ imageSize: '={{ $json.size }}' }), {
			inputs: [{ size: '1:1' }, { size: 'wide' }],
			onError: 'continueErrorOutput',
		});
		expect(execution.getItems('Media Generation')).toMatchObject([{ status: 'pending' }]);
		expect(execution.getItems('Media Generation', { branch: 1 })).toMatchObject([
			{ size: 'wide', error: expect.stringContaining('Image Size must be a ratio') },
		]);
	});
});

describe('looking at tasks and credits', () => {
	it('gives out the task that a node before created', async () => {
		const workflow = chain('Get', [
			mediaGeneration(edit(), { name: 'Create' }),
			mediaGeneration({ resource: 'task', operation: 'get', taskId: '={{ $json.taskId }}' }),
		]);
		const { id } = await pair.n8n.importWorkflow(workflow, pair.credentials);
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id));
		expect(execution.getItems('Media Generation')).toMatchObject([
			{
				taskId: execution.getItems('Create')[0].taskId,
				model: 'beta2/image-edit',
				status: 'pending',
			},
		]);
	});

	it("gives out the account's credits", async () => {
		const execution = await run({ resource: 'account', operation: 'getCredits' });
		expect(execution.getItems('Media Generation')).toEqual([{ credits: expect.any(Number) }]);
	});
});

it('no result host was ever sent the token', () => {
	expect(pair.service.leaks).toEqual([]);
});
