import { createHmac } from 'crypto';
import { findKey, type SigningKeys } from './signature';

/**
 * A reference is a text of the user's own, in the query of a callback URL. Whoever knows the URL can
 * write a query, so we sign the text. The signature proves that a holder of the key wrote the text, but
 * not to which task the text belongs.
 */

/** The parameter of the URL. Its value is the text and its signature, both in base64url. */
export const REFERENCE = 'reference';

/**
 * Signs a text. Strangers may choose the text, so no signature of a reference may pass as that of a
 * callback. The first line prevents this: nothing that the service signs for a callback begins with it.
 */
const signReference = (text: string, key: string): string =>
	createHmac('sha256', key).update(`${REFERENCE}\n${text}`).digest('base64url');

/** Adds a reference to a URL. All other parts of the URL stay as they are written. */
export function addReference(url: string, text: string, { current }: SigningKeys): string {
	const [address = ''] = url.split('#');
	const fragment = url.slice(address.length);
	const value = `${Buffer.from(text).toString('base64url')}.${signReference(text, current)}`;
	return `${address}${address.includes('?') ? '&' : '?'}${REFERENCE}=${value}${fragment}`;
}

/**
 * Reads a reference; undefined unless one of the keys signed the text. Nothing is thrown.
 * @param value of the parameter, as n8n parsed the query: a list if the parameter is repeated
 */
export function readReference(value: unknown, keys: SigningKeys): string | undefined {
	if (typeof value !== 'string') return undefined;
	const [, encoded = '', signature] = /^([\w-]+)\.([\w-]{43})$/.exec(value) ?? [];
	if (!signature) return undefined;
	const text = Buffer.from(encoded, 'base64url').toString();
	return findKey([signature], (key) => signReference(text, key), keys) ? text : undefined;
}
