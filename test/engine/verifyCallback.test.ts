import { startService, type Service } from '../../dev/service/index.cts';
import { run } from './engine';

const KEY = 'whk_engine_key';

let service: Service;

beforeAll(async () => {
	service = await startService({ webhookSecret: KEY });
});

afterAll(async () => await service.close());

const verify = async (
	parameters: { headers: unknown; body: unknown; options?: object },
	credential: object = {},
) =>
	await run({
		parameters: { resource: 'task', operation: 'verifyCallback', ...parameters } as never,
		credentials: {
			baseUrl: 'http://127.0.0.1:9',
			accessToken: 'a-token',
			webhookSecret: KEY,
			...credential,
		},
	});

const signed = (timestamp = Math.floor(Date.now() / 1000)) => ({
	'X-Webhook-Timestamp': String(timestamp),
	'X-Webhook-Signature': service.sign('task', timestamp),
});

const body = { taskId: 'task', data: { task_id: 'task' } };

describe('task: verifyCallback', () => {
	it('says that a callback is genuine, and needs no service for it', async () => {
		const { output } = await verify({ headers: signed(), body });
		expect(output[0]?.[0]?.json).toMatchObject({
			genuine: true,
			taskId: 'task',
			signature: 'current',
		});
	});

	it('takes headers and body as text too', async () => {
		const { output } = await verify({
			headers: JSON.stringify(signed()),
			body: JSON.stringify(body),
		});
		expect(output[0]?.[0]?.json.genuine).toBe(true);
	});

	it('says by how much a callback is stale, and looks at an old one when the tolerance is 0', async () => {
		const old = Math.floor(Date.now() / 1000) - 3_600;
		const stale = await verify({ headers: signed(old), body });
		const json = stale.output[0]?.[0]?.json ?? {};
		expect(json).toMatchObject({
			genuine: false,
			reason: 'timestampStale',
			message: expect.stringMatching(/360\d s before now, and its signature is right/),
		});
		expect(json.clockDifferenceSeconds).toBeLessThan(-3_599);
		const any = await verify({ headers: signed(old), body, options: { toleranceSeconds: 0 } });
		expect(any.output[0]?.[0]?.json.genuine).toBe(true);
	});

	it('says that the key in the credential is wrong, and gives away no key and no signature', async () => {
		const headers = signed();
		const { output } = await verify({ headers, body }, { webhookSecret: 'whk_another' });
		expect(output[0]?.[0]?.json).toMatchObject({ genuine: false, reason: 'keyMismatch' });
		const said = JSON.stringify(output);
		for (const secret of ['whk_another', KEY, headers['X-Webhook-Signature']])
			expect(said).not.toContain(secret);
	});

	it('says that a body is no JSON, rather than stopping', async () => {
		const { output } = await verify({ headers: signed(), body: 'task=1' });
		expect(output[0]?.[0]?.json).toMatchObject({ genuine: false, reason: 'bodyNotAnObject' });
	});

	it('asks for headers that are an object', async () => {
		const { error } = await verify({ headers: 'X-Webhook-Timestamp: 1', body });
		expect(error?.message).toMatch(/^'Headers' must be a JSON object.*\[item 0\]$/);
	});
});
