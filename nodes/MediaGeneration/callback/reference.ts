import { createHmac } from 'crypto';
import { findKey, type SigningKeys } from './signature';

/**
 * A text of the user's own, in the query of a callback URL. We sign it, because whoever knows the URL
 * can write a query. It proves that a holder of the key wrote it, not of which task it is.
 */

/** The parameter of the URL. Its value is the text and the signature, both in base64url. */
export const REFERENCE = 'reference';

/**
 * Strangers may choose the text, so this must never be what the service signs for a callback: that
 * begins with a task's ID, which has no line break.
 */
const sign = (text: string, key: string): string =>
	createHmac('sha256', key).update(`${REFERENCE}\n${text}`).digest('base64url');

/** Tells whether a URL has the parameter already. With brackets, n8n makes a list of it too. */
export const hasReference = (url: string): boolean =>
	[...new URL(url).searchParams.keys()].some((name) => name.split('[')[0] === REFERENCE);

/** Adds a reference to a URL, whose other parts stay as they are written. */
export function addReference(url: string, text: string, { current }: SigningKeys): string {
	const [address = ''] = url.split('#');
	const fragment = url.slice(address.length);
	const value = `${Buffer.from(text).toString('base64url')}.${sign(text, current)}`;
	return `${address}${address.includes('?') ? '&' : '?'}${REFERENCE}=${value}${fragment}`;
}

/**
 * Reads a reference; undefined if none of the keys made it as it is. Nothing is thrown.
 * @param value of the parameter, as n8n parsed the query: a repeated one is a list
 */
export function readReference(value: unknown, keys: SigningKeys): string | undefined {
	if (typeof value !== 'string') return undefined;
	const [, encoded = '', given] = /^([\w-]+)\.([\w-]{43})$/.exec(value) ?? [];
	if (!given) return undefined;
	const text = Buffer.from(encoded, 'base64url').toString();
	return findKey([given], (key) => sign(text, key), keys) ? text : undefined;
}
