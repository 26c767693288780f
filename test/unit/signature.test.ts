import crypto from 'crypto';
import fc from 'fast-check';
import {
	findMatchingSecret,
	getSigningSecrets,
	sign,
} from '../../nodes/MediaGeneration/callback/signature';

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
		['none for no signature', '', { current: key }, undefined],
		['none for one cut short', signature.slice(0, -1), { current: key }, undefined],
		['none for one with more behind it', `${signature}=`, { current: key }, undefined],
		['none for one with blanks', ` ${signature}`, { current: key }, undefined],
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
