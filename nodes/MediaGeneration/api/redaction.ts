import { parseJson } from '../lib/json';
import { decodePart } from '../lib/url';

const HIDDEN = '***';

/** Secrets that are hidden only in messages: in data, part of any word or number could equal them. */
const COMMON = /^(.{0,7}|\d{1,21})$/s;

/** How much of a secret is searched for. With longer texts, V8's search takes quadratic time. */
const SEARCHED = 500;

/**
 * A callback URL by the key under which services repeat it, in JSON text, also within JSON text, where
 * blanks are escaped. Only outside of that, escaped quotes are known to be of the URL. V8 has no room
 * for any number of them.
 */
const CALLBACK_IN_JSON =
	/(call_?back_?url\\*"[\s\\nrt]*:[\s\\nrt]*")((?<!\\")[^"]*(?:(?<=[^\\]\\)"[^"]*){0,99}|[^"]*)/gi;

/** Lists the secrets in a URL of this n8n: its password, encoded and decoded, and its query. */
export function listUrlSecrets(url: string): Array<string | undefined> {
	const [, password, query] = /^\w+:\/\/(?:[^/?#:]*:([^/?#]*)@)?[^?#]*(\?[^#]*)?/.exec(url) ?? [];
	return [password, password && decodePart(password), query];
}

/** Hides login and query of a URL, but not the backslashes behind it, which escape a quote. */
const hideUrlSecrets = (url: string): string =>
	url
		.replace(/^(\w+:[\\/]*\/)[^/?#]*@/, `$1${HIDDEN}@`)
		.replace(/\?.*[^\\](?=\\*$)/s, `?${HIDDEN}`);

const toJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Lists the ways to write a secret: plain, in JSON, also within JSON text, and percent-encoded. */
function listWritings(secret: string): string[] {
	// Lone surrogates can't be encoded.
	const encoded = encodeURIComponent(secret.replace(/\p{Cs}/gu, '\ufffd'));
	return [secret, toJson(secret), toJson(toJson(secret)), encoded];
}

/** Hides one way of writing a secret. Of a long one, its start alone is hidden too. */
function hideForm(text: string, form: string): string {
	const rest = form.slice(SEARCHED);
	const [before = '', ...others] = text.split(form.slice(0, SEARCHED));
	const shown = others.map((other) => {
		let same = 0;
		while (same < rest.length && other[same] === rest[same]) same++;
		return other.slice(same);
	});
	return [before, ...shown].join(HIDDEN);
}

/**
 * Hides secrets in what a service says, because an honest service may repeat any part of a request.
 * Known secrets are found literally, and callback URLs by their key. A service that disguises a secret
 * on purpose is not stopped.
 */
export function hideInMessage(text: string, secrets: Iterable<string>): string {
	const forms = [...secrets].flatMap(listWritings);
	// One may start with another.
	forms.sort((one, other) => other.length - one.length);
	const hideCallback = (_: string, key: string, url: string) => key + hideUrlSecrets(url);
	return forms.reduce(hideForm, text.replace(CALLBACK_IN_JSON, hideCallback));
}

/** Hides secrets in a JSON value, likewise. */
export function hideInData(value: unknown, secrets: Iterable<string>): unknown {
	const rare = [...secrets].filter((secret) => !COMMON.test(secret));
	return parseJson(hideInMessage(JSON.stringify(value) ?? '', rare));
}
