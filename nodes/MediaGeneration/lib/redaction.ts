import { parseJson } from './json';
import { decodePart } from './url';

const MASK = '***';

/** Short secrets, and numbers. They are hidden in messages only, because data may have the same by chance. */
const TOO_COMMON = /^(.{0,7}|\d{1,21})$/s;

/** So many characters of a secret are searched for. V8 takes quadratic time to find longer ones. */
const LONGEST_SEARCH = 500;

/**
 * Finds a callback URL in JSON text by the key under which services repeat the URL. The first group is the
 * key up to the URL's first quote; blanks may be escaped there. The second group is the URL. In plain JSON
 * text, an escaped quote is a part of the URL. In JSON text within JSON text, the key's own quote is
 * escaped, and the URL ends at the first quote. Of escaped quotes, at most 99 are matched in one URL,
 * because V8's stack overflows without a bound.
 */
const CALLBACK_IN_JSON =
	/(call_?back_?url\\*"[\s\\nrt]*:[\s\\nrt]*")((?<!\\")[^"]*(?:(?<=[^\\]\\)"[^"]*){0,99}|[^"]*)/gi;

/** Lists the secrets in a URL of this n8n: the password, encoded and decoded, and the query. */
export function listUrlSecrets(url: string): Array<string | undefined> {
	const [, password, query] = /^\w+:\/\/(?:[^/?#:]*:([^/?#]*)@)?[^?#]*(\?[^#]*)?/.exec(url) ?? [];
	return [password, password && decodePart(password), query];
}

/** Hides login and query of a URL. The backslashes at its end stay, because they escape a quote. */
const hideUrlSecrets = (url: string): string =>
	url.replace(/^(\w+:[\\/]*\/)[^/?#]*@/, `$1${MASK}@`).replace(/\?.*[^\\](?=\\*$)/s, `?${MASK}`);

const toJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Lists the ways to write a secret: plain, in JSON, also within JSON text, and percent-encoded. */
function listWritings(secret: string): string[] {
	// Lone surrogates can't be encoded.
	const encoded = encodeURIComponent(secret.replace(/\p{Cs}/gu, '\ufffd'));
	return [secret, toJson(secret), toJson(toJson(secret)), encoded];
}

/** Hides a secret as it is written in one way. Of a long secret that is cut, hides what is there. */
function hideWriting(text: string, writing: string): string {
	const rest = writing.slice(LONGEST_SEARCH);
	const [before = '', ...behind] = text.split(writing.slice(0, LONGEST_SEARCH));
	const shown = behind.map((part) => {
		let end = 0;
		while (end < rest.length && part[end] === rest[end]) end++;
		return part.slice(end);
	});
	return [before, ...shown].join(MASK);
}

/**
 * Hides secrets in what a service says, because an honest service may repeat any part of a request.
 * Known secrets are found literally, callback URLs by their key. A secret that a service disguises on
 * purpose isn't found.
 */
export function hideInMessage(text: string, secrets: Iterable<string>): string {
	const writings = [...secrets].flatMap(listWritings);
	// The longest first, because a secret may begin with another.
	writings.sort((one, other) => other.length - one.length);
	const hideCallback = (_: string, key: string, url: string) => key + hideUrlSecrets(url);
	return writings.reduce(hideWriting, text.replace(CALLBACK_IN_JSON, hideCallback));
}

/** Hides secrets in a JSON value, like `hideInMessage`. */
export function hideInData(value: unknown, secrets: Iterable<string>): unknown {
	const rare = [...secrets].filter((secret) => !TOO_COMMON.test(secret));
	return parseJson(hideInMessage(JSON.stringify(value) ?? '', rare));
}
