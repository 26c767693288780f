import { isObject, parseJson } from '../lib/json';
import { readWebUrl } from '../lib/url';

/** Where files are: URLs, schemes of services, attachments of tables. */

/** One with a dot is a host, and what follows its port. */
const SCHEME = /^([a-z][a-z\d+-]+):\S+$/i;

/** The schemes of files elsewhere, and slips of http, such as htps. */
const NO_OWN_SCHEME = /^(data|file|blob|localhost|[htps]+)$/i;

/** Says whether a text is an address whose scheme is a service's own, such as asset:1. */
export function hasOwnScheme(text: string): boolean {
	const [, scheme] = SCHEME.exec(text) ?? [];
	return scheme !== undefined && !NO_OWN_SCHEME.test(scheme);
}

/** What is no path: a drive of Windows, a scheme that is no service's own, slips of http://, n/a. */
const NO_PATH = /^([a-z]:|[htps]+(:|;|\/\/)|data:|file:|blob:|n\/a$)/i;

/** Says whether a text may be an address that only the service knows, such as /uploads/a. */
export const mayBeAddress = (text: string): boolean =>
	hasOwnScheme(text) || (/^[^\s/]*\/\S*$/.test(text) && !NO_PATH.test(text));

/** Recognizes n8n's own object of a file: of a binary field, or what its form has in `json`. */
export const isOfFile = (value: unknown): value is Record<string, unknown> =>
	isObject(value) && ('mimeType' in value || 'mimetype' in value);

/** Reads the first link of an attachment, as tables have them; undefined if it has none. */
export function readAttachment(attachment: Record<string, unknown>): string | undefined {
	const { signedUrl, url, src, file, external } = attachment;
	const inside = [file, external].map((part) => (isObject(part) ? part.url : undefined));
	for (const link of [signedUrl, url, src, ...inside]) {
		const found = typeof link === 'string' ? readWebUrl(link) : undefined;
		if (found) return found;
	}
	return undefined;
}

/** In the quotes of JSON, of code, and of writing in several languages. */
const QUOTED = /"[^"\n]*"|'[^'\n]*'|[“„”][^“„”\n]*[“”]|‘[^‘’\n]*’|«[^«»\n]*»/g;

/** Splits a list that was pasted with its quotes; undefined for any other text. */
function splitQuoted(text: string): string[] | undefined {
	const entries = text.match(QUOTED);
	const isList = entries && /^[\s,[\]]*$/.test(text.replace(QUOTED, ''));
	return isList ? entries.map((entry) => entry.slice(1, -1)) : undefined;
}

/** Splits a list at commas and line breaks, but not at a comma in a URL with no space after it. */
export const splitList = (text: string): string[] =>
	splitQuoted(text) ??
	text
		.split(/\n|,(?=\s|$)|,(?=[a-z][a-z\d+.-]+:)/i)
		.flatMap((part) => (/:\/\/|^\s*data:/i.test(part) ? [part] : part.split(',')))
		.map((part) => part.trim())
		.filter(Boolean);

/** Parses a text that is written as a JSON list or object; undefined for any other value. */
export const parseParts = (value: unknown): unknown =>
	typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : undefined;
