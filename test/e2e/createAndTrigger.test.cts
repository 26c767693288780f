import { expect } from '@jest/globals';
import { createEndedTask } from '../../dev/fixtures/callbacks.cts';
import { CREDENTIAL_TYPE } from '../../dev/fixtures/pair.cts';
import { editSample, httpRequest, NODE, triggered } from '../../dev/fixtures/workflows.cts';
import { poll } from '../../dev/n8n/wait.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, isOldest, usePair } from './support.cts';

const pair = usePair({ keeps: true });

/** Builds our node that creates a task. */
const create = (parameters: object = {}, more?: object) =>
	editSample(pair.service.resultsUrl, { operation: 'create', prompt: '', ...parameters }, more);

describe('the credential', () => {
	it('keeps a previous key whose field is not shown, and shows it to nobody', async () => {
		const { id } = await pair.createCredential({ previousWebhookSecret: 'a-previous-key' });
		const url = `/rest/credentials/${id}?includeData=true`;
		const saved = JSON.stringify(await pair.n8n.request('GET', url));
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

	it('start the workflow once when senders hang up early, and hold up no other event', async () => {
		const { id, url } = await pair.activateTrigger();
		const taskIds = await Promise.all([1, 2, 3].map(() => createEndedTask(pair.service)));
		for (const taskId of taskIds.slice(0, 2)) {
			pair.service.faultNext({ path: DETAILS, delaySeconds: 0.5 });
			const asked = pair.countRequests(DETAILS);
			const sender = new AbortController();
			const sent = pair.service.callback(taskId, { url, signal: sender.signal });
			await poll(() => pair.countRequests(DETAILS) > asked, { what: 'a request for it' });
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

	it.each(["={{ '' }}", null])(
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

it('never sends the token to the hosts of results', () => {
	expect(pair.service.leaks).toEqual([]);
});
