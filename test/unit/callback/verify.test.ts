import fc from 'fast-check';
import { callbackCases } from '../../../dev/fixtures/callbackCases.cts';
import { hostileCallbacks } from '../../../dev/fixtures/hostileCallbacks.cts';
import { signHeaders } from '../../../dev/service/signHeaders.cts';
import { FAULTS, readForm, verify } from '../../../nodes/MediaGeneration/callback/verify';

const seconds = 1_763_640_000;
const taskId = 'task';
const keys = { current: 'key', previous: 'old key' };
const options = { toleranceSeconds: 300, now: seconds * 1_000 };

const bytes = Buffer.from('{}');

/** Verifies as a receiver does, and shows how it refuses. */
function receive(headers: Record<string, unknown>, body: unknown, toleranceSeconds = 300) {
	const verdict = verify({ headers, body, bytes }, keys, { ...options, toleranceSeconds });
	const [reason] = verdict.faults;
	return reason ? { ...verdict, reason, status: FAULTS[reason][0] } : verdict;
}

const body = { taskId, code: 200, data: { task_id: taskId, callbackType: 'task_completed' } };

const headers = (timestamp: number | string = seconds, key = keys.current, task_id = taskId) =>
	signHeaders({ data: { task_id } }, key, timestamp);

it('what is read of a callback is what was signed, its age, and what it claims', () => {
	const given = headers(seconds - 5);
	expect(readForm({ headers: given, body, bytes }, options, true)).toEqual({
		faults: [],
		taskId,
		signature: {
			timestamp: given['x-webhook-timestamp'],
			given: [given['x-webhook-signature']],
		},
		clockDifferenceSeconds: -5,
		claim: { status: 'completed', type: 'task_completed' },
	});
});

const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) as object;
const facts = { taskId, claim: { status: 'completed', type: undefined } };
it.each<[string, object, object, object]>([
	[
		'stale, and the body nested too deep',
		headers(seconds - 400, keys.previous),
		deep,
		{
			faults: ['timestampStale', 'bodyTooDeep'],
			...facts,
			clockDifferenceSeconds: -400,
			signedBy: 'previous',
		},
	],
	[
		'stale, of a stranger, and the body nested too deep',
		headers(seconds + 400, 'stranger'),
		deep,
		{
			faults: ['timestampStale', 'bodyTooDeep', 'signatureWrong'],
			...facts,
			clockDifferenceSeconds: 400,
		},
	],
	[
		'no timestamp, though the key signed it',
		headers('now'),
		{},
		{ faults: ['timestampMalformed'], ...facts, signedBy: 'current' },
	],
	[
		'stale, and no signature at all',
		{ ...headers(seconds - 400), 'x-webhook-signature': 'none' },
		{},
		{
			faults: ['timestampStale', 'signatureWrong'],
			...facts,
			clockDifferenceSeconds: -400,
		},
	],
])(
	'a refused callback has all its faults, and all that is known of it: %s',
	(_, given, more, verdict) => {
		const request = {
			headers: given as Record<string, unknown>,
			body: { data: { task_id: taskId }, more },
			bytes,
		};
		expect(verify(request, keys, options)).toStrictEqual(verdict);
	},
);

it.each<[string, object, unknown]>([
	['headerMissing', {}, 'text'],
	['bodyNotAnObject', headers(seconds - 400), 'text'],
	['taskIdMissing', headers(seconds - 400), { data: deep }],
	['taskIdMalformed', headers(seconds - 400), { data: { task_id: '..' } }],
	['taskIdContradictory', headers(seconds - 400), { taskId: 'other', data: { taskId } }],
])('%s ends the reading, with or without keys', (fault, given, content) => {
	const request = { headers: given as Record<string, unknown>, body: content, bytes };
	for (const some of [keys, undefined])
		expect(verify(request, some, options)).toStrictEqual({ faults: [fault] });
});

it('a receiver without keys refuses what is signed; one that wants no signature takes it', () => {
	const request = { headers: headers(seconds - 400), body, bytes };
	const verdict = verify(request, undefined, options);
	expect(verdict).toMatchObject({ faults: ['timestampStale', 'keyMissing'], taskId });
	expect(verdict).not.toHaveProperty('signedBy');
	expect(verify(request, 'off', options).faults).toEqual([]);
});

const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
it.each(callbackCases(subject))('a callback gets $status: $name', (one) => {
	const { status, reason } = one;
	expect(receive(one.headers, one.body)).toMatchObject(
		reason ? { status, reason } : { faults: [], taskId },
	);
});

it('if signatures are not verified, their headers are not looked at', () => {
	const given = { 'x-webhook-timestamp': 'now' };
	const verdict = verify({ headers: given, body: { data: { taskId } }, bytes }, 'off', options);
	expect(verdict).toMatchObject({ faults: [], taskId });
});

const long = '1234567890123456789';
it.each([
	['at the top', '123', { taskId: 123, data: { task_id: '123' } }],
	['in data', '123', { taskId: '123', data: { task_id: 123 } }],
	['of a record', '123', { data: { taskId: 123 } }],
	['at the top, rounded', long, { taskId: Number(long), data: { task_id: long } }],
	['of 256 characters, of any script', '\u{1f600}'.repeat(256), undefined],
])('an ID counts that is a number, or long: %s', (_, id, content) => {
	const verdict = receive(headers(seconds, keys.current, id), content ?? { data: { task_id: id } });
	expect(verdict).toMatchObject({ faults: [], taskId: id });
});

it.each([
	[-301, 300, { reason: 'timestampStale', clockDifferenceSeconds: -301 }],
	[-300, 300, { faults: [], taskId }],
	[300, 300, { faults: [], taskId }],
	[301, 300, { reason: 'timestampStale', clockDifferenceSeconds: 301 }],
	[1 - seconds, 0, { faults: [], taskId }],
])('a timestamp %d s off is held to a tolerance of %d', (off, toleranceSeconds, verdict) => {
	expect(receive(headers(seconds + off), body, toleranceSeconds)).toMatchObject(verdict);
});

it('what can be no signature is refused before a key is read', () => {
	const text = 'A'.repeat(42);
	for (const signature of [`${text}AA=`, `${text}=`, `${text}==`, ` ${text}=`, `${text}A=\n`]) {
		const given = { ...headers(), 'x-webhook-signature': signature };
		expect(readForm({ headers: given, body, bytes }, options, true).faults).toEqual([
			'signatureWrong',
		]);
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
])('the claimed status is read of %s', (_, code, data, status) => {
	const { claim } = receive(headers(), { code, data: { task_id: taskId, ...data } });
	expect(claim).toMatchObject({ status });
});

it('20,000 hostile callbacks are refused, also with a genuine signature if it is of another task', () => {
	const passed = new Set<string | undefined>();
	fc.assert(
		fc.property(hostileCallbacks({ taskId, seconds, key: keys.current }), (hostile) => {
			const verdict = receive(hostile.headers, hostile.body);
			expect([400, 401]).toContain('status' in verdict && verdict.status);
			const seen = receive(headers(), hostile.body);
			if (!seen.faults.length) passed.add(seen.taskId);
		}),
		{ numRuns: 20_000 },
	);
	expect(passed).toEqual(new Set([taskId]));
});
