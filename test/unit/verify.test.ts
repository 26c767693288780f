import crypto from 'crypto';
import fc from 'fast-check';
import {
	checkForm,
	findMatchingSecret,
	getSigningSecrets,
	sign,
	verifyCallback,
} from '../../nodes/MediaGeneration/callback/verify';
import { callbackCases, hmac, otherBodyCases } from '../../dev/fixtures/callbackCases.cts';
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
	it.each(['current', 'previous'] as const)('accepts a callback of the %s key', (signature) => {
		expect(verifyCallback(headers(seconds, keys[signature]), body(), settings)).toEqual({
			accepted: true,
			taskId,
			signature,
			claimedStatus: 'completed',
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

	it.each(otherBodyCases(subject))('takes other bodies only when told: $name', (one) => {
		const verify = (otherBodies?: boolean) =>
			verifyCallback(one.headers, one.body, { ...settings, otherBodies });
		const judge = ({ status, reason }: { status: number; reason?: string }) =>
			reason ? { accepted: false, status, reason } : { accepted: true, taskId };
		expect([verify(), verify(false)]).toMatchObject([judge(one.contract), judge(one.contract)]);
		expect(verify(true)).toMatchObject(judge(one.other));
	});

	it.each([
		['data.taskId', { data: { taskId } }],
		['data.taskId', { taskId, data: { taskId } }],
		['taskId', { taskId }],
	])('names the option that helps where the ID is in %s', (place, content) => {
		expect(verifyCallback(headers(), content, settings)).toMatchObject({
			status: 400,
			message: `The body must have data.task_id. This one has its ID in ${place}: turn on 'Other Callback Bodies' in the trigger's Options to accept it`,
		});
	});

	it('names no option where there is no ID', () => {
		const message = 'The body must have data.task_id, as text';
		expect(verifyCallback(headers(), { data: {} }, settings)).toMatchObject({ message });
	});

	it('takes the first of the IDs where signatures are not verified', () => {
		const content = { taskId: 'top', data: { taskId: 'record' } };
		const unsigned = { ...settings, secrets: undefined, otherBodies: true };
		expect(verifyCallback({}, content, unsigned)).toMatchObject({
			taskId: 'record',
			signature: 'off',
		});
	});

	const long = '1234567890123456789';
	it.each([
		['at the top', '123', { taskId: 123, data: { task_id: '123' } }],
		['in data', '123', { taskId: '123', data: { task_id: 123 } }],
		['at the top, rounded', long, { taskId: Number(long), data: { task_id: long } }],
	])('takes an ID that is a number for its digits: %s', (_, id, content) => {
		const verdict = verifyCallback(headers(seconds, keys.current, id), content, settings);
		expect(verdict).toMatchObject({ accepted: true, taskId: id });
	});

	const isStale = { accepted: false, status: 401, reason: 'timestampStale' };
	it.each([
		[-301, 300, { ...isStale, clockDifferenceSeconds: -301 }],
		[-300, 300, { accepted: true }],
		[300, 300, { accepted: true }],
		[301, 300, { ...isStale, clockDifferenceSeconds: 301 }],
		[1 - seconds, 0, { accepted: true }],
	])('holds a timestamp %d s off to a tolerance of %d', (off, toleranceSeconds, verdict) => {
		const given = { ...settings, toleranceSeconds };
		expect(verifyCallback(headers(seconds + off), body(), given)).toMatchObject(verdict);
	});

	it('accepts a task ID of 256 characters, of any script', () => {
		const id = '\u{1f600}'.repeat(256);
		const given = headers(seconds, keys.current, id);
		const verdict = verifyCallback(given, { data: { task_id: id } }, settings);
		expect(verdict).toMatchObject({ accepted: true, taskId: id });
	});

	it('refuses by missing headers before it looks at the body', () => {
		const look = () => {
			throw new Error('looked');
		};
		const trap = new Proxy({}, { get: look });
		for (const name of Object.keys(headers()))
			expect(verifyCallback({ ...headers(), [name]: '' }, trap, settings)).toMatchObject({
				status: 401,
				reason: 'headerMissing',
			});
	});

	it.each([
		`${'A'.repeat(44)}=`,
		`${'A'.repeat(42)}=`,
		`${'A'.repeat(42)}==`,
		` ${'A'.repeat(42)}=`,
		`${'A'.repeat(20)}=${'A'.repeat(23)}`,
	])('refuses without a key what can be no signature: %j', (signature) => {
		const given = { ...headers(), 'x-webhook-signature': signature };
		const verdict = checkForm(given, body(), true, settings);
		expect(verdict).toMatchObject({ status: 401, reason: 'signatureWrong' });
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
		['a state that no list has', 200, { state: 'done' }, 'completed'],
		['such a state with a code of failure', 501, { state: 'done' }, 'failed'],
	])('reads the claimed status of %s', (_, code, data, claimedStatus) => {
		const content = { ...body({ task_id: taskId, ...data }), code };
		expect(verifyCallback(headers(), content, settings)).toMatchObject({ claimedStatus });
	});
});

describe('20,000 hostile callbacks, from the grammar of the cases', () => {
	const hostile = hostileCallbacks({ taskId, seconds, key: keys.current });

	it('are refused, each with 400 or 401 and a reason, and none makes it throw', () => {
		fc.assert(
			fc.property(hostile, fc.boolean(), (one, otherBodies) => {
				const verdict = verifyCallback(one.headers, one.body, { ...settings, otherBodies });
				const words = { reason: expect.any(String), message: expect.any(String) };
				expect(verdict).toMatchObject({ accepted: false, ...words });
				expect([400, 401]).toContain(!verdict.accepted && verdict.status);
			}),
			{ numRuns: 20_000 },
		);
	});

	it('with a genuine signature that was seen, pass for no other task', () => {
		const passed = new Set<string>();
		fc.assert(
			fc.property(hostile, fc.boolean(), ({ body: sent }, otherBodies) => {
				const verdict = verifyCallback(headers(), sent, { ...settings, otherBodies });
				if (verdict.accepted) passed.add(verdict.taskId);
			}),
			{ numRuns: 20_000 },
		);
		expect(passed).toEqual(new Set([taskId]));
	});
});

/** Made with: printf '%s' 'task-8f3b.1763640000' | openssl dgst -sha256 -hmac 'whk_test_key' -binary | base64 */
const vector = {
	taskId: 'task-8f3b',
	timestamp: '1763640000',
	key: 'whk_test_key',
	signature: 'aN+CwMkHbTQne8Za8G9tSIjsQvciU5vyjlIeMDx/Zio=',
};

const match = (signature: string, keys: { current: string; previous?: string }) =>
	findMatchingSecret(signature, vector.taskId, vector.timestamp, keys);

it('a signature is the Base64 of HMAC-SHA256 over ID, period and timestamp', () => {
	expect(sign(vector.taskId, vector.timestamp, vector.key)).toBe(vector.signature);
});

describe('findMatchingSecret', () => {
	const { key, signature } = vector;
	it.each([
		['the current key for what it signed', signature, { current: key }, 'current'],
		['the previous key while both count', signature, { current: 'new', previous: key }, 'previous'],
		['the current key when both match', signature, { current: key, previous: key }, 'current'],
		['none for another key', signature, { current: 'other' }, undefined],
		['none for one cut short', signature.slice(0, -1), { current: key }, undefined],
		['none for one with more behind it', `${signature}=`, { current: key }, undefined],
		['none for one of the same length outside ASCII', 'é'.repeat(22), { current: key }, undefined],
	])('is %s', (_, given, keys, matching) => {
		expect(match(given, keys)).toBe(matching);
	});

	it('compares with each secret in constant time, wherever the first wrong byte stands', () => {
		const compare = jest.spyOn(crypto, 'timingSafeEqual');
		for (const given of [signature, `b${signature.slice(1)}`, `${signature.slice(0, -2)}b=`]) {
			compare.mockClear();
			match(given, { current: key, previous: 'old' });
			expect(compare).toHaveBeenCalledTimes(2);
			for (const [one, other] of compare.mock.calls)
				expect([one.byteLength, other.byteLength]).toEqual([44, 44]);
		}
	});

	it('is never a blank key, though HMAC would take one', () => {
		for (const blank of ['', ' ', '\n\t']) {
			const forged = sign(vector.taskId, vector.timestamp, blank);
			expect(match(forged, { current: blank, previous: blank })).toBeUndefined();
		}
	});

	it('holds for whatever was signed, and for nothing that differs in ID, timestamp or key', () => {
		const text = fc.string({ minLength: 1 });
		const filled = text.filter((sample) => sample.trim() !== '');
		fc.assert(
			fc.property(text, fc.nat(), filled, text, (taskId, time, current, suffix) => {
				const signed = sign(taskId, String(time), current);
				const find = (id: string, timestamp: string, secret: string) =>
					findMatchingSecret(signed, id, timestamp, { current: secret });
				expect(find(taskId, String(time), current)).toBe('current');
				expect(find(taskId + suffix, String(time), current)).toBeUndefined();
				expect(find(taskId, `${time}0`, current)).toBeUndefined();
				expect(find(taskId, String(time), `${current}x`)).toBeUndefined();
			}),
		);
	});
});

const [webhookSecret, previousWebhookSecret] = ['new', 'old'];
it.each([
	['the current key', { webhookSecret }, { current: 'new' }],
	['both keys', { webhookSecret, previousWebhookSecret }, { current: 'new', previous: 'old' }],
	['no previous key of blanks', { webhookSecret, previousWebhookSecret: '  ' }, { current: 'new' }],
	['none without a current key', { previousWebhookSecret }, undefined],
	['no current key of blanks', { webhookSecret: '  ', previousWebhookSecret }, undefined],
])('signing secrets are %s', (_, credentials, secrets) => {
	expect(getSigningSecrets(credentials)).toEqual(secrets);
});
