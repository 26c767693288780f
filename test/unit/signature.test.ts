import fc from 'fast-check';
import * as crypto from 'crypto';
import {
	findMatchingSecret,
	getSigningSecrets,
	sign,
} from '../../nodes/MediaGeneration/callback/signature';

jest.mock('crypto', () => ({
	...jest.requireActual<typeof crypto>('crypto'),
	timingSafeEqual: jest.fn(jest.requireActual<typeof crypto>('crypto').timingSafeEqual),
}));

/** Made with: printf '%s' 'task-8f3b.1763640000' | openssl dgst -sha256 -hmac 'whk_test_key' -binary | base64 */
const vector = {
	taskId: 'task-8f3b',
	timestamp: '1763640000',
	key: 'whk_test_key',
	signature: 'aN+CwMkHbTQne8Za8G9tSIjsQvciU5vyjlIeMDx/Zio=',
};

const match = (signature: string, keys: { current: string; previous?: string }) =>
	findMatchingSecret(signature, vector.taskId, vector.timestamp, keys);

describe('sign', () => {
	it('gives the Base64 of HMAC-SHA256 over id, period and timestamp', () => {
		expect(sign(vector.taskId, vector.timestamp, vector.key)).toBe(vector.signature);
	});
});

describe('findMatchingSecret', () => {
	it('is the current key for what it signed', () => {
		expect(match(vector.signature, { current: vector.key })).toBe('current');
	});

	it('is the previous key while the key is being rotated', () => {
		expect(match(vector.signature, { current: 'new', previous: vector.key })).toBe('previous');
	});

	it('is the current key when both are the same', () => {
		expect(match(vector.signature, { current: vector.key, previous: vector.key })).toBe('current');
	});

	it.each([
		['another key', vector.signature, 'other'],
		['no signature', '', vector.key],
		['the signature in hex', Buffer.from(vector.signature, 'base64').toString('hex'), vector.key],
		['the signature cut short', vector.signature.slice(0, -1), vector.key],
		['the signature with more behind it', `${vector.signature}=`, vector.key],
		['the signature with blanks', ` ${vector.signature}`, vector.key],
		['text of the same length outside ASCII', 'é'.repeat(22), vector.key],
	])('is none for %s', (_, signature, key) => {
		expect(match(signature, { current: key })).toBeUndefined();
	});

	it('compares with each secret in constant time, wherever the first wrong byte stands', () => {
		const compare = jest.mocked(crypto.timingSafeEqual);
		const { signature } = vector;
		for (const given of [signature, `b${signature.slice(1)}`, `${signature.slice(0, -2)}b=`]) {
			compare.mockClear();
			match(given, { current: vector.key, previous: 'old' });
			expect(compare).toHaveBeenCalledTimes(2);
			for (const [one, other] of compare.mock.calls)
				expect([one.byteLength, other.byteLength]).toEqual([44, 44]);
		}
	});

	it('is never a blank key, though HMAC would take one', () => {
		for (const blank of ['', ' ', '\n\t']) {
			const signature = sign(vector.taskId, vector.timestamp, blank);
			expect(match(signature, { current: blank, previous: blank })).toBeUndefined();
		}
	});

	it('holds for whatever was signed, and for nothing that differs in id, timestamp or key', () => {
		const text = fc.string({ minLength: 1 });
		const filledKey = text.filter((sample) => sample.trim() !== '');
		fc.assert(
			fc.property(text, fc.nat(), filledKey, text, (taskId, time, key, suffix) => {
				const timestamp = String(time);
				const signature = sign(taskId, timestamp, key);
				const held = { current: key };
				expect(findMatchingSecret(signature, taskId, timestamp, held)).toBe('current');
				expect(findMatchingSecret(signature, taskId + suffix, timestamp, held)).toBeUndefined();
				expect(findMatchingSecret(signature, taskId, `${timestamp}0`, held)).toBeUndefined();
				expect(
					findMatchingSecret(signature, taskId, timestamp, { current: `${key}x` }),
				).toBeUndefined();
			}),
		);
	});

	it('never throws, whatever a sender chose', () => {
		fc.assert(
			fc.property(
				fc.string({ unit: 'binary' }),
				fc.string({ unit: 'binary' }),
				fc.string({ unit: 'binary' }),
				(signature, taskId, timestamp) => {
					expect(
						findMatchingSecret(signature, taskId, timestamp, { current: 'key' }),
					).toBeUndefined();
				},
			),
		);
	});
});

it.each([
	['the current key', { webhookSecret: 'new' }, { current: 'new', previous: undefined }],
	[
		'both keys',
		{ webhookSecret: 'new', previousWebhookSecret: 'old' },
		{ current: 'new', previous: 'old' },
	],
	[
		'no previous key of blanks, which anyone could guess',
		{ webhookSecret: 'new', previousWebhookSecret: '  ' },
		{ current: 'new', previous: undefined },
	],
	['none without a current key', { previousWebhookSecret: 'old' }, undefined],
	['no current key of blanks', { webhookSecret: '  ', previousWebhookSecret: 'old' }, undefined],
])('signing secrets are %s', (_, credentials, secrets) => {
	expect(getSigningSecrets(credentials)).toEqual(secrets);
});
