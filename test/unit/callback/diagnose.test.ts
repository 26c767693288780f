import { callbackCases, hmac } from '../../../dev/fixtures/callbackCases.cts';
import { diagnose } from '../../../nodes/MediaGeneration/callback/diagnose';

const seconds = 1_763_640_000;
const taskId = 'task-8f3b';
const keys = { current: 'whk_current', previous: 'whk_previous' };
const options = { toleranceSeconds: 300, now: seconds * 1_000 };
const body = { taskId, data: { task_id: taskId } };
const base64 = hmac(taskId, seconds, keys.current).toString('base64');

const sign = (key = keys.current, timestamp = seconds) => ({
	'X-Webhook-Timestamp': String(timestamp),
	'X-Webhook-Signature': hmac(taskId, timestamp, key).toString('base64'),
});

const genuine = { genuine: true, message: 'The callback is genuine.' };
const facts = { taskId, signature: 'current', clockDifferenceSeconds: 0 };

it('a genuine callback is known by header names in any case, and a number for the time', () => {
	const headers = { ' X-WEBHOOK-TIMESTAMP': seconds, 'x-webhook-signature': base64 };
	expect(diagnose({ headers, body }, keys, options)).toStrictEqual({ ...genuine, ...facts });
});

it.each([
	[-4_321, keys.current, 'timestampStale', 'current', 'Set the clocks'],
	[301, keys.previous, 'timestampStale', 'previous', 'set Tolerance (Seconds) to 0'],
	[-301, 'stranger', 'timestampStale', undefined, 'Set the clocks'],
	[300, 'stranger', 'signatureWrong', undefined, "Compare 'Webhook HMAC Key'"],
])('%d s off, signed with %s: %s', (off, key, reason, signature, words) => {
	const headers = sign(key, seconds + off);
	expect(diagnose({ headers, body }, keys, options)).toEqual({
		genuine: false,
		reason,
		message: expect.stringContaining(words),
		taskId,
		...(signature && { signature }),
		clockDifferenceSeconds: off,
	});
	const atAnyTime = diagnose({ headers, body }, keys, { ...options, toleranceSeconds: 0 });
	expect(atAnyTime).toMatchObject({ genuine: key !== 'stranger', clockDifferenceSeconds: off });
});

it('without a key in the credential, it says where to get one', () => {
	expect(diagnose({ headers: sign(), body }, undefined, options)).toEqual({
		genuine: false,
		reason: 'keyMissing',
		message: expect.stringMatching(/no key .*\. Paste .* into 'Webhook HMAC Key'/),
		taskId,
		clockDifferenceSeconds: 0,
	});
});

it.each<[string, Record<string, unknown>, unknown]>([
	['headerMissing', { 'X-Webhook-Timestamp': null, 'X-Webhook-Signature': base64 }, body],
	['headerMissing', { ...sign(), 'X-Webhook-Signature': [base64] }, body],
	['taskIdMissing', sign(), { taskId }],
])('%s is told without facts', (reason, headers, content) => {
	const message = expect.stringMatching(/^[A-Z].*[^.]\.?$/);
	expect(diagnose({ headers, body: content }, keys, options)).toEqual({
		genuine: false,
		reason,
		message,
	});
});

it.each([
	['keyMissing', undefined, seconds - 400],
	['timestampStale', keys, seconds - 400],
	['signatureWrong', keys, seconds],
])(
	'of a signature that is none and what else is wrong, the owner corrects first: %s',
	(reason, some, time) => {
		const headers = { ...sign(keys.current, time), 'X-Webhook-Signature': 'none' };
		const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) as object;
		const diagnosis = diagnose({ headers, body: { ...body, deep } }, some, options);
		expect(diagnosis).toMatchObject({ reason, taskId, clockDifferenceSeconds: time - seconds });
	},
);

const subject = { taskId, seconds, key: keys.current, previousKey: keys.previous };
it.each(callbackCases(subject))(
	'it agrees with the trigger, and gives away neither key nor signature: $name',
	({ headers, body: content, status }) => {
		const diagnosis = diagnose({ headers, body: content }, keys, options);
		expect([diagnosis.genuine, !diagnosis.reason]).toEqual([status === 200, status === 200]);
		const shown = JSON.stringify({ ...diagnosis, taskId: undefined });
		for (const secret of [keys.current, keys.previous, base64]) expect(shown).not.toContain(secret);
	},
);
