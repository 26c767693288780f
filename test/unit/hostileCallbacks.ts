import fc from 'fast-check';
import { hmac, type CaseSubject } from './callbackCases';

export interface HostileCallback {
	headers: Record<string, unknown>;
	body: unknown;
}

/**
 * Callbacks of someone who knows the task, the contract and one genuine callback of the task, but not the key; none is
 * genuine. The key is only for that one callback.
 */
export function hostileCallbacks({
	taskId,
	seconds,
	key,
}: Pick<CaseSubject, 'taskId' | 'seconds' | 'key'>): fc.Arbitrary<HostileCallback> {
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
		.map(([timestamp, signer, signedId, form, spoiled]) => ({
			'x-webhook-timestamp': timestamp,
			'x-webhook-signature': spoiled(hmac(signedId, timestamp, signer).toString(form)),
		}));
	/** A genuine signature that was seen, of the one task at the one time. */
	const seen = {
		'x-webhook-timestamp': String(seconds),
		'x-webhook-signature': hmac(taskId, seconds, key).toString('base64'),
	};
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
	const headers = fc
		.tuple(fc.oneof(forged, replayed, loose), contentType)
		.map(([given, type]) => ({ ...given, 'content-type': type }));
	return fc.record({ headers, body: content });
}
