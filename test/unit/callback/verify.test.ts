import fc from 'fast-check';
import { callbackCases, hmac } from '../../../dev/fixtures/callbackCases.cts';
import { hostileCallbacks } from '../../../dev/fixtures/hostileCallbacks.cts';
import { REFUSALS } from '../../../nodes/MediaGeneration/callback/refusals';
import { checkForm, checkSignature } from '../../../nodes/MediaGeneration/callback/verify';

const seconds = 1_763_640_000;
const taskId = 'task';
const keys = { current: 'key', previous: 'old key' };

/** Verifies as the trigger does, and shows the status of a refusal. */
function verify(
	headers: Record<string, unknown>,
	body: unknown,
	{ toleranceSeconds = 300, isSigned = true } = {},
) {
	const form = checkForm(headers, body, { isSigned, toleranceSeconds, now: seconds * 1_000 });
	const verdict = 'reason' in form ? form : checkSignature(form, isSigned ? keys : undefined);
	return 'reason' in verdict ? { ...verdict, status: REFUSALS[verdict.reason][0] } : verdict;
}

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

it.each(['current', 'previous'] as const)('a callback of the %s key is accepted', (verifiedBy) => {
	const given = headers(seconds - 5, keys[verifiedBy]);
	expect(verify(given, body())).toEqual({
		taskId,
		timestamp: given['x-webhook-timestamp'],
		signature: given['x-webhook-signature'],
		clockDifferenceSeconds: -5,
		claimedStatus: 'completed',
		callbackType: 'task_completed',
		verifiedBy,
	});
});

const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
it.each(callbackCases(subject))('a callback gets $status: $name', (one) => {
	const { status, reason } = one;
	expect(verify(one.headers, one.body)).toMatchObject(reason ? { status, reason } : { taskId });
});

it('without a key, headers are not looked at', () => {
	const given = { 'x-webhook-timestamp': 'now' };
	const verdict = verify(given, { data: { taskId } }, { isSigned: false });
	expect(verdict).toMatchObject({ taskId, verifiedBy: 'off' });
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
	expect(verify(headers(seconds + off), body(), { toleranceSeconds })).toMatchObject(verdict);
});

it('missing headers are refused before the body is looked at', () => {
	const look = () => {
		throw new Error('looked');
	};
	const trap = new Proxy({}, { get: look });
	for (const name of Object.keys(headers()))
		expect(verify({ ...headers(), [name]: '' }, trap)).toMatchObject({ reason: 'headerMissing' });
});

it.each([
	`${'A'.repeat(44)}=`,
	`${'A'.repeat(42)}=`,
	`${'A'.repeat(42)}==`,
	` ${'A'.repeat(42)}=`,
	`${'A'.repeat(20)}=${'A'.repeat(23)}`,
])('%j can be no signature, so no key is needed to refuse it', (signature) => {
	const given = { ...headers(), 'x-webhook-signature': signature };
	const settings = { isSigned: true, toleranceSeconds: 300, now: seconds * 1_000 };
	expect(checkForm(given, body(), settings)).toEqual({ reason: 'signatureWrong' });
});

it.each<[string, number | string | undefined, object, string]>([
	['a failed task, whatever the code', 200, { callbackType: 'TASK_FAILED' }, 'failed'],
	['a record, not its type', 501, { state: 'success', callbackType: 'fail' }, 'completed'],
	['a record that goes on', 200, { state: 'generating' }, 'pending'],
	['a record without words', 200, { state: 1, callbackType: ['fail'] }, 'completed'],
	['a code other than 200 alone', 501, {}, 'failed'],
	['a code as text', '501', {}, 'failed'],
	['a code of 200 as text', '200', {}, 'completed'],
	['a code that is none', 'none', {}, 'completed'],
	['no code', undefined, {}, 'completed'],
	['a part of the text', 200, { callbackType: 'text' }, 'pending'],
	['the first part', '200', { callbackType: 'First' }, 'pending'],
	['a part beside an ended record', 200, { callbackType: 'first', state: 'success' }, 'pending'],
	['more than a part', 200, { callbackType: 'first_and_last' }, 'completed'],
	['other than a part', 200, { callbackType: 'full_text' }, 'completed'],
	['a part that failed', 501, { callbackType: 'text' }, 'failed'],
	['the last part', 200, { callbackType: 'complete' }, 'completed'],
	['a state that no list has', 200, { state: 'polished' }, 'completed'],
	['such a state with a code of failure', 501, { state: 'polished' }, 'failed'],
])('the claimed status is read of %s', (_, code, data, claimedStatus) => {
	const content = { ...body({ task_id: taskId, ...data }), code };
	expect(verify(headers(), content)).toMatchObject({ claimedStatus });
});

describe('20,000 hostile callbacks, from the grammar of the cases', () => {
	const hostile = hostileCallbacks({ taskId, seconds, key: keys.current });

	it('are refused with 400 or 401, and none makes it throw', () => {
		fc.assert(
			fc.property(hostile, (one) => {
				expect([400, 401]).toContain((verify(one.headers, one.body) as { status?: number }).status);
			}),
			{ numRuns: 20_000 },
		);
	});

	it('with a genuine signature that was seen, pass for no other task', () => {
		const passed = new Set<string>();
		fc.assert(
			fc.property(hostile, ({ body: sent }) => {
				const verdict = verify(headers(), sent);
				if ('taskId' in verdict) passed.add(verdict.taskId);
			}),
			{ numRuns: 20_000 },
		);
		expect(passed).toEqual(new Set([taskId]));
	});
});
