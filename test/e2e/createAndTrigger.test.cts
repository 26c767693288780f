import { expect } from '@jest/globals';
import { createEndedTask, parseAnswer } from '../../dev/fixtures/callbacks.cts';
import { buildCredentialData, CREDENTIAL_TYPE, TOKEN } from '../../dev/fixtures/pair.cts';
import {
	editSample,
	httpRequest,
	mediaGeneration,
	NODE,
	triggered,
} from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, isOldest, usePair } from './support.cts';

const pair = usePair({ keeps: true });

/** Builds our node that creates a task. */
const create = (parameters: object = {}, more?: object) =>
	editSample(pair.service.resultsUrl, { operation: 'create', prompt: '', ...parameters }, more);

describe('the credential', () => {
	const testCredential = async (changes?: object) =>
		await pair.n8n.testCredential({
			type: CREDENTIAL_TYPE,
			data: buildCredentialData(pair.service, changes),
		});

	it('passes its test with the right token', async () => {
		expect(await testCredential()).toMatchObject({ status: 'OK' });
	});

	it.each<[object, RegExp]>([
		[
			{ accessToken: 'wrong' },
			/^The service does not accept the access token .*paste a valid 'Access Token'/,
		],
		[{ baseUrl: 'api.example.com' }, /^'Base URL' in the credential must begin with https:/],
		[{ baseUrl: 'http://api.example.com' }, /unencrypted\. Change it to https:/],
		[{ baseUrl: 'http://127.0.0.1:9' }, /nothing answers at that address\. Check 'Base URL'/],
		[
			{ baseUrl: 'https://no.invalid' },
			/its host name (is not known|could not be looked up)\. Check/,
		],
		[
			{ customEndpoints: true, creditsPath: '/x' },
			/There is no GET \/x\)\. Check .*'Credits Path'/,
		],
	])('fails its test with %j, and says in words what to correct', async (changes, words) => {
		expect(await testCredential(changes)).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(words),
		});
	});

	it('keeps a previous key whose field is not shown, and shows it to nobody', async () => {
		const { id } = await pair.createCredential({ previousWebhookSecret: 'a-previous-key' });
		const saved = JSON.stringify(await pair.n8n.readCredential(id));
		expect(saved).toContain('previousWebhookSecret');
		expect(saved).not.toContain('a-previous-key');
	});
});

