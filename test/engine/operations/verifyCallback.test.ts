import type { INodeParameters } from 'n8n-workflow';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import { useService } from '../engine';

const engine = useService();

const body = { taskId: 'task', data: { task_id: 'task' } };

/** The headers of a callback that was signed this number of seconds ago. */
const sign = (secondsAgo = 0) =>
	signHeaders(body, 'a-key', Math.floor(Date.now() / 1000) - secondsAgo);

/** Verifies a callback with a credential whose service is not there. */
const verify = async (parameters: INodeParameters) =>
	await engine.run(
		{ resource: 'task', operation: 'verifyCallback', headers: sign(), body, ...parameters },
		{ credentials: () => ({ baseUrl: 'http://127.0.0.1:9' }) },
	);

const genuine = { genuine: true, taskId: 'task', signature: 'current' };
const notJson = { genuine: false, reason: 'bodyNotAnObject' };
const inText = { headers: JSON.stringify(sign()), body: JSON.stringify(body) };
const old = sign(3_600);
const stale = { genuine: false, reason: 'timestampStale', signature: 'current' };

it.each<[string, INodeParameters, object]>([
	['says that a callback is genuine, and needs no service for it', {}, genuine],
	['takes headers and body as text too', inText, genuine],
	['says that one is stale, and whose signature it has', { headers: old }, stale],
	['says that a body is no JSON', { body: 'task=1' }, notJson],
])('%s', async (_, parameters, json) => {
	expect((await verify(parameters)).output).toMatchObject([{ json }]);
});

it('refuses headers as text', async () => {
	const { error, output } = await verify({ headers: 'X-Webhook-Timestamp: 1' });
	expect(error?.message).toContain("'Headers' must be a JSON object");
	expect(output).toEqual([]);
});
