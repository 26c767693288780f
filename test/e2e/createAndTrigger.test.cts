import { expect } from '@jest/globals';
import fastify from 'fastify';
import { parseAnswer, postJson } from '../../dev/fixtures/callbacks.cts';
import {
	buildCredentialData,
	CREDENTIAL_TYPE,
	startPair,
	type Pair,
} from '../../dev/fixtures/pair.cts';
import {
	chain,
	editSample,
	items,
	mediaGeneration,
	triggered,
} from '../../dev/fixtures/workflows.cts';
import type { Workflow } from '../../dev/n8n/workflow.cts';
import type { CallbackOverrides } from '../../dev/service/index.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';

const NODE = 'Media Generation';

let pair: Pair;

beforeAll(async () => {
	pair = await startPair({ n8n: 'shared' });
});

afterAll(async () => await pair?.stop());

interface RunOptions {
	inputs?: object[];
	/** Changes of the credential. */
	changes?: object;
	onError?: string;
}

/** Runs our action node by hand, once for each item. */
async function run(
	parameters: Record<string, unknown>,
	{ inputs = [{}], changes, onError }: RunOptions = {},
) {
	const workflow = chain('Create', [items(inputs), mediaGeneration(parameters, { onError })]);
	const credential = changes && (await pair.createCredential(changes));
	return await pair.run(workflow, { credential });
}

/** Creates a task, and returns its ID. */
async function create(parameters: Record<string, unknown>) {
	const [task] = (await run(edit(parameters))).getItems<Task>(NODE);
	return String(task?.taskId);
}

const edit = (more: object = {}) =>
	editSample(pair.service.resultsUrl, { operation: 'create', ...more });

/** Waits for the first execution of a workflow, and returns what its trigger output. */
async function waitForItems(workflowId: string) {
	const [execution] = await pair.n8n.waitForExecutions({ workflowId, count: 1 });
	return execution?.getItems('Trigger');
}

const countExecutions = async (workflowId: string) =>
	(await pair.n8n.listExecutions({ workflowId })).length;

describe('the credential', () => {
	const testCredential = async (changes?: object) =>
		await pair.n8n.testCredential({
			type: CREDENTIAL_TYPE,
			data: buildCredentialData(pair.service, changes),
		});

	it('passes its test with the right token', async () => {
		expect(await testCredential()).toMatchObject({ status: 'OK' });
	});

	it('fails its test with a wrong token, though the service answers HTTP 200, and says what to do', async () => {
		expect(await testCredential({ accessToken: 'wrong' })).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(
				/^The service does not accept the access token\. .*paste a valid 'Access Token'/,
			),
		});
		expect(pair.service.requests.at(-1)).toMatchObject({ status: 200, code: 401 });
	});

	it('fails its test at an address where something else answers', async () => {
		const site = fastify();
		site.all('*', () => '<html>A site</html>');
		const baseUrl = await site.listen({ host: '127.0.0.1', port: 0 });
		const answer = await testCredential({ baseUrl });
		await site.close();
		expect(answer).toMatchObject({
			status: 'Error',
			message: expect.stringContaining("not as the task service does. Check 'Base URL'"),
		});
	});

	it('fails its test where nothing answers', async () => {
		expect(await testCredential({ baseUrl: 'http://127.0.0.1:9' })).toMatchObject({
			status: 'Error',
		});
	});

	it("serves n8n's HTTP Request node too, for requests to the service only", async () => {
		const request = async (url: string) => {
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
			return await pair.run(chain('Request', [node]));
		};
		const credits = await request(`${pair.service.url}/api/v1/chat/credit`);
		expect(credits.getItems('HTTP Request')).toMatchObject([
			{ code: 200, data: expect.any(Number) },
		]);
		const elsewhere = await request(`${pair.service.resultsUrl}/sample.png`);
		expect(elsewhere.getError()?.message).toContain("only sent to 'Base URL'");
	});
});

