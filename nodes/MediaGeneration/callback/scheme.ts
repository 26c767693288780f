import { createHmac } from 'crypto';

/**
 * How the service signs callbacks: the headers, what is signed with which key, and what the panels
 * and the pages say of all this. For a service that signs otherwise, only this file changes. What
 * every scheme needs is in `signature` (comparing with the keys in constant time) and `verify` (the
 * age and the body of a callback).
 */

/** The headers of a signed callback: Unix time in seconds, and the signature in Base64. */
const TIMESTAMP_HEADER = 'X-Webhook-Timestamp';
const SIGNATURE_HEADER = 'X-Webhook-Signature';

/** How far a timestamp may be off by default, in seconds either way. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** The name of the key in the account settings of the service. */
export const KEY_NAME = 'webhookHmacKey';

/** How to get a key, without a period. */
export const GET_KEY = `Generate a ${KEY_NAME} in your account settings with the service and paste it into the credential`;

/** Finds a fault of a key. Whoever has one signed callback can guess a short key. */
export const findKeyFault = (key: string): string | undefined =>
	key.length < 16
		? 'has fewer than 16 characters, so callbacks can be forged by guessing it'
		: undefined;

/** What the panel and the pages say of a callback's body. */
export const ABOUT_BODY = "The signature doesn't cover a callback's body.";

/** What the headers of a signed callback say. */
export interface SignatureHeaders {
	/** Meant as Unix time in seconds. `verify` checks the form. */
	timestamp: string;
	/** The key must make one of these. Empty: the header's value can't be a signature. */
	signatures: string[];
}

/** What a scheme may sign beside the headers. */
export interface SignedContent {
	taskId: string;
	/** The bytes of the body, as they came. */
	bytes: Uint8Array;
}

/** Reads the headers; undefined if one is missing. @param read returns '' for a missing header */
export function readSignatureHeaders(read: (name: string) => string): SignatureHeaders | undefined {
	const [timestamp, signature] = [read(TIMESTAMP_HEADER), read(SIGNATURE_HEADER)];
	// Base64 of 32 bytes has no comma, by which a proxy joins repeated headers.
	const signatures = /^[A-Za-z0-9+/]{43}=$/.test(signature) ? [signature] : [];
	return timestamp && signature ? { timestamp, signatures } : undefined;
}

const buildSignedText = (taskId: string, timestamp: string): string => `${taskId}.${timestamp}`;

/**
 * Makes the signature of a callback, as the contract describes it ("Callback signature verification").
 * @returns undefined if the key can't be a key of this scheme
 */
export const sign = (
	{ timestamp }: SignatureHeaders,
	{ taskId }: SignedContent,
	key: string,
): string | undefined =>
	createHmac('sha256', key).update(buildSignedText(taskId, timestamp)).digest('base64');

/** The faults of a signature: the HTTP status, and the text for the sender. */
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
