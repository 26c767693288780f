import crypto from 'crypto';
import { sign } from '../../../nodes/MediaGeneration/callback/scheme';
import { findSigner, readSigningKeys } from '../../../nodes/MediaGeneration/callback/signature';

/** Made with: printf '%s' 'task-8f3b.1763640000' | openssl dgst -sha256 -hmac 'whk_test_key' -binary | base64 */
const signature = 'aN+CwMkHbTQne8Za8G9tSIjsQvciU5vyjlIeMDx/Zio=';
const key = 'whk_test_key';
const content = { taskId: 'task-8f3b', bytes: Buffer.from('{}') };
const headers = (...given: string[]) => ({ timestamp: '1763640000', given });

it('a signature is the Base64 of HMAC-SHA256 over ID, period and timestamp', () => {
	expect(sign(headers(), content, key)).toBe(signature);
});

it.each([
	['the current one for what it signed', signature, { current: key }, 'current'],
	['the previous one while both count', signature, { current: 'new', previous: key }, 'previous'],
	['the current one when both match', signature, { current: key, previous: key }, 'current'],
	['none for another key', signature, { current: 'other' }, undefined],
	['none for one cut short', signature.slice(0, -1), { current: key }, undefined],
	['none for one of the same length outside ASCII', 'é'.repeat(22), { current: key }, undefined],
])('the key of a signature is %s', (_, given, keys, matching) => {
	expect(findSigner(headers(given), content, keys)).toBe(matching);
});

it('of several signatures, as of several keys of the service, one is enough, and none is not', () => {
	expect(findSigner(headers('other', signature), content, { current: key })).toBe('current');
	expect(findSigner(headers('other', 'another'), content, { current: key })).toBeUndefined();
	expect(findSigner(headers(), content, { current: key, previous: key })).toBeUndefined();
});

it('a signature is compared with each key in constant time, wherever the first wrong byte stands', () => {
	const compare = jest.spyOn(crypto, 'timingSafeEqual');
	for (const given of [signature, `b${signature.slice(1)}`, `${signature.slice(0, -2)}b=`]) {
		compare.mockClear();
		findSigner(headers(given), content, { current: key, previous: 'old' });
		expect(compare).toHaveBeenCalledTimes(2);
		for (const [one, other] of compare.mock.calls)
			expect([one.byteLength, other.byteLength]).toEqual([44, 44]);
	}
});

const INVISIBLE = ['', ' ', '\n\t', '\u00a0', '\u200b', '\ufeff\u00ad', '\u2800', '\u3164', '\0'];

it.each(INVISIBLE)('%j is no key, though everyone could sign with it', (blank) => {
	const forged = headers(sign(headers(), content, blank) as string);
	expect(findSigner(forged, content, { current: blank, previous: blank })).toBeUndefined();
	expect(readSigningKeys({ webhookSecret: blank, previousWebhookSecret: 'old' })).toBeUndefined();
	const secrets = readSigningKeys({ webhookSecret: 'new', previousWebhookSecret: blank });
	expect(secrets).toEqual({ current: 'new' });
});

it('the keys of a credential are the current one, and the previous one if there is any', () => {
	const [webhookSecret, previousWebhookSecret] = ['\u200bnew', 'old'];
	expect(readSigningKeys({ webhookSecret })).toEqual({ current: webhookSecret });
	const both = readSigningKeys({ webhookSecret, previousWebhookSecret });
	expect(both).toEqual({ current: webhookSecret, previous: 'old' });
	expect(readSigningKeys({ previousWebhookSecret })).toBeUndefined();
});