describe('a task and its callback', () => {
	it('start the workflow once with the finished task, for every model', async () => {
		const { id: workflowId, url: callbackUrl } = await pair.activateTrigger();
		const image = `${pair.service.resultsUrl}/sample.png`;
		const referenceImages = [image, image];
		const models: Record<string, Record<string, unknown>> = {
			'alpha-3.0/motion-control': { image, video: `${pair.service.resultsUrl}/sample.mp4` },
			'beta2/image-edit': { image, prompt: 'Night' },
			'delta-1-1/reference-to-video': { referenceImages, prompt: 'A knight character1' },
			'delta/reference-to-video': { referenceImages, seed: 7 },
			'gamma-v6/reference-to-video': {
				imageReferences: { reference: [{ image, type: 'subject', refName: 'hero' }] },
				generateAudio: true,
			},
			custom: { customModel: 'custom/any', customInput: '{"prompt":"Night"}' },
		};
		const created: string[] = [];
		for (const [model, fields] of Object.entries(models)) {
			const execution = await run({
				resource: 'task',
				operation: 'create',
				model,
				callbackUrl,
				...fields,
			});
			expect(execution.getError()).toBeUndefined();
			const [task] = execution.getItems<Task>(NODE);
			expect(task).toMatchObject({ status: 'pending', resultUrls: [] });
			created.push(String(task?.taskId));
		}
		await pair.service.idle();
		const executions = await pair.n8n.waitForExecutions({ workflowId, count: created.length });
		const tasks = executions.flatMap((execution) => execution.getItems<Task>('Trigger'));
		expect(tasks.map(({ taskId }) => taskId).sort()).toEqual(created.sort());
		for (const task of tasks) {
			expect(task).toMatchObject({
				status: 'completed',
				state: 'success',
				verification: { signature: 'current', details: 'fetched' },
				callback: { data: { task_id: task.taskId, callbackType: 'task_completed' } },
			});
			const media = await fetch(String(task.resultUrls?.[0]));
			expect(media.headers.get('content-type')).toMatch(
				task.model === 'beta2/image-edit' ? /^image\/png$/ : /^(video\/mp4|image\/png)$/,
			);
			expect((await media.arrayBuffer()).byteLength).toBeGreaterThan(500);
		}
		const sent = pair.listTasks().flatMap(({ callbacks }) => callbacks);
		expect(sent.map(({ status }) => status)).toEqual(created.map(() => 200));
	});

	it('work in nodes of version 1', async () => {
		const toVersion1 = (workflow: Workflow) => ({
			...workflow,
			nodes: workflow.nodes.map((node) => ({
				...node,
				typeVersion: node.type.includes('mediaGeneration') ? 1 : node.typeVersion,
			})),
		});
		const { id, url: callbackUrl } = await pair.activate(toVersion1(triggered()));
		const create = chain('Create', [mediaGeneration(edit({ callbackUrl }))]);
		const created = await pair.run(toVersion1(create));
		const [task] = created.getItems<Task>(NODE);
		expect(await waitForItems(id)).toMatchObject([{ taskId: task?.taskId, status: 'completed' }]);
	});

	it('start the workflow for a failed task only if the trigger listens for those', async () => {
		const wanting = await pair.activateTrigger({ events: ['taskFailed'] });
		const notWanting = await pair.activateTrigger({ events: ['taskCompleted'] });
		for (const { url } of [wanting, notWanting])
			await create({ prompt: '#fail', callbackUrl: url });
		await pair.service.idle();
		expect(await waitForItems(wanting.id)).toMatchObject([
			{ status: 'failed', failCode: '501', failMessage: expect.any(String) },
		]);
		expect(await countExecutions(notWanting.id)).toBe(0);
		const [callback] = pair.listTasks().at(-1)?.callbacks ?? [];
		expect(callback).toMatchObject({ status: 200 });
		expect(parseAnswer(callback?.answer ?? '')).toEqual({
			accepted: true,
			emitted: false,
			reason: 'eventNotWanted',
		});
	});

	it('start the workflow once, though two callbacks come at the same instant', async () => {
		const { id, url } = await pair.activateTrigger();
		await create({ prompt: '#callbackTwice', callbackUrl: url });
		await pair.service.idle();
		const task = pair.listTasks().at(-1);
		await pair.service.callback(String(task?.taskId));
		const answers = task?.callbacks.map(({ answer }) => parseAnswer(answer).emitted);
		expect(answers?.filter(Boolean)).toHaveLength(1);
		expect(answers).toHaveLength(3);
		await waitForItems(id);
		expect(await countExecutions(id)).toBe(1);
	});

	it('work by the test URL too', async () => {
		const { id } = await pair.importWorkflow(triggered());
		await create({ callbackUrl: await pair.n8n.listenForTestEvent(id) });
		expect(await waitForItems(id)).toMatchObject([{ status: 'completed' }]);
	});

	it('output the task ID alone when its details are unavailable', async () => {
		const { id, url } = await pair.activateTrigger();
		pair.service.faultNext({ path: '/api/v1/jobs/recordInfo', status: 500, times: 1 });
		const taskId = await create({ callbackUrl: url });
		expect(await waitForItems(id)).toEqual([
			{
				taskId,
				callback: expect.objectContaining({ taskId }),
				verification: { signature: 'current', details: 'unavailable' },
			},
		]);
	});
});

