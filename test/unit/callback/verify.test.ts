import fc from 'fast-check';
import { callbackCases, hmac } from '../../../dev/fixtures/callbackCases.cts';
import { hostileCallbacks } from '../../../dev/fixtures/hostileCallbacks.cts';
import { REFUSALS } from '../../../nodes/MediaGeneration/callback/refusals';
import { findMatchingSecret } from '../../../nodes/MediaGeneration/callback/signature';
import { checkForm } from '../../../nodes/MediaGeneration/callback/verify';

const seconds = 1_763_640_000;
const taskId = 'task';
const keys = { current: 'key', previous: 'old key' };
const verified = { verifySignature: true, toleranceSeconds: 300 };

/** Verifies as the trigger does, and shows the status of a refusal. */
function verify(headers: Record<string, unknown>, body: unknown, settings = verified) {
	const form = checkForm(headers, body, settings, seconds * 1_000);
	const isUnsigned = 'taskId' in form && !findMatchingSecret(form, keys);
	const verdict = isUnsigned ? { reason: 'signatureWrong' as const } : form;
	return 'reason' in verdict ? { ...verdict, status: REFUSALS[verdict.reason][0] } : verdict;
}

const body = { taskId, code: 200, data: { task_id: taskId, callbackType: 'task_completed' } };

const headers = (timestamp: number | string = seconds, key = keys.current, id = taskId) => ({
	'x-webhook-timestamp': String(timestamp),
	'x-webhook-signature': hmac(id, timestamp, key).toString('base64'),
});

it('what is read of a callback is what was signed, its age, and what it claims', () => {
	const given = headers(seconds - 5);
	expect(verify(given, body)).toEqual({
		taskId,
		timestamp: given['x-webhook-timestamp'],
		signature: given['x-webhook-signature'],
		clockDifferenceSeconds: -5,
		claimedStatus: 'completed',
		callbackType: 'task_completed',
	});
});

const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
it.each(callbackCases(subject))('a callback gets $status: $name', (one) => {
	const { status, reason } = one;
	expect(verify(one.headers, one.body)).toMatchObject(reason ? { status, reason } : { taskId });
});

it('if signatures are not verified, their headers are not looked at', () => {
	const given = { 'x-webhook-timestamp': 'now' };
	const form = checkForm(given, { data: { taskId } }, { ...verified, verifySignature: false });
	expect(form).toMatchObject({ taskId });
});

const long = '1234567890123456789';
it.each([
	['at the top', '123', { taskId: 123, data: { task_id: '123' } }],
	['in data', '123', { taskId: '123', data: { task_id: 123 } }],
	['of a record', '123', { data: { taskId: 123 } }],
	['at the top, rounded', long, { taskId: Number(long), data: { task_id: long } }],
	['of 256 characters, of any script', '\u{1f600}'.repeat(256), undefined],
])('an ID counts that is a number, or long: %s', (_, id, content) => {
	const verdict = verify(headers(seconds, keys.current, id), content ?? { data: { task_id: id } });
	expect(verdict).toMatchObject({ taskId: id });
});

it.each([
	[-301, 300, { reason: 'timestampStale', clockDifferenceSeconds: -301 }],
	[-300, 300, { taskId }],
	[300, 300, { taskId }],
	[301, 300, { reason: 'timestampStale', clockDifferenceSeconds: 301 }],
	[1 - seconds, 0, { taskId }],
])('a timestamp %d s off is held to a tolerance of %d', (off, toleranceSeconds, verdict) => {
	const settings = { ...verified, toleranceSeconds };
	expect(verify(headers(seconds + off), body, settings)).toMatchObject(verdict);
});

it('what can be no signature is refused before a key is read', () => {
	const text = 'A'.repeat(42);
	for (const signature of [`${text}AA=`, `${text}=`, `${text}==`, ` ${text}=`, `${text}A=\n`]) {
		const given = { ...headers(), 'x-webhook-signature': signature };
		const form = checkForm(given, body, verified, seconds * 1_000);
		expect(form).toEqual({ reason: 'signatureWrong' });
	}
});

it.each<[string, number | string, object, string]>([
	['a failed task, whatever the code', 200, { callbackType: 'TASK_FAILED' }, 'failed'],
	['a record, not its type', 501, { state: 'success', callbackType: 'fail' }, 'completed'],
	['a record that goes on', 200, { state: 'generating' }, 'pending'],
	['a record without words', 200, { state: 1, callbackType: ['fail'] }, 'completed'],
	['a code other than 200 alone', 501, {}, 'failed'],
	['a code of 200 as text', '200', {}, 'completed'],
	['a code that is none', 'none', {}, 'completed'],
	['a part of the text', 200, { callbackType: 'text' }, 'pending'],
	['the first part', '200', { callbackType: 'First' }, 'pending'],
	['a part beside an ended record', 200, { callbackType: 'first', state: 'success' }, 'pending'],
	['more than a part', 200, { callbackType: 'first_and_last' }, 'completed'],
	['other than a part', 200, { callbackType: 'full_text' }, 'completed'],
	['a part that failed', 501, { callbackType: 'text' }, 'failed'],
	['a state that no list has', 200, { state: 'polished' }, 'completed'],
	['such a state with a code of failure', 501, { state: 'polished' }, 'failed'],
])('the claimed status is read of %s', (_, code, data, claimedStatus) => {
	const verdict = verify(headers(), { code, data: { task_id: taskId, ...data } });
	expect(verdict).toMatchObject({ claimedStatus });
});

it('20,000 hostile callbacks are refused, also with a genuine signature if it is of another task', () => {
	const passed = new Set<string>();
	fc.assert(
		fc.property(hostileCallbacks({ taskId, seconds, key: keys.current }), (hostile) => {
			const verdict = verify(hostile.headers, hostile.body);
			expect([400, 401]).toContain('status' in verdict && verdict.status);
			const seen = verify(headers(), hostile.body);
			if ('taskId' in seen) passed.add(seen.taskId);
		}),
		{ numRuns: 20_000 },
	);
	expect(passed).toEqual(new Set([taskId]));
});
