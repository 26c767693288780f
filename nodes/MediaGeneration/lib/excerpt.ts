import { isObject } from './json';
import { isWebUrl } from './url';

/** How much text an excerpt may have, including names, in characters of JSON. */
export const LONGEST_TEXT = 20_000;

/** The longest ID, name and link, in characters. Longer ones are dropped, since a part is useless. */
const LONGEST_NAME = 256;
const LONGEST_LINK = 4_096;

/** With less room than this, a text is dropped instead of cut. In characters. */
const SHORTEST_TEXT = 10;

const measure = (value: unknown): number => JSON.stringify(value).length;

/** Copies JSON for a reader with limited room. Links are encoded. */
export class Excerpt {
	/** Whether something was cut or dropped. */
	isCut = false;
	private text = LONGEST_TEXT;

	/** @param left the room for all copies together, in characters of JSON */
	constructor(private left: number) {}

	/** @returns undefined when nothing of the value fits. @param name of the value, if it has one */
	copy(value: unknown, name = ''): unknown {
		if (typeof value === 'string') return this.copyText(value, name);
		if (Array.isArray(value)) return this.copyList(value);
		if (isObject(value)) return this.copyObject(value);
		return value !== undefined && this.spend(measure(value) + 1) ? value : undefined;
	}

	private copyText(text: string, name: string): string | undefined {
		if (isWebUrl(text)) {
			const link = encodeLink(text);
			const fits = link.length <= LONGEST_LINK && this.spend(measure(link) + 1);
			return fits ? link : this.leaveOut();
		}
		const longest = Math.min(this.text, this.left - 1);
		const isLongId = /id$/i.test(name) && text.length > LONGEST_NAME;
		if (isLongId || longest < SHORTEST_TEXT) return this.leaveOut();
		const cut = cutForJson(text, longest);
		this.isCut ||= cut !== text;
		this.text -= measure(cut);
		this.left -= measure(cut) + 1;
		return cut;
	}

	private copyList(list: unknown[]): unknown[] | undefined {
		if (!this.spend(measure([]) + 1)) return undefined;
		return list.map((part) => this.copy(part)).filter((part) => part !== undefined);
	}

	private copyObject(object: Record<string, unknown>): object | undefined {
		if (!this.spend(measure({}) + 1)) return undefined;
		const parts = Object.entries(object).map(([name, part]) => {
			const size = measure(name) + 1;
			const fits = name.length <= LONGEST_NAME && size <= this.text && this.spend(size);
			if (!fits) return [name, this.leaveOut()];
			this.text -= size;
			return [name, this.copy(part, name)];
		});
		return Object.fromEntries(parts.filter(([, part]) => part !== undefined)) as object;
	}

	private spend(size: number): boolean {
		const fits = size <= this.left;
		if (fits) this.left -= size;
		else this.leaveOut();
		return fits;
	}

	private leaveOut(): undefined {
		this.isCut = true;
	}
}

/** Marks a cut text. The blank separates it from a link. */
const END = ' …';

/** Cuts a text to a length in characters of JSON. A link at the cut is dropped. */
export function cutForJson(text: string, longest: number): string {
	let size = measure(text);
	if (size <= longest) return text;
	let kept = text.slice(0, longest);
	while ((size = measure(kept + END)) > longest)
		kept = kept.slice(0, Math.floor(kept.length * (longest / size)));
	const word = kept.split(/[\s"'<>]/).at(-1) ?? '';
	const link = word.search(/[a-z]{1,10}:\/\//i);
	if (link >= 0) kept = kept.slice(0, link - word.length);
	return kept.replace(/\p{Cs}$/u, '').trimEnd() + END;
}

/** Encodes a link so that no part of it works as Markdown or reads as words, and drops its login. */
function encodeLink(link: string): string {
	const { origin, pathname, search, hash } = new URL(link);
	const encode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	return origin + `${pathname}${search}${hash}`.replace(/["'()<>[\]{}\\^`|]/g, encode);
}
