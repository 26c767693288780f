import type { SettingsInput } from '../../dev/service/index.cts';
import { createTask, start, startReceiver } from './support.cts';

/** Runs a task, and returns the callbacks that came for it. */
async function receive(
	prompt: string,
	settings?: SettingsInput,
	answer?: (index: number) => number,
) {
	const service = await start(settings);
	const { url, received } = await startReceiver(answer);
	const taskId = await createTask(service, prompt, url);
	await service.waitForTask(taskId);
	return { received, service, taskId };
}

test('the signature is the one that OpenSSL computes', async () => {
	// printf %s <taskId>.1700000000 | openssl dgst -sha256 -hmac dev-webhook-key -binary | base64
	const service = await start();
	expect(service.sign('0123456789abcdef0123456789abcdef', 1700000000)).toBe(
		'spmiifS8bv2PgAuRK/QrfexqpumDn/wIpdkECRbDt4c=',
	);
});

test.each([
	['', { code: 200, msg: 'success' }, 'task_completed'],
	['#fail', { code: 501, msg: 'The generation failed: the prompt was refused.' }, 'task_failed'],
])('the body is no more than the contract says: "%s"', async (prompt, result, callbackType) => {
	const { received, taskId } = await receive(prompt);
	const data = { task_id: taskId, callbackType };
	expect(received.map(({ body }) => body)).toEqual([{ taskId, ...result, data }]);
	expect(received[0]?.headers['content-type']).toBe('application/json');
});

test.each([
	['', true, 0],
	['#forgedSignature', false, 0],
	['#staleTimestamp', true, 3600],
])('"%s" signs rightly: %s, for a time %i s ago', async (prompt, rightly, age) => {
	const { received, service, taskId } = await receive(prompt);
	const headers = received[0]?.headers ?? {};
	const timestamp = Number(headers['x-webhook-timestamp']);
	expect(Math.abs(Date.now() / 1000 - age - timestamp)).toBeLessThan(3);
	expect(headers['x-webhook-signature']).toHaveLength(44);
	expect(headers['x-webhook-signature'] === service.sign(taskId, timestamp)).toBe(rightly);
});

test.each([
	['#unsigned', undefined],
	['', ''],
])('"%s" and the key %j: no signature headers', async (prompt, webhookSecret) => {
	const { received } = await receive(prompt, { webhookSecret });
	expect(received).toHaveLength(1);
	expect(received[0]?.headers).not.toHaveProperty('x-webhook-signature');
	expect(received[0]?.headers).not.toHaveProperty('x-webhook-timestamp');
});

test('retries stop at the first 2xx, and each is signed anew', async () => {
	const settings = { callbackRetrySeconds: [1.05, 0.01, 0.01] };
	const statuses = [500, 302, 204];
	const { received, service, taskId } = await receive('', settings, (n) => statuses[n] ?? 200);
	expect(service.tasks.get(taskId)?.callbacks.map(({ status }) => status)).toEqual(statuses);
	const times = received.map(({ headers }) => Number(headers['x-webhook-timestamp']));
	expect(times[1]).toBeGreaterThan(times[0] ?? Infinity);
	expect(received.map(({ headers }) => headers['x-webhook-signature'])).toEqual(
		times.map((time) => service.sign(taskId, time)),
	);
});
