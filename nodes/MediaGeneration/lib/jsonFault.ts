/** What JSON allows next. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'end or next';

const BLANKS = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** A string up to its closing quote: any character from the space on, but quotes and backslashes. */
const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;

/**
 * Finds where a text stops being JSON, because `JSON.parse` doesn't always say it.
 * @returns the index of the first character, word or number that can't stand there; the length of
 *   the text if it ends too early; undefined if the text is JSON
 */
export function findJsonFault(text: string): number | undefined {
	const reader = new JsonReader(text);
	while (reader.readNext());
	return reader.fault;
}

class JsonReader {
	fault?: number;
	private at = 0;
	private expected: Expected = 'value';
	/** The closing brackets that are due. */
	private readonly open: string[] = [];

	constructor(private readonly text: string) {}

	/** Reads the next token. @returns false at the end or at a fault */
	readNext(): boolean {
		this.skip(BLANKS);
		const char = this.text[this.at];
		const isEnd = char === undefined && this.expected === 'end or next' && !this.open.length;
		if (isEnd) return false;
		const isRead = this.readMark(char) || this.readText(char) || this.readScalar();
		if (!isRead) this.fault ??= this.at;
		return isRead;
	}

	/** Reads a bracket, comma or colon. */
	private readMark(char = ''): boolean {
		const closing = this.open.at(-1);
		const takesValue = this.expected === 'value' || this.expected === 'value or ]';
		const mayClose = !/^(value|key|:)$/.test(this.expected);
		if (takesValue && char === '{') return this.enter('}', 'key or }');
		if (takesValue && char === '[') return this.enter(']', 'value or ]');
		if (mayClose && char && char === closing) {
			this.open.pop();
			return this.move('end or next');
		}
		if (this.expected === ':' && char === ':') return this.move('value');
		if (this.expected !== 'end or next' || !closing || char !== ',') return false;
		return this.move(closing === '}' ? 'key' : 'value');
	}

	private readText(char = ''): boolean {
		if (char !== '"' || this.expected === ':' || this.expected === 'end or next') return false;
		const isKey = this.expected.startsWith('key');
		this.skip(STRING);
		if (this.text[this.at] !== '"') return false;
		return this.move(isKey ? ':' : 'end or next');
	}

	private readScalar(): boolean {
		if (!this.expected.startsWith('value') || !this.skip(SCALAR)) return false;
		this.expected = 'end or next';
		return true;
	}

	private enter(closing: string, expected: Expected): boolean {
		this.open.push(closing);
		return this.move(expected);
	}

	private move(expected: Expected): boolean {
		this.at++;
		this.expected = expected;
		return true;
	}

	/** @returns whether the pattern matches here */
	private skip(pattern: RegExp): boolean {
		pattern.lastIndex = this.at;
		if (!pattern.test(this.text)) return false;
		this.at = pattern.lastIndex;
		return true;
	}
}

/** How much of the text is shown on each side of a fault, in characters. */
const SHOWN = 40;

/** A URL's query, which may hold a secret. */
const QUERY = /(?<=[a-z]:\/\/[^\s"?]*\?)[^\s"]+/gi;

/** Says where a fault is, for example "line 2, column 14: …"prompt": "He said "▸hi" there"…". */
export function describeJsonFault(text: string, fault: number): string {
	const lines = text.slice(0, fault).split('\n');
	const hidden = text.replace(QUERY, (query) => '…'.repeat(query.length));
	const before = hidden.slice(Math.max(0, fault - SHOWN), fault);
	const after = hidden.slice(fault, fault + SHOWN);
	const around = `${fault > SHOWN ? '…' : ''}${before}▸${after}${fault + SHOWN < text.length ? '…' : ''}`;
	const shown = around
		.replace(/\s*\n\s*/g, '↵')
		.replace(/\s+/g, ' ')
		.replace(/…+/g, '…');
	return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}: ${shown}`;
}
