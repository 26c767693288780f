import { useService } from './engine';

const engine = useService();

/** Verifies a callback with a credential whose service is not there. */
const verify = async (
	parameters: { headers?: object | string; body?: object | string; options?: object },
	credentials: object = {},
) => {
	const { output, error } = await engine.run(
		{
			resource: 'task',
			operation: 'verifyCallback',
			headers: sign(),
			body: { taskId: 'task', data: { task_id: 'task' } },
			...parameters,
		} as never,
		{ credentials: { baseUrl: 'http://127.0.0.1:9', ...credentials } },
	);
	return { json: output[0]?.[0]?.json ?? {}, error };
};

const readClock = () => Math.floor(Date.now() / 1000);

const sign = (timestamp = readClock()) => ({
	'X-Webhook-Timestamp': String(timestamp),
	'X-Webhook-Signature': engine.service.sign('task', timestamp),
});

describe('task: verifyCallback', () => {
	it('says that a callback is genuine, and needs no service for it', async () => {
		const genuine = { genuine: true, taskId: 'task', signature: 'current' };
		expect((await verify({})).json).toMatchObject(genuine);
	});

	it('takes headers and body as text too', async () => {
		const headers = JSON.stringify(sign());
		expect((await verify({ headers, body: '{"data":{"task_id":"task"}}' })).json.genuine).toBe(
			true,
		);
	});

	it('says by how much a callback is stale, and looks at an old one when the tolerance is 0', async () => {
		const headers = sign(readClock() - 3_600);
		const { json } = await verify({ headers });
		expect(json).toMatchObject({
			genuine: false,
			reason: 'timestampStale',
			message: expect.stringMatching(/360\d s before now, and its signature is right/),
		});
		expect(json.clockDifferenceSeconds).toBeLessThan(-3_599);
		const tolerant = await verify({ headers, options: { toleranceSeconds: 0 } });
		expect(tolerant.json.genuine).toBe(true);
	});

	it('says that the key in the credential is wrong, and gives away no key and no signature', async () => {
		const headers = sign();
		const { json } = await verify({ headers }, { webhookSecret: 'another-key' });
		expect(json).toMatchObject({ genuine: false, reason: 'keyMismatch' });
		for (const secret of ['another-key', 'a-key', headers['X-Webhook-Signature']])
			expect(JSON.stringify(json)).not.toContain(secret);
	});

	it('says that a body is no JSON, rather than stopping', async () => {
		const { json } = await verify({ body: 'task=1' });
		expect(json).toMatchObject({ genuine: false, reason: 'bodyNotAnObject' });
	});

	it('asks for headers that are an object', async () => {
		const { error } = await verify({ headers: 'X-Webhook-Timestamp: 1' });
		expect(error?.message).toMatch(/^'Headers' must be a JSON object.*\[item 0\]$/);
	});
});
