import fc from 'fast-check';
import { checkHeaders, verifyCallback } from '../../nodes/MediaGeneration/callback/verify';
import { callbackCases, hmac } from '../../dev/fixtures/callbackCases.cts';
import { hostileCallbacks } from '../../dev/fixtures/hostileCallbacks.cts';

const seconds = 1_763_640_000;
const taskId = 'task';
const keys = { current: 'key', previous: 'old key' };
const settings = { secrets: keys, toleranceSeconds: 300, now: seconds * 1_000 };

const body = (data: unknown = { task_id: taskId, callbackType: 'task_completed' }) => ({
	taskId,
	code: 200,
	msg: 'success',
	data,
});

const headers = (timestamp: number | string = seconds, key = keys.current, id = taskId) => ({
	'x-webhook-timestamp': String(timestamp),
	'x-webhook-signature': hmac(id, timestamp, key).toString('base64'),
});

describe('verifyCallback', () => {
	it('accepts a genuine callback', () => {
		expect(verifyCallback(headers(), body(), settings)).toEqual({
			accepted: true,
			taskId,
			signature: 'current',
			claimedStatus: 'completed',
		});
	});

	it('says when the previous key matched', () => {
		expect(verifyCallback(headers(undefined, keys.previous), body(), settings)).toMatchObject({
			accepted: true,
			signature: 'previous',
		});
	});

	const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
	it.each(callbackCases(subject))('answers $status to a callback: $name', (one) => {
		expect(verifyCallback(one.headers, one.body, settings)).toMatchObject(
			one.reason
				? { accepted: false, status: one.status, reason: one.reason }
				: { accepted: true, taskId },
		);
	});

	it.each(['x-webhook-timestamp', 'x-webhook-signature'])('refuses %s as a list', (name) => {
		const given = { ...headers(), [name]: [headers()[name as 'x-webhook-timestamp']] };
		expect(verifyCallback(given, body(), settings)).toMatchObject({ reason: 'headerMissing' });
	});

	it.each([-300, 0, 300])('accepts a timestamp that is %d seconds off', (off) => {
		expect(verifyCallback(headers(seconds + off), body(), settings).accepted).toBe(true);
	});

	it.each([-301, 301])('refuses one that is %d seconds off', (off) => {
		const verdict = verifyCallback(headers(seconds + off), body(), settings);
		expect(verdict).toMatchObject({ status: 401, reason: 'timestampStale' });
	});

	it('accepts any age when the tolerance is 0', () => {
		const verdict = verifyCallback(headers(1), body(), { ...settings, toleranceSeconds: 0 });
		expect(verdict.accepted).toBe(true);
	});

	it('accepts a task id of 256 characters, of any script', () => {
		const id = '\u{1f600}'.repeat(256);
		const verdict = verifyCallback(
			headers(seconds, keys.current, id),
			{ data: { task_id: id } },
			settings,
		);
		expect(verdict).toMatchObject({ accepted: true, taskId: id });
	});

	it('looks at the signature headers only when signatures are verified, and says so', () => {
		const verdict = verifyCallback({}, body(), { toleranceSeconds: 300, now: settings.now });
		expect(verdict).toMatchObject({ accepted: true, signature: 'off' });
	});

	it('refuses by the headers before it looks at the body', () => {
		const trap = new Proxy(
			{},
			{
				get: () => {
					throw new Error('looked');
				},
			},
		);
		const { 'x-webhook-signature': signature, ...rest } = headers();
		for (const given of [rest, { ...rest, 'x-webhook-signature': `${signature}=` }, headers(1)])
			expect(verifyCallback(given, trap, settings)).toMatchObject({ status: 401 });
	});

	it.each([
		`${'A'.repeat(44)}=`,
		`${'A'.repeat(42)}=`,
		`${'A'.repeat(42)}==`,
		` ${'A'.repeat(42)}=`,
		`${'A'.repeat(20)}=${'A'.repeat(23)}`,
	])('refuses by the headers alone what can be no signature: %j', (signature) => {
		const given = { ...headers(), 'x-webhook-signature': signature };
		const verdict = checkHeaders(given, { signed: true, toleranceSeconds: 300, now: settings.now });
		expect(verdict).toMatchObject({ status: 401, reason: 'signatureWrong' });
	});

	it.each<[string, number | string | undefined, object, string]>([
		['the contract', 200, { callbackType: 'task_completed' }, 'completed'],
		['a failed task', 501, { callbackType: 'task_failed' }, 'failed'],
		['a failed task, whatever the code', 200, { callbackType: 'TASK_FAILED' }, 'failed'],
		['a record', 200, { state: 'success', resultJson: '{}' }, 'completed'],
		['a failed record', 501, { state: 'fail' }, 'failed'],
		[
			'a record, whatever type and code',
			501,
			{ state: 'success', callbackType: 'fail' },
			'completed',
		],
		['a record that goes on', 200, { state: 'generating' }, 'pending'],
		['a record without words', 200, { state: 1, callbackType: ['fail'] }, 'completed'],
		['a code other than 200 alone', 501, {}, 'failed'],
		['a code as text', '501', {}, 'failed'],
		['a code of 200 as text', '200', {}, 'completed'],
		['a code that is none', 'none', {}, 'completed'],
		['no code', undefined, {}, 'completed'],
	])('reads the claimed status of %s', (_, code, data, claimedStatus) => {
		const content = { ...body({ task_id: taskId, ...data }), code };
		expect(verifyCallback(headers(), content, settings)).toMatchObject({ claimedStatus });
	});
});

describe('20,000 hostile callbacks, from the grammar of the cases', () => {
	const hostile = hostileCallbacks({ taskId, seconds, key: keys.current });

	it('are refused, each with 400 or 401 and a reason, and none makes it throw', () => {
		fc.assert(
			fc.property(hostile, (one) => {
				const verdict = verifyCallback(one.headers, one.body, settings);
				expect(verdict).toMatchObject({
					accepted: false,
					status: expect.any(Number),
					reason: expect.any(String),
					message: expect.any(String),
				});
				expect([400, 401]).toContain(!verdict.accepted && verdict.status);
			}),
			{ numRuns: 20_000 },
		);
	});

	it('with a genuine signature that was seen, pass for no other task', () => {
		fc.assert(
			fc.property(hostile, ({ body: sent }) => {
				const verdict = verifyCallback(headers(), sent, settings);
				if (verdict.accepted) expect(verdict.taskId).toBe(taskId);
			}),
			{ numRuns: 20_000 },
		);
	});
});
