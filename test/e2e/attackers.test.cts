import { expect } from '@jest/globals';
import { generate, buildPrompts } from '../../dev/fixtures/workflows.cts';
import { defaults } from '../../dev/service/settings.cts';
import { signHeaders } from '../../dev/service/signHeaders.cts';
import { DETAILS_PATH, usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 0.05, callbackRetrySeconds: [] } });

describe('anyone who can send requests to the resume URL of an execution that sleeps', () => {
	const PROMPT = '#slow=15';
	let executionId: string;
	let taskId: string;
	let resumeUrl: URL;
	let taskData: object;

	/** Reads whether the execution sleeps, and when n8n itself would end the sleep. */
	const readSleep = async () =>
		await pair.n8n.request<{ status: string; waitTill: string }>(
			'GET',
			`/rest/executions/${executionId}`,
		);

	beforeEach(async () => {
		executionId = await pair.startSleeping(
			buildPrompts([PROMPT]),
			generate({ options: { howToWait: 'callback' } }),
		);
		const task = pair.findTask(PROMPT);
		taskId = task.taskId;
		resumeUrl = new URL(String(task.callBackUrl));
		taskData = { task_id: taskId };
	});

	it('wakes the execution by nothing but the end of its task', async () => {
		const token = String(resumeUrl.searchParams.get('signature'));
		const { href: url } = resumeUrl;
		const [path = ''] = url.split('?');
		const nudge = { ...taskData, callbackType: 'nudge', state: 'success' };
		const before = await readSleep();
		/** By what is sent: the URL, what differs from a callback, the status of the answer, and how many looks follow. */
		const rows: Record<string, [url: string, more: object, status: number, looks: number]> = {
			'no token': [path, {}, 401, 0],
			'another token': [`${path}?signature=${'0'.repeat(token.length)}`, {}, 401, 0],
			'the token of an array': [`${path}?signature[]=${token}`, {}, 401, 0],
			'no node in the path': [url.replace('/media-generation', ''), {}, 404, 0],
			GET: [url, { method: 'GET', key: '', body: undefined }, 404, 0],
			'no signature': [url, { key: '' }, 401, 0],
			'another key': [url, { key: 'another key' }, 401, 0],
			'a claim': [url, { body: { code: 200, data: { ...taskData, state: 'success' } } }, 503, 1],
			'a nudge': [url, { body: { data: nudge, resumed: true } }, 200, 1],
			'a nudge without a signature': [url, { key: '', body: { data: nudge } }, 200, 1],
			'15 MB': [url, { body: { data: taskData, more: 'x'.repeat(15e6) } }, 503, 1],
			'the prototype': [url, { body: JSON.parse('{"__proto__":{"data":{}}}') as object }, 400, 0],
		};
		for (const [name, [to, more, status, looks]] of Object.entries(rows)) {
			const count = pair.countRequests(DETAILS_PATH);
			const { key, body, ...sent } = {
				...{ method: 'POST', key: defaults.webhookSecret, body: { data: taskData } },
				...more,
			};
			const headers = { 'content-type': 'application/json', ...(key && signHeaders(body, key)) };
			const response = await fetch(to, { ...sent, headers, body: JSON.stringify(body) });
			const counted = pair.countRequests(DETAILS_PATH) - count;
			expect({ name, status: response.status, looks: counted }).toEqual({ name, status, looks });
			expect(await readSleep()).toMatchObject({ status: 'waiting', waitTill: before.waitTill });
		}
	});
});
