import type { INodeParameters } from 'n8n-workflow';
import { hmac } from '../../../../dev/fixtures/callbackCases.cts';
import { useService } from '../../engine';

const engine = useService();

/** The headers of a callback that was signed this number of seconds ago. */
function sign(secondsAgo = 0) {
	const timestamp = Math.floor(Date.now() / 1000) - secondsAgo;
	return {
		'X-Webhook-Timestamp': String(timestamp),
		'X-Webhook-Signature': hmac('task', timestamp, 'a-key').toString('base64'),
	};
}

const body = { taskId: 'task', data: { task_id: 'task' } };

/** Verifies a callback with a credential whose service is not there. */
const verify = async (parameters: INodeParameters) =>
	await engine.run(
		{ resource: 'task', operation: 'verifyCallback', headers: sign(), body, ...parameters },
		{ credentials: { baseUrl: 'http://127.0.0.1:9', webhookSecret: 'a-key' } },
	);

describe('task: verifyCallback', () => {
	const genuine = { genuine: true, taskId: 'task', signature: 'current' };
	const inText = { headers: JSON.stringify(sign()), body: JSON.stringify(body) };
	const old = sign(3_600);
	const stale = { reason: 'timestampStale', signature: 'current' };
	it.each<[string, INodeParameters, object]>([
		['says that a callback is genuine, and needs no service for it', {}, genuine],
		['takes headers and body as text too', inText, genuine],
		['says that one is stale, and whose signature it has', { headers: old }, stale],
		['holds it to the tolerance', { headers: old, options: { toleranceSeconds: 0 } }, genuine],
		['says that a body is no JSON', { body: 'task=1' }, { reason: 'bodyNotAnObject' }],
	])('%s', async (_, parameters, diagnosis) => {
		const { output } = await verify(parameters);
		expect(output[0]).toMatchObject([{ json: { genuine: false, ...diagnosis } }]);
	});

	it('refuses a tolerance that is none, which would make an old callback look genuine', async () => {
		const { error, output } = await verify({ headers: old, options: { toleranceSeconds: -1 } });
		expect(error?.message).toMatch(/^'Tolerance \(Seconds\)' in Options must be/);
		expect(output).toEqual([]);
	});

	it('asks for headers that are an object', async () => {
		const { error } = await verify({ headers: 'X-Webhook-Timestamp: 1' });
		expect(error?.message).toMatch(/^'Headers' must be a JSON object.*\[item 0\]$/);
	});
});
