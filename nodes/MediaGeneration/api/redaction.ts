import { isObject } from '../lib/json';
import { decodePart } from '../lib/url';
import type { Credentials } from './endpoints';

const HIDDEN = '***';

/** Shorter secrets are hidden only in messages. In data, they could be part of any word. */
const SHORTEST_IN_DATA = 8;

/** How much of a secret is searched for. With longer texts, V8's search takes quadratic time. */
const SEARCHED = 500;

/** The keys under which services repeat the callback URL. */
const CALLBACK_KEY = /^call_?back_?url$/i;

/** Such a key in JSON text, which may stand in JSON text itself, up to its value. */
const CALLBACK_IN_JSON = /call_?back_?url\\*"\s*:\s*\\*"/gi;

/** Lists the secrets in a URL of this n8n: its password, encoded and decoded, and its query. */
export function listUrlSecrets(url: string): string[] {
	const [, password, query] = /^\w+:\/\/(?:[^/?#:]*:([^/?#]*)@)?[^?#]*(\?[^#]*)?/.exec(url) ?? [];
	const decoded = password && decodePart(password);
	return [...new Set([password, decoded, query])].filter((secret) => secret !== undefined);
}

/** Hides login and query of a URL. */
function hideUrlSecrets(url: string): string {
	const shown = url.replace(/^(\w+:[\\/]*\/)[^/?#]*@/, `$1${HIDDEN}@`);
	const end = shown.indexOf('?') + 1;
	return end > 0 && end < shown.length ? shown.slice(0, end) + HIDDEN : shown;
}

/** Hides the secrets of callback URLs in JSON, or in text that contains JSON. */
function hideCallbackUrls(text: string): string {
	let [shown, from] = ['', 0];
	for (const { 0: head, index } of text.matchAll(CALLBACK_IN_JSON)) {
		const start = index + head.length;
		const quote = text.indexOf('"', start);
		let end = quote < 0 ? text.length : quote;
		// These escape the quote, also in JSON within JSON.
		while (text[end - 1] === '\\') end--;
		shown += text.slice(from, start) + hideUrlSecrets(text.slice(start, end));
		from = end;
	}
	return shown + text.slice(from);
}

/** Lists the ways to write a secret: plain, in JSON, and percent-encoded. */
function listWritings(secret: string): string[] {
	// Lone surrogates can't be encoded.
	const encoded = encodeURIComponent(secret.replace(/\p{Cs}/gu, '\ufffd'));
	return [secret, JSON.stringify(secret).slice(1, -1), encoded];
}

/** All ways without duplicates, the longest first, because one may start with another. */
const listAllWritings = (secrets: string[]): string[] =>
	[...new Set(secrets.flatMap(listWritings))].sort((a, b) => b.length - a.length);

/** Hides one way of writing a secret. Of a long one, its start alone is hidden too. */
function hideForm(text: string, form: string): string {
	const begin = form.slice(0, SEARCHED);
	let [shown, from] = ['', 0];
	for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, from)) {
		shown += text.slice(from, at) + HIDDEN;
		from = at + begin.length;
		while (from < text.length && text[from] === form[from - at]) from++;
	}
	return shown + text.slice(from);
}

const hide = (text: string, forms: string[]): string =>
	forms.reduce(hideForm, hideCallbackUrls(text));

/**
 * Hides secrets in what a service sends, because an honest service may repeat any part of a request.
 * It finds known secrets literally, and callback URLs by their key. It can't stop a service that
 * disguises a secret on purpose.
 */
export class Redactor {
	private readonly secrets: string[];
	private readonly inMessages: string[];
	private readonly inData: string[];

	constructor(secrets: Array<string | undefined>) {
		const given = secrets.map((secret = '') => secret.trim()).filter(Boolean);
		this.secrets = [...new Set(given)];
		this.inMessages = listAllWritings(this.secrets);
		this.inData = listAllWritings(this.secrets.filter(({ length }) => length >= SHORTEST_IN_DATA));
	}

	/** A redactor for the secrets of a credential. */
	static of({ accessToken, webhookSecret, previousWebhookSecret }: Credentials): Redactor {
		return new Redactor([accessToken, webhookSecret, previousWebhookSecret]);
	}

	/** A redactor that hides these as well. */
	with(secrets: Array<string | undefined>): Redactor {
		return new Redactor([...this.secrets, ...secrets]);
	}

	hideInMessage(text: string): string {
		return hide(text, this.inMessages);
	}

	/** Hides secrets in all texts of a JSON value, including its keys. */
	hideInData(value: unknown): unknown {
		if (typeof value === 'string') return this.hideInText(value);
		if (Array.isArray(value)) return value.map((part) => this.hideInData(part));
		if (!isObject(value)) return value;
		const hidden: Record<string, unknown> = {};
		// Copying `__proto__` would set the prototype.
		for (const name in value)
			if (name !== '__proto__') hidden[this.hideInText(name)] = this.hideEntry(name, value[name]);
		return hidden;
	}

	/** An answer may have hundreds of thousands of texts, most of them too short for a secret. */
	private hideInText(text: string): string {
		return text.length < SHORTEST_IN_DATA ? text : hide(text, this.inData);
	}

	private hideEntry(name: string, value: unknown): unknown {
		const isUrl = typeof value === 'string' && CALLBACK_KEY.test(name);
		return this.hideInData(isUrl ? hideUrlSecrets(value) : value);
	}
}
