import { isObject } from '../lib/json';
import type { Credentials } from './endpoints';

const HIDDEN = '***';

/** Shorter secrets are hidden only in messages. In data they could be part of any word. */
const SHORTEST_IN_DATA = 8;

/** Looks like a secret: long, and only characters of hex, URL-safe Base64, or UUIDs. */
const TOKEN = /^[\w-]{16,}=*$/;

/** Behind the first group: the query of a URL that resumes an execution, maybe percent-encoded. */
const RESUME_QUERY = String.raw`(webhook-waiting(?:\\{0,3}/|%2f)[^\s"'<>?]{0,100}?(?:\?|%3f))[^\s"'<>\\]+`;

/** Lists the values that look like secrets. */
export const listTokens = (values: Iterable<unknown>): string[] =>
	[...values].filter((value): value is string => typeof value === 'string' && TOKEN.test(value));

/** Lists the secrets of a callback URL: its password, its query, and the tokens in the query. */
export function listUrlSecrets(url: string): string[] {
	if (!URL.canParse(url)) return [];
	const { password, search, searchParams } = new URL(url);
	return [password, search, ...listTokens(searchParams.values())];
}

/** Matches a secret as it is, and as it stands in JSON or in a URL. */
const toPattern = (secret: string): string =>
	secret.replace(/[^\w\u0080-\uffff]/g, (character) => {
		const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
		return `(?:\\\\{0,3}\\x${hex}|%${hex}|\\\\{1,3}u00${hex})`;
	});

const toRegExp = (secrets: string[]): RegExp =>
	new RegExp([...secrets.map(toPattern), RESUME_QUERY].join('|'), 'gi');

const hide = (text: string, secrets: RegExp): string => text.replace(secrets, `$1${HIDDEN}`);

/**
 * Hides secrets in what a service sends: an honest service may repeat any part of a request. One
 * that means to give a secret away can write it in a form that nobody looks for.
 */
export class Redactor {
	private readonly secrets: string[];
	private readonly inMessages: RegExp;
	private readonly inData: RegExp;

	constructor(secrets: Array<string | undefined>) {
		const given = secrets.filter((secret) => secret !== undefined && secret !== '') as string[];
		// The longest first: one may begin with another.
		this.secrets = [...new Set(given)].sort((a, b) => b.length - a.length);
		this.inMessages = toRegExp(this.secrets);
		this.inData = toRegExp(this.secrets.filter(({ length }) => length >= SHORTEST_IN_DATA));
	}

	/** Makes a redactor of a credential's secrets. */
	static of({ accessToken, webhookSecret, previousWebhookSecret }: Credentials): Redactor {
		return new Redactor([accessToken, webhookSecret, previousWebhookSecret]);
	}

	/** Makes a redactor that hides these as well. */
	with(secrets: string[]): Redactor {
		return new Redactor([...this.secrets, ...secrets]);
	}

	hideInMessage(text: string): string {
		return hide(text, this.inMessages);
	}

	/** Hides secrets in all texts of a JSON value, names included. */
	hideInData(value: unknown): unknown {
		if (typeof value === 'string') return hide(value, this.inData);
		if (Array.isArray(value)) return value.map((part) => this.hideInData(part));
		if (!isObject(value)) return value;
		const hidden: Record<string, unknown> = {};
		// A copy of `__proto__` would set the prototype, so it is left out.
		for (const name in value)
			if (name !== '__proto__') hidden[hide(name, this.inData)] = this.hideInData(value[name]);
		return hidden;
	}
}
