import fc from 'fast-check';
import { judgeCallback } from '../../nodes/MediaGeneration/service/callback';
import { sign } from '../../nodes/MediaGeneration/service/signature';

const now = 1_763_640_000_000;
const keys = { current: 'key', previous: 'old key' };
const settings = { keys, toleranceSeconds: 300, now };

const body = (data: unknown = { task_id: 'task', callbackType: 'task_completed' }) => ({
	taskId: 'task',
	code: 200,
	msg: 'success',
	data,
});

const headers = (seconds: number | string = now / 1000, key = keys.current, taskId = 'task') => ({
	'x-webhook-timestamp': String(seconds),
	'x-webhook-signature': sign(taskId, String(seconds), key),
});

describe('judgeCallback', () => {
	it('accepts a genuine callback', () => {
		expect(judgeCallback(headers(), body(), settings)).toEqual({
			accepted: true,
			taskId: 'task',
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

	const good = headers();
	it.each<[string, Record<string, unknown>, unknown, number, string]>([
		['no headers', {}, body(), 401, 'headerMissing'],
		['no timestamp', { ...good, 'x-webhook-timestamp': undefined }, body(), 401, 'headerMissing'],
		['no signature', { ...good, 'x-webhook-signature': undefined }, body(), 401, 'headerMissing'],
		['a blank signature', { ...good, 'x-webhook-signature': '' }, body(), 401, 'headerMissing'],
		[
			'several timestamps',
			{ ...good, 'x-webhook-timestamp': ['1', '2'] },
			body(),
			401,
			'headerMissing',
		],
		['a timestamp with a sign', headers('+1763640000'), body(), 401, 'timestampMalformed'],
		['a timestamp with an exponent', headers('1.76364e9'), body(), 401, 'timestampMalformed'],
		[
			'a timestamp that repeats',
			headers('1763640000, 1763640000'),
			body(),
			401,
			'timestampMalformed',
		],
		['an old timestamp', headers(now / 1000 - 301), body(), 401, 'timestampStale'],
		['a timestamp ahead', headers(now / 1000 + 301), body(), 401, 'timestampStale'],
		['a timestamp in milliseconds', headers(now), body(), 401, 'timestampStale'],
		['no body', good, undefined, 400, 'bodyNotAnObject'],
		['a list', good, [body()], 400, 'bodyNotAnObject'],
		['text', good, 'task', 400, 'bodyNotAnObject'],
		['no data', good, { taskId: 'task' }, 400, 'taskIdMissing'],
		['data that is text', good, { taskId: 'task', data: 'task' }, 400, 'taskIdMissing'],
		['no task id', good, body({}), 400, 'taskIdMissing'],
		['a blank task id', good, body({ task_id: '' }), 400, 'taskIdMissing'],
		['a task id that is a number', good, body({ task_id: 5 }), 400, 'taskIdMissing'],
		['two task ids that differ', good, { ...body(), taskId: 'other' }, 400, 'taskIdContradictory'],
		[
			'the signature of another task',
			headers(undefined, undefined, 'other'),
			body(),
			401,
			'signatureWrong',
		],
		['the signature of another key', headers(undefined, 'stranger'), body(), 401, 'signatureWrong'],
		[
			'the signature of another time',
			{ ...good, 'x-webhook-timestamp': String(now / 1000 + 1) },
			body(),
			401,
			'signatureWrong',
		],
	])('refuses %s', (_, given, content, status, reason) => {
		expect(judgeCallback(given, content, settings)).toMatchObject({
			accepted: false,
			status,
			reason,
		});
	});

	it.each([-300, 0, 300])('accepts a timestamp that is %d seconds off', (seconds) => {
		expect(judgeCallback(headers(now / 1000 + seconds), body(), settings).accepted).toBe(true);
	});

	it('accepts any age when the tolerance is 0', () => {
		const verdict = judgeCallback(headers(1), body(), { ...settings, toleranceSeconds: 0 });
		expect(verdict.accepted).toBe(true);
	});

	it('accepts a body without the top-level task id', () => {
		expect(judgeCallback(headers(), { data: { task_id: 'task' } }, settings).accepted).toBe(true);
	});

	it('looks at no header when signatures are not verified, and says so', () => {
		const verdict = judgeCallback({}, body(), { toleranceSeconds: 300, now });
		expect(verdict).toMatchObject({ accepted: true, signature: 'off' });
	});

	it.each([
		['the contract', body(), 'completed'],
		[
			'a failed task',
			{ ...body({ task_id: 'task', callbackType: 'task_failed' }), code: 501 },
			'failed',
		],
		['a failed record', { ...body({ task_id: 'task', state: 'fail' }), code: 501 }, 'failed'],
		['a record', body({ task_id: 'task', state: 'success', resultJson: '{}' }), 'completed'],
		['a code other than 200 alone', { ...body({ task_id: 'task' }), code: 501 }, 'failed'],
	])('reads the claimed status of %s', (_, content, claimedStatus) => {
		expect(judgeCallback(headers(), content, settings)).toMatchObject({ claimedStatus });
	});

	it('accepts nothing unsigned and never throws, whatever is sent', () => {
		const anyHeaders = fc.dictionary(
			fc.constantFrom('x-webhook-timestamp', 'x-webhook-signature', 'host'),
			fc.oneof(fc.string(), fc.nat().map(String), fc.array(fc.string()), fc.constant(undefined)),
		);
		const anyBody = fc.oneof(
			fc.anything(),
			fc.record({ taskId: fc.anything(), data: fc.record({ task_id: fc.anything() }) }),
		);
		fc.assert(
			fc.property(anyHeaders, anyBody, (given, content) => {
				expect(judgeCallback(given, content, settings).accepted).toBe(false);
			}),
			{ numRuns: 2000 },
		);
	});
});
