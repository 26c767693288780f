import fc from 'fast-check';
import { judgeCallback } from '../../nodes/MediaGeneration/service/callback';
import { callbackCases, hmac } from './callbackCases';

const seconds = 1_763_640_000;
const taskId = 'task';
const keys = { current: 'key', previous: 'old key' };
const settings = { keys, toleranceSeconds: 300, now: seconds * 1_000 };

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

describe('judgeCallback', () => {
	it('accepts a genuine callback', () => {
		expect(judgeCallback(headers(), body(), settings)).toEqual({
			accepted: true,
			taskId,
			signature: 'current',
			claimedStatus: 'completed',
		});
	});

	it('says when the previous key matched', () => {
		expect(judgeCallback(headers(undefined, keys.previous), body(), settings)).toMatchObject({
			accepted: true,
			signature: 'previous',
		});
	});

	const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
	it.each(callbackCases(subject))('answers $status to a callback: $name', (one) => {
		expect(judgeCallback(one.headers, one.body, settings)).toMatchObject(
			one.reason
				? { accepted: false, status: one.status, reason: one.reason }
				: { accepted: true, taskId },
		);
	});

	it.each(['x-webhook-timestamp', 'x-webhook-signature'])('refuses %s as a list', (name) => {
		const given = { ...headers(), [name]: [headers()[name as 'x-webhook-timestamp']] };
		expect(judgeCallback(given, body(), settings)).toMatchObject({ reason: 'headerMissing' });
	});

	it.each([-300, 0, 300])('accepts a timestamp that is %d seconds off', (off) => {
		expect(judgeCallback(headers(seconds + off), body(), settings).accepted).toBe(true);
	});

	it.each([-301, 301])('refuses one that is %d seconds off', (off) => {
		const verdict = judgeCallback(headers(seconds + off), body(), settings);
		expect(verdict).toMatchObject({ status: 401, reason: 'timestampStale' });
	});

	it('accepts any age when the tolerance is 0', () => {
		const verdict = judgeCallback(headers(1), body(), { ...settings, toleranceSeconds: 0 });
		expect(verdict.accepted).toBe(true);
	});

	it('accepts a task id of 256 characters, of any script', () => {
		const id = '\u{1f600}'.repeat(256);
		const verdict = judgeCallback(
			headers(seconds, keys.current, id),
			{ data: { task_id: id } },
			settings,
		);
		expect(verdict).toMatchObject({ accepted: true, taskId: id });
	});

	it('looks at the signature headers only when signatures are verified, and says so', () => {
		const verdict = judgeCallback({}, body(), { toleranceSeconds: 300, now: settings.now });
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
			expect(judgeCallback(given, trap, settings)).toMatchObject({ status: 401 });
	});

	it.each([
		['the contract', body(), 'completed'],
		[
			'a failed task',
			{ ...body({ task_id: taskId, callbackType: 'task_failed' }), code: 501 },
			'failed',
		],
		['a failed record', { ...body({ task_id: taskId, state: 'fail' }), code: 501 }, 'failed'],
		['a record', body({ task_id: taskId, state: 'success', resultJson: '{}' }), 'completed'],
		['a code other than 200 alone', { ...body({ task_id: taskId }), code: 501 }, 'failed'],
	])('reads the claimed status of %s', (_, content, claimedStatus) => {
		expect(judgeCallback(headers(), content, settings)).toMatchObject({ claimedStatus });
	});
});

describe('20,000 hostile callbacks, from the grammar of the cases', () => {
	/** What an attacker can sign with; the receiver's keys are not among it. */
	const strangerKey = fc.constantFrom('', ' ', 'Key', 'key ', 'old', 'stranger');
	const time = fc.oneof(
		fc.constant(String(seconds)),
		fc.integer({ min: -300, max: 300 }).map((off) => String(seconds + off)),
		fc.nat().map(String),
		fc.constant(String(seconds * 1_000)),
		fc
			.tuple(fc.constantFrom('+', '-', ' ', '0x', '00', ''), fc.nat())
			.map((parts) => parts.join('')),
		fc
			.tuple(fc.constant(String(seconds)), fc.constantFrom('e0', '.0', ' ', ', 1', 'n', '\u00b2'))
			.map((parts) => parts.join('')),
		fc.string(),
	);
	const encoding = fc.constantFrom<BufferEncoding>('base64', 'hex', 'base64url', 'latin1');
	const spoil = fc.constantFrom<(text: string) => string>(
		(text) => text,
		(text) => ` ${text}`,
		(text) => `${text}\n`,
		(text) => `${text}, ${text}`,
		(text) => text.slice(0, -1),
		(text) => text.toLowerCase(),
		(text) => `sha256=${text}`,
	);
	const id = fc.oneof(fc.constant(taskId), fc.string(), fc.string({ unit: 'binary' }));
	const anyId = fc.oneof(id, fc.anything(), fc.array(id), fc.string({ minLength: 257 }));
	const content = fc.oneof(
		fc.record({ data: fc.record({ task_id: id }) }),
		fc.record({ taskId: anyId, code: fc.anything(), data: fc.record({ task_id: anyId }) }),
		fc.record({ taskId: anyId, data: fc.anything() }),
		fc.anything(),
		fc.jsonValue({ maxDepth: 40 }),
	);
	const contentType = fc.option(
		fc.constantFrom('application/json', 'text/plain', 'multipart/form-data; boundary=x', ''),
		{ nil: undefined },
	);
	const forged = fc
		.tuple(time, strangerKey, id, encoding, spoil)
		.map(([timestamp, key, signedId, form, spoiled]) => ({
			'x-webhook-timestamp': timestamp,
			'x-webhook-signature': spoiled(hmac(signedId, timestamp, key).toString(form)),
		}));
	/** A genuine signature that was seen, of the one task at the one time. */
	const seen = headers();
	const replayed = fc.oneof(
		spoil
			.filter((spoiled) => spoiled('A') !== 'A')
			.map((spoiled) => ({
				...seen,
				'x-webhook-signature': spoiled(seen['x-webhook-signature']),
			})),
		time
			.filter((other) => other !== seen['x-webhook-timestamp'])
			.map((other) => ({ ...seen, 'x-webhook-timestamp': other })),
	);
	const loose = fc.dictionary(
		fc.constantFrom('x-webhook-timestamp', 'x-webhook-signature', 'host'),
		fc.oneof(fc.anything(), fc.array(fc.string()), time),
	);
	const hostileHeaders = fc
		.tuple(fc.oneof(forged, replayed, loose), contentType)
		.map(([given, type]) => ({ ...given, 'content-type': type }));

	it('are refused, each with 400 or 401 and a reason, and none makes it throw', () => {
		fc.assert(
			fc.property(hostileHeaders, content, (given, sent) => {
				const verdict = judgeCallback(given, sent, settings);
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
			fc.property(content, (sent) => {
				const verdict = judgeCallback(seen, sent, settings);
				if (verdict.accepted) expect(verdict.taskId).toBe(taskId);
			}),
			{ numRuns: 20_000 },
		);
	});
});
