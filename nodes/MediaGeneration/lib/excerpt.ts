import { dropUndefined, mapValues } from './json';
import { cutText, LONGEST_TEXT } from './text';
import { isWebUrl } from './url';

/** Copies JSON for a reader with limited room. Links are encoded. */
export class Excerpt {
	/** Whether something was cut or left out. */
	isCut = false;

	/** @param room for all copies together, in characters of JSON */
	constructor(private room: number) {}

	/** @returns undefined when nothing of the value fits */
	copy(value: unknown): unknown {
		if (typeof value === 'string') return this.take(this.shorten(value));
		if (typeof value !== 'object' || value === null) return this.take(value);
		if (!this.take([])) return undefined;
		if (Array.isArray(value))
			return value.map((part) => this.copy(part)).filter((part) => part !== undefined);
		const copyPart = (part: unknown, name: string) =>
			this.take(name) === undefined ? undefined : this.copy(part);
		return dropUndefined(mapValues(value, copyPart));
	}

	private shorten(text: string) {
		if (isWebUrl(text)) return encodeLink(text);
		this.isCut ||= text.length > LONGEST_TEXT;
		return cutText(text, LONGEST_TEXT);
	}

	/** @returns undefined without room for the value and a comma or colon */
	private take<Value>(value: Value): Value | undefined {
		const size = String(JSON.stringify(value)).length + 1;
		const fits = size <= this.room && String(value).length <= LONGEST_TEXT;
		if (fits) this.room -= size;
		else this.isCut = true;
		return fits ? value : undefined;
	}
}

/** Encodes a link so that no part of it works as Markdown or reads as words, and drops its login. */
function encodeLink(link: string) {
	const { origin, pathname, search, hash } = new URL(link);
	const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	return origin + `${pathname}${search}${hash}`.replace(/["'()<>[\]{}\\^`|]/g, encode);
}
