import { dropUndefined, isObject, mapValues } from './json';
import { cutText } from './text';
import { isWebUrl } from './url';

/** The longest text, name and link, in characters. */
export const LONGEST_TEXT = 4_000;

/** Copies JSON for a reader with limited room. Links are encoded. */
export class Excerpt {
	/** Whether something was cut or left out. */
	isCut = false;

	/** @param room for all copies together, in characters of JSON */
	constructor(private room: number) {}

	/** @returns undefined when nothing of the value fits */
	copy(value: unknown): unknown {
		if (typeof value === 'string') return this.copyText(value);
		if (Array.isArray(value))
			return this.takeRoom([])
				? value.map((part) => this.copy(part)).filter((part) => part !== undefined)
				: undefined;
		if (isObject(value)) return this.takeRoom({}) ? this.copyParts(value) : undefined;
		return value !== undefined && this.takeRoom(value) ? value : undefined;
	}

	private copyText(text: string): string | undefined {
		const isLink = isWebUrl(text);
		const copy = isLink ? encodeLink(text) : cutText(text, LONGEST_TEXT);
		this.isCut ||= !isLink && copy !== text;
		return this.takeRoom(copy) ? copy : undefined;
	}

	private copyParts(object: Record<string, unknown>): object {
		const copyPart = (part: unknown, name: string) =>
			this.takeRoom(name) ? this.copy(part) : undefined;
		return dropUndefined(mapValues(object, copyPart));
	}

	/** @returns whether there is room for it, with a comma or colon */
	private takeRoom(value: unknown): boolean {
		const size = JSON.stringify(value).length + 1;
		const fits = size <= this.room && !(typeof value === 'string' && value.length > LONGEST_TEXT);
		if (fits) this.room -= size;
		else this.isCut = true;
		return fits;
	}
}

/** Encodes a link so that no part of it works as Markdown or reads as words, and drops its login. */
function encodeLink(link: string): string {
	const { origin, pathname, search, hash } = new URL(link);
	const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	return origin + `${pathname}${search}${hash}`.replace(/["'()<>[\]{}\\^`|]/g, encode);
}