describe("n8n's HTTP Request node with our credential", () => {
	const request = async (url: string, typeVersion: number) =>
		await pair.runNodes(
			httpRequest(
				{
					url,
					authentication: 'predefinedCredentialType',
					nodeCredentialType: CREDENTIAL_TYPE,
					options: { redirect: { redirect: { followRedirects: true, maxRedirects: 5 } } },
				},
				{ typeVersion, credentials: { [CREDENTIAL_TYPE]: {} } },
			),
		);

	it('sends requests to the service only', async () => {
		const credits = await request(`${pair.service.url}/api/v1/chat/credit`, 4.2);
		expect(credits.getItems('Request')).toMatchObject([{ code: 200, data: expect.any(Number) }]);
		const elsewhere = await request(`${pair.service.resultsUrl}/sample.png`, 4.2);
		expect(elsewhere.getError()?.message).toContain("only sent to 'Base URL'");
	});

	// The oldest n8n that the package works with has none newer than 4.4.
	const newest = isOldest ? [] : [4.5];
	it.each([3, 4, 4.1, 4.2, 4.3, 4.4, ...newest])(
		'version %d sends the token on to no other origin',
		async (typeVersion) => {
			const { url, resultsUrl, leaks, requests } = pair.service;
			const { length } = requests;
			pair.service.faultNext({ location: `${resultsUrl}/sample.png` });
			const execution = await request(`${url}/api/v1/chat/credit`, typeVersion);
			expect(requests).toHaveLength(length + 1);
			expect(execution.status).toBe('success');
			expect(leaks).toEqual([]);
		},
	);
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
			custom: { customModel: 'custom/any', inputMode: 'json', customInput: '{"prompt":"Night"}' },
		};
		const created: string[] = [];
		for (const [model, fields] of Object.entries(models)) {
			const parameters = { resource: 'task', operation: 'create', model, callbackUrl, ...fields };
			const execution = await pair.runNodes(mediaGeneration(parameters));
			expect(execution.getError()).toBeUndefined();
			const [task] = execution.getItems<Task>(NODE);
			expect(task).toMatchObject({ status: 'pending', resultUrls: [] });
			created.push(String(task?.taskId));
		}
		await pair.service.idle();
		const tasks = await pair.waitForTriggered(workflowId, created.length);
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
		const workflow = triggered();
		for (const node of workflow.nodes) node.typeVersion = 1;
		const { id, url: callbackUrl } = await pair.activate(workflow);
		const created = await pair.runNodes(create({ callbackUrl }, { typeVersion: 1 }));
		const [task] = created.getItems<Task>(NODE);
		expect(await pair.waitForTriggered(id)).toMatchObject([
			{ taskId: task?.taskId, status: 'completed' },
		]);
	});

	it('work by the test URL too', async () => {
		const { id } = await pair.importWorkflow(triggered());
		await pair.runNodes(create({ callbackUrl: await pair.n8n.listenForTestEvent(id) }));
		expect(await pair.waitForTriggered(id)).toMatchObject([{ status: 'completed' }]);
	});

	it('start it by bodies as services really send them, but not by a part of the result', async () => {
		const { id, url } = await pair.activateTrigger({ events: ['taskCompleted', 'taskFailed'] });
		const send = async (taskId: string, body: object) =>
			parseAnswer((await pair.service.callback(taskId, { url, body })).body);
		const createRecord = (taskId: string, more: object) => ({
			msg: `Task completed. ${TOKEN}`,
			data: { taskId, model: 'any/model', param: '{"input":"{}","model":"any/model"}', ...more },
		});
		const completed = await createEndedTask(pair.service);
		const failed = await createEndedTask(pair.service, { prompt: '#fail #noCallback' });
		for (const callbackType of ['text', 'first']) {
			const part = { code: 200, data: { task_id: completed, callbackType } };
			const notEnded = { accepted: true, emitted: false, reason: 'taskNotEnded' };
			expect(await send(completed, part)).toEqual(notEnded);
		}
		const success = createRecord(completed, { state: 'success', resultJson: '{"resultUrls":[]}' });
		const failure = createRecord(failed, { state: 'fail', failCode: '500' });
		const another = createRecord(failed, { state: 'fail', task_id: completed });
		const emitted = { accepted: true, emitted: true };
		expect(await send(completed, { code: 200, ...success })).toEqual(emitted);
		expect(await send(failed, { code: 501, ...another })).toMatchObject({
			reason: 'taskIdContradictory',
		});
		expect(await send(failed, { code: 501, ...failure })).toEqual(emitted);
		const callback = { msg: 'Task completed. ***' };
		expect(await pair.waitForTriggered(id, 2)).toMatchObject([
			{ taskId: completed, status: 'completed', callback: { ...success, ...callback } },
			{ taskId: failed, status: 'failed', callback: { ...failure, ...callback } },
		]);
	});

	it('start the workflow once when senders hang up early, and hold up no other event', async () => {
		const { id, url } = await pair.activateTrigger();
		const taskIds = await Promise.all([1, 2, 3].map(() => createEndedTask(pair.service)));
		for (const taskId of taskIds.slice(0, 2)) {
			pair.service.faultNext({ path: DETAILS, delaySeconds: 0.5 });
			const asked = pair.countRequests(DETAILS);
			const sender = new AbortController();
			const sent = pair.service.callback(taskId, { url, signal: sender.signal });
			await poll(() => pair.countRequests(DETAILS) > asked, {
				timeout: 20_000,
				what: 'a request for it',
			});
			sender.abort();
			await expect(sent).rejects.toThrow('aborted');
		}
		await pair.n8n.waitForExecutions({ workflowId: id, count: 2 });
		const begun = Date.now();
		for (const taskId of [...taskIds].reverse()) {
			expect(await pair.service.callback(taskId, { url })).toMatchObject({ status: 200 });
			// A held up response would wait a minute.
			expect(Date.now() - begun).toBeLessThan(15_000);
		}
		const tasks = await pair.waitForTriggered(id, 3);
		expect(tasks.map(({ taskId }) => taskId).sort()).toEqual(taskIds.sort());
	});
});

describe('the trigger', () => {
	it.each([
		['without a key', { webhookSecret: '' }, "The credential has no 'Webhook HMAC Key'"],
		[
			'with a wrong token',
			{ accessToken: 'wrong' },
			'The service does not accept the access token',
		],
	])('does not become active %s, and says why', async (_, changes, message) => {
		const credential = await pair.createCredential(changes);
		const { id } = await pair.importWorkflow(triggered(), { credential });
		await expect(pair.n8n.activate(id)).rejects.toThrow(message);
		const url = await pair.n8n.getProductionWebhookUrl(id);
		expect((await fetch(url, { method: 'POST' })).status).toBe(404);
	});

	it('accepts any callback once verification is off, and says so in the item', async () => {
		const credential = await pair.createCredential({ webhookSecret: '' });
		const workflow = triggered({ verifySignature: false });
		const { id, url } = await pair.activate(workflow, { credential });
		await pair.service.callback(await createEndedTask(pair.service), { url, secret: '' });
		expect(await pair.waitForTriggered(id)).toMatchObject([
			{ status: 'completed', verification: { signature: 'off', details: 'fetched' } },
		]);
	});

	it.each<unknown>(["={{ '' }}", '={{ 0 }}', '={{ undefined }}', '', 0, null])(
		'still verifies the signature when an expression or a workflow file sets the switch to %j',
		async (verifySignature) => {
			const { url } = await pair.activateTrigger({ verifySignature });
			const taskId = await createEndedTask(pair.service);
			const unsigned = await pair.service.callback(taskId, { url, secret: '' });
			expect(unsigned.status).toBe(401);
			expect(await pair.service.callback(taskId, { url })).toMatchObject({ status: 200 });
		},
	);
});

it('takes values that a dropdown does not list, from an expression or an older workflow', async () => {
	await pair.runNodes(create({ imageSize: '={{ "5:4" }}', outputFormat: 'avif' }));
	expect(pair.listTasks().at(-1)?.input).toMatchObject({
		image_size: '5:4',
		output_format: 'avif',
	});
});

it('never sends the token to the hosts of results', () => {
	expect(pair.service.leaks).toEqual([]);
});
