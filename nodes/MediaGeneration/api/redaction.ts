import { isObject } from '../lib/json';

const HIDDEN = '***';

/** Shorter secrets, in characters, are hidden only in messages. In data they could be part of any word. */
const SHORTEST_IN_DATA = 8;

/** A value in a URL's query that looks like a secret: long, and only characters of hex, URL-safe Base64, or UUIDs. */
const TOKEN = /^[\w-]{16,}=*$/;

const MAX_TOKENS = 5;

/** The start of a URL that resumes an execution of n8n, plain or percent-encoded. */
const RESUME_URL =
	/(\/|%(?:25){0,3}2f)webhook-waiting\\{0,4}\1[^\s"'<>?]{0,200}?(?:\?|%(?:25){0,3}3f)(?:[^\s"'<>\\]|\\{1,4}u[\da-f]{4})+/gi;

const hideQuery = (url: string): string => url.replace(/(\?|%(?:25)*3f)[^]*/i, `$1${HIDDEN}`);

const listTokens = (values: Iterable<unknown>): string[] =>
	[...values]
		.filter((value): value is string => typeof value === 'string' && TOKEN.test(value))
		.slice(0, MAX_TOKENS);

/** Lists the tokens in the query of a call to our webhook. */
export const listQuerySecrets = (query: object): string[] => listTokens(Object.values(query));

/** Lists the secrets of a callback URL: its login, its whole query, and the tokens in the query. */
export function listUrlSecrets(url: string): string[] {
	if (!URL.canParse(url)) return [];
	const { username, password, searchParams } = new URL(url);
	const [query = ''] = /[?#].+/s.exec(url) ?? [];
	const login = password && `${username}:${password}@`;
	return [login, password, query, ...listTokens(searchParams.values())].filter(Boolean);
}

const CALLBACK_URL = /call_?back_?url/i;

/**
 * Finds the callback URLs in an answer. A service may store the request with the task.
 * @param parseJson reads JSON in text; undefined for any other text
 */
export function findCallbackUrls(
	value: unknown,
	parseJson: (text: string) => unknown,
	key = '',
): string[] {
	if (typeof value === 'string') {
		if (CALLBACK_URL.test(key)) return [value];
		const isRequest = CALLBACK_URL.test(value);
		const request = isRequest ? parseJson(value) : undefined;
		return request === undefined ? [] : findCallbackUrls(request, parseJson);
	}
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([name, part]) => findCallbackUrls(part, parseJson, name));
}

/** Hides secrets in what a service sends. It may repeat any part of a request. */
export class Redactor {
	private readonly secrets: string[];
	/** Decoded. */
	private readonly inMessages: string[];
	private readonly inData: string[];

	constructor(secrets: Array<string | undefined>) {
		this.secrets = secrets.filter((secret): secret is string => Boolean(secret));
		this.inMessages = this.secrets.map((secret) => decode(secret).plain).filter(Boolean);
		this.inData = this.inMessages.filter(({ length }) => length >= SHORTEST_IN_DATA);
	}

	/** Makes a redactor that hides these as well. */
	with(secrets: string[]): Redactor {
		const isKnown = secrets.every((secret) => this.secrets.includes(secret));
		return isKnown ? this : new Redactor([...this.secrets, ...secrets]);
	}

	hideInMessage(text: string): string {
		return hide(text, this.inMessages);
	}

	/** Hides secrets in all texts of a JSON value, names included. */
	hideInData(value: unknown): unknown {
		if (typeof value === 'string') return hide(value, this.inData);
		if (Array.isArray(value)) return value.map((part) => this.hideInData(part));
		if (!isObject(value)) return value;
		return Object.fromEntries(
			Object.entries(value).map(([name, part]) => [hide(name, this.inData), this.hideInData(part)]),
		);
	}
}

/** @param secrets decoded */
function hide(text: string, secrets: string[]): string {
	const { plain, toPlace } = decode(text);
	const found: Array<{ from: number; to: number }> = [];
	for (const secret of secrets)
		for (let at = plain.indexOf(secret); at >= 0; at = plain.indexOf(secret, at + secret.length))
			found.push({ from: toPlace(at), to: toPlace(at + secret.length) });
	found.sort((a, b) => a.from - b.from);
	const parts: string[] = [];
	let end = 0;
	for (const { from, to } of found) {
		if (from >= end) parts.push(text.slice(end, from), HIDDEN);
		end = Math.max(end, to);
	}
	const shown = parts.join('') + text.slice(end);
	return plain.includes('webhook-waiting') ? shown.replace(RESUME_URL, hideQuery) : shown;
}

/** Other letters may change their length in lower case. */
const toLowerCase = (text: string): string =>
	text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

interface Decoded {
	/** In lower case, without backslashes. */
	plain: string;
	/** Maps a position in `plain` to the text. */
	toPlace: (at: number) => number;
}

/**
 * Decodes percent-encoding, JSON escapes and HTML character codes, also inside each other, so that every way to write a text
 * decodes to the same. It is a loop because a pattern takes seconds for megabytes of text.
 */
function decode(text: string): Decoded {
	const lower = toLowerCase(text);
	if (!/[%\\&]/.test(lower)) return { plain: lower, toPlace: (at) => at };
	const codes = new Uint16Array(lower.length);
	const places = new Uint32Array(lower.length + 1);
	let length = 0;
	for (let at = 0; at < lower.length; ) {
		let next = at;
		while (lower[next] === '\\') next++;
		const { code, end } = readCharacter(lower, next, next > at);
		// Backslashes at the end escape nothing.
		if (code !== undefined) {
			codes[length] = code;
			places[length++] = at;
		}
		at = end;
	}
	places[length] = lower.length;
	const plain = new TextDecoder('utf-16le').decode(codes.subarray(0, length));
	return { plain, toPlace: (at) => places[at] as number };
}

/** Reads the character that begins here, in any encoding. */
function readCharacter(
	text: string,
	at: number,
	isEscaped: boolean,
): { code?: number; end: number } {
	const first = text[at];
	if (first === undefined) return { end: at };
	if (first === 'u' && isEscaped) {
		const code = readCode(text, at + 1, at + 5, 16);
		if (code !== undefined) return { code, end: at + 5 };
	}
	if (first === '%') {
		let digits = at + 1;
		while (
			text.startsWith('25', digits) &&
			readCode(text, digits + 2, digits + 4, 16) !== undefined
		)
			digits += 2;
		const code = readCode(text, digits, digits + 2, 16);
		if (code !== undefined) return { code, end: digits + 2 };
	}
	if (first === '&') {
		let end = at + 1;
		while (text.startsWith('amp;', end)) end += 4;
		if (text[end] !== '#') return { code: text.charCodeAt(at), end };
		const isHex = text[end + 1] === 'x';
		const digits = end + (isHex ? 2 : 1);
		const semicolon = text.slice(digits, digits + LONGEST_NUMBER).indexOf(';');
		const code = readCode(text, digits, digits + semicolon, isHex ? 16 : 10);
		if (code !== undefined) return { code, end: digits + semicolon + 1 };
	}
	return { code: text.charCodeAt(at), end: at + 1 };
}

/** The longest number of a character in HTML, with its semicolon. */
const LONGEST_NUMBER = 9;

/** Reads a character by its code, in lower case; undefined if the code is no number. */
function readCode(text: string, from: number, to: number, base: number): number | undefined {
	if (to <= from || to > text.length) return undefined;
	let code = 0;
	for (let at = from; at < to; at++) {
		const digit = readDigit(text.charCodeAt(at));
		if (digit < 0 || digit >= base) return undefined;
		code = code * base + digit;
	}
	return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

/** Reads a digit of any base, as a number or a lower-case letter; -1 if it is none. */
function readDigit(code: number): number {
	if (code >= 0x30 && code <= 0x39) return code - 0x30;
	return code >= 0x61 ? code - 0x57 : -1;
}
