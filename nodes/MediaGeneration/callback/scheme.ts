import { createHmac } from 'crypto';

/**
 * How the service signs callbacks: headers, what is signed, the key, and what is said of them. For a
 * service that signs otherwise, this file alone changes. What every scheme needs is in `signature`
 * (the keys, comparing in constant time) and `verify` (the age, the body).
 */

/** The headers of a signed callback: Unix time in seconds, and the signature in Base64. */
const TIMESTAMP_HEADER = 'X-Webhook-Timestamp';
const SIGNATURE_HEADER = 'X-Webhook-Signature';

/** How far a timestamp may be off by default, in seconds either way. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** What the service calls the key, in its account settings. */
export const KEY_NAME = 'webhookHmacKey';

/** How to get a key, without a period. */
export const GET_KEY = `Generate a ${KEY_NAME} in your account settings with the service and paste it into the credential`;

/** Says what is wrong with a key, such as that one callback is enough to find it by trying. */
export const findKeyFault = (key: string): string | undefined =>
	key.length < 16
		? 'has fewer than 16 characters, so it can be guessed, and whoever has it can forge callbacks'
		: undefined;

/** What panels say of the body of a signed callback: whom to believe. */
export const ABOUT_BODY = "The signature doesn't cover a callback's body.";

/** What the headers of a callback say, once they are there. */
export interface Signature {
	/** Unix time in seconds, as its header has it. Whether it is one, `verify` looks. */
	timestamp: string;
	/** One of these must be what the key makes. Empty: what is given can't be a signature. */
	given: string[];
}

/** What may be signed, beside what the headers say. */
export interface SignedContent {
	taskId: string;
	/** The body's bytes, as they came. */
	bytes: Uint8Array;
}

/** Reads the headers; undefined if one is missing. @param read returns '' for a missing header */
export function readSignature(read: (name: string) => string): Signature | undefined {
	const [timestamp, signature] = [read(TIMESTAMP_HEADER), read(SIGNATURE_HEADER)];
	// Base64 of 32 bytes. A proxy joins repeated headers by commas, which none of them has.
	const given = /^[A-Za-z0-9+/]{43}=$/.test(signature) ? [signature] : [];
	return timestamp && signature ? { timestamp, given } : undefined;
}

const buildSignedText = (taskId: string, timestamp: string): string => `${taskId}.${timestamp}`;

/**
 * Signs as described in the task-service interface, "Callback signature verification".
 * @returns undefined if the key can't be one of this scheme, so that nothing is signed with it
 */
export const sign = (
	{ timestamp }: Signature,
	{ taskId }: SignedContent,
	key: string,
): string | undefined =>
	createHmac('sha256', key).update(buildSignedText(taskId, timestamp)).digest('base64');

/** What can be wrong with a signature: the HTTP status, and what the sender is told. */
export const SIGNATURE_FAULTS = {
	headerMissing: [401, `Both ${TIMESTAMP_HEADER} and ${SIGNATURE_HEADER} are required, once each`],
	timestampMalformed: [401, `${TIMESTAMP_HEADER} must be Unix time in seconds, digits only`],
	timestampStale: [401, `${TIMESTAMP_HEADER} is too far from the present time`],
	signatureWrong: [
		401,
		`${SIGNATURE_HEADER} must be the Base64 of the HMAC-SHA256 of "${buildSignedText('<task ID>', '<timestamp>')}", by the ${KEY_NAME} in the receiver's credential`,
	],
	keyMissing: [401, 'The receiver has no key to verify signatures with'],
} as const;