describe('a callback that is not genuine', () => {
	it('starts nothing, and is answered with the reason', async () => {
		const { id, url } = await pair.activateTrigger();
		const taskId = await create({ prompt: '#noCallback', callbackUrl: url });
		await pair.service.waitForTask(taskId);
		const old = Math.floor(Date.now() / 1000) - 3600;
		const cases: Array<[status: number, reason: string, overrides: CallbackOverrides]> = [
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
		for (const [status, reason, overrides] of cases) {
			const answer = await pair.service.callback(taskId, { url, ...overrides });
			expect([answer.status, parseAnswer(answer.body)]).toEqual([
				status,
				{ accepted: false, reason, message: expect.any(String) },
			]);
		}
		expect(await countExecutions(id)).toBe(0);
		expect(await pair.service.callback(taskId, { url })).toMatchObject({ status: 200 });
		await waitForItems(id);
	});

	it('is left to be sent again while the task has not ended or the service does not know it', async () => {
		const { id, url } = await pair.activateTrigger();
		const taskId = await create({ prompt: '#neverEnds', callbackUrl: url });
		expect(await pair.service.callback(taskId, { url })).toMatchObject({ status: 503 });
		pair.service.tasks.delete(taskId);
		const timestamp = Math.floor(Date.now() / 1000);
		const headers = {
			'content-type': 'application/json',
			'x-webhook-timestamp': String(timestamp),
			'x-webhook-signature': pair.service.sign(taskId, timestamp),
		};
		const answer = await postJson(url, headers, { taskId, data: { task_id: taskId } });
		expect(answer).toMatchObject({ status: 404, json: { reason: 'taskUnknown' } });
		expect(await countExecutions(id)).toBe(0);
	});
});

describe('the trigger without a key', () => {
	const importWithoutKey = async (parameters?: Record<string, unknown>) => {
		const credential = await pair.createCredential({ webhookSecret: '' });
		const { id } = await pair.importWorkflow(triggered(parameters), { credential });
		return { id, url: await pair.n8n.getProductionWebhookUrl(id) };
	};

	it('does not become active, and says why', async () => {
		const { id, url } = await importWithoutKey();
		await expect(pair.n8n.activate(id)).rejects.toThrow("The credential has no 'Webhook HMAC Key'");
		expect((await fetch(url, { method: 'POST' })).status).toBe(404);
	});

	it('accepts any callback once verification is off, and says so in the item', async () => {
		const { id, url } = await importWithoutKey({ verifySignature: false });
		await pair.n8n.activate(id);
		await run(edit({ callbackUrl: url }), { changes: { webhookSecret: '' } });
		expect(await waitForItems(id)).toMatchObject([
			{ status: 'completed', verification: { signature: 'off', details: 'fetched' } },
		]);
	});
});

describe('an error in the editor', () => {
	it.each([
		[
			'a wrong token',
			{ accessToken: 'wrong' },
			'The service does not accept the access token (401',
			"paste a valid 'Access Token'",
		],
		[
			'an unreachable service',
			{ baseUrl: 'http://127.0.0.1:9' },
			"The service at http://127.0.0.1:9 can't be reached",
			"Check 'Base URL' in the credential",
		],
	])('names %s, and what to do', async (_, changes, message, next) => {
		const execution = await run(edit(), { changes });
		expect(execution.status).toBe('error');
		const error = execution.getError(NODE);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
	});

	it('is that of the bad item, beside the output of the good ones', async () => {
		const execution = await run(edit({ imageSize: '={{ $json.size }}' }), {
			inputs: [{ size: '1:1' }, { size: 'wide' }],
			onError: 'continueErrorOutput',
		});
		expect(execution.getItems(NODE)).toMatchObject([{ status: 'pending' }]);
		expect(execution.getItems(NODE, { branch: 1 })).toMatchObject([
			{ size: 'wide', error: expect.stringContaining("'Image Size' must be a ratio") },
		]);
	});
});

it('takes values that a dropdown does not list, from an expression or an older workflow', async () => {
	await create({ imageSize: '={{ "5:4" }}', outputFormat: 'avif' });
	expect(pair.listTasks().at(-1)?.input).toMatchObject({
		image_size: '5:4',
		output_format: 'avif',
	});
});

describe('Get and Get Credits', () => {
	it('return the task that the node before created', async () => {
		const get = { resource: 'task', operation: 'get', taskId: '={{ $json.taskId }}' };
		const execution = await pair.run(
			chain('Get', [mediaGeneration(edit(), { name: 'Create' }), mediaGeneration(get)]),
		);
		const [created] = execution.getItems<Task>('Create');
		expect(execution.getItems(NODE)).toMatchObject([
			{ taskId: created?.taskId, model: 'beta2/image-edit', status: 'pending' },
		]);
	});

	it("return the account's credits", async () => {
		const execution = await run({ resource: 'account', operation: 'getCredits' });
		expect(execution.getItems(NODE)).toEqual([{ credits: expect.any(Number) }]);
	});
});

it('never sends the token to the hosts of results', () => {
	expect(pair.service.leaks).toEqual([]);
});
