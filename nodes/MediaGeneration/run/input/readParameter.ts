import { randomUUID } from 'crypto';
import { isExpression, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';
import type { Call } from '../../host/call';
import { isObject, isPlainObject, mapValues, parseJson, takeOffFence } from '../../lib/json';
import { cutText } from '../../lib/text';
import { buildFieldError, isBlank, Nothing } from '../../models/values';
import { toTitle } from '../../models/words';

/**
 * An expression with such a call makes JSON by itself, and one with such a text ends the quotes on
 * purpose and goes on behind them, as in `["{{ $json.urls.join('", "') }}"]`.
 */
const MAKES_JSON = /JSON\.stringify|toJsonString|\.replace(All)?\s*\(/;
const ENDS_QUOTES = /(['`]\\?|"\\)"\s*,/;

/** What stands where in a parameter. */
interface Stored {
	value: unknown;
	stored: unknown;
	/** The name of the field in the editor. */
	label: string;
}

/**
 * Reads parameters of the node for an item, blank if they have no value. Where an expression gives
 * nothing, Nothing stands in place of its value. Expressions between the quotes of JSON are escaped:
 * n8n puts their texts there as they are, and in `"prompt": "{{ $json.prompt }}"` a quote would end the
 * prompt, and what follows it could set other fields.
 */
export class ParameterReader {
	private readonly context: IExecuteFunctions;
	/** A model fills in a tool's fields, and doesn't know the expressions. */
	private readonly isTool: boolean;

	constructor(
		call: Call,
		private readonly fields: INodeProperties[],
		private readonly index: number,
	) {
		this.context = call.context;
		this.isTool = call.isTool;
	}

	/** @throws {UserError} where text stands around an expression that gives an object */
	read(name: string): unknown {
		const field = this.fields.find((one) => one.name === name);
		const value: unknown = this.context.getNodeParameter(name, this.index, '');
		const stored: unknown = this.context.getNodeParameter(name, this.index, '', {
			rawExpressions: true,
		});
		const label = field?.displayName ?? toTitle(name);
		if (name === 'options') return this.readOptions(value, stored);
		return this.resolve({ value, stored, label }, field?.type === 'json');
	}

	/** Only Extra Fields are a part of the input. Other options are refused if they are blank. */
	private readOptions(value: unknown, stored: unknown): unknown {
		if (!isObject(value) || !isObject(stored) || !('extraFields' in value)) return value;
		const extra = { value: value.extraFields, stored: stored.extraFields };
		const extraFields = this.resolve({ ...extra, label: 'Extra Fields (JSON)' }, true);
		return { ...value, extraFields };
	}

	private resolve({ value, stored, label }: Stored, isJson: boolean): unknown {
		if (isObject(value) && isObject(stored))
			return mapValues(value, (part, key) =>
				this.resolve({ value: part, stored: stored[key], label: nameEntry(label, key) }, isJson),
			);
		if (Array.isArray(value) && Array.isArray(stored))
			return value.map((part, at) =>
				this.resolve({ value: part, stored: stored[at], label }, isJson),
			);
		if (!isExpression(stored)) return value;
		const template = stored.slice(1);
		const parts = split(isJson ? takeOffFence(template) : template);
		if (parts.length === 3 && !parts[0] && !parts[2]) return this.orNothing(value, template, value);
		this.refuseObjects({ value, stored, label }, parts);
		if (typeof value !== 'string') return this.orNothing(value, template, value);
		if (isBlank(value)) return this.orNothing(value, template, this.findLost(parts));
		return this.fillIn(parts, isJson) ?? value;
	}

	/** @param cause undefined if an expression asks for what isn't there */
	private orNothing(value: unknown, template: string, cause: unknown): unknown {
		if (!isBlank(value)) return value;
		return new Nothing(this.isTool ? '' : template.trim(), cause === undefined);
	}

	private evaluate(expression: string): unknown {
		return this.context.evaluateExpression(expression, this.index);
	}

	private evaluateAll(parts: string[]): unknown[] {
		return parts.map((part, at) => (at % 2 ? this.evaluate(part) : part));
	}

	/** @returns undefined where one of the expressions gives undefined */
	private findLost(parts: string[]): unknown {
		return this.evaluateAll(parts).includes(undefined) ? undefined : '';
	}

	/** n8n would send [object Object] in place of what the expression gives. */
	private refuseObjects({ value, label }: Stored, parts: string[]): void {
		if (!String(value).includes('[object Object]')) return;
		const at = this.evaluateAll(parts).findIndex((part, index) => index % 2 && hasObject(part));
		if (at < 0) return;
		const expression = cutText(parts[at] ?? '', 60);
		throw buildFieldError(
			`'${label}' has text around ${expression}, which gives an object and no text`,
			"For one of its values, add that value's name to the expression. For a file, clear the field first, so that it has the expression alone.",
		);
	}

	/** @returns the JSON or, of a field that isn't JSON itself, its text; undefined: n8n's value counts */
	private fillIn(parts: string[], isJson: boolean): unknown {
		const isQuoted = findQuoted(parts);
		if (!isQuoted.includes(true)) return undefined;
		const lost = new LostMarks();
		const texts = parts.map((part, at) => {
			if (at % 2 === 0) return part;
			const given = this.evaluate(part);
			const text = toText(given);
			if (!isQuoted[at]) return text;
			if (isJson && given === undefined) return lost.mark(this.isTool ? '' : part);
			return keepsQuotes(part, text) ? text : JSON.stringify(text).slice(1, -1);
		});
		const json = texts.join('');
		const parsed = parseJson(json);
		if (isJson) return parsed === undefined ? lost.takeOut(json) : lost.replace(parsed);
		return typeof parsed === 'object' ? json : undefined;
	}
}

/** Marks places in JSON whose expressions gave undefined. */
class LostMarks {
	/** Nobody else knows it, so no text of others is taken for a mark. */
	private readonly id = randomUUID();
	private readonly marks = new RegExp(`${this.id}:(\\d+);`, 'g');
	private readonly expressions: string[] = [];

	mark(expression: string): string {
		return `${this.id}:${this.expressions.push(expression) - 1};`;
	}

	/** Puts Nothing in place of texts that are blank but for marks, and takes the other marks out. */
	replace(value: unknown): unknown {
		if (Array.isArray(value)) return value.map((entry) => this.replace(entry));
		if (isPlainObject(value)) {
			const entries = Object.entries(value).map(([key, part]) => [
				this.takeOut(key),
				this.replace(part),
			]);
			return Object.fromEntries(entries) as unknown;
		}
		if (typeof value !== 'string') return value;
		const [first] = value.matchAll(this.marks);
		const text = this.takeOut(value);
		const expression = this.expressions[Number(first?.[1])] ?? '';
		return first && isBlank(text) ? new Nothing(expression, true) : text;
	}

	takeOut(text: string): string {
		return text.replace(this.marks, '');
	}
}

/** Names an entry of a parameter. A mapper and a locator have `value`. */
const nameEntry = (label: string, key: string): string => (key === 'value' ? label : toTitle(key));

/** What n8n writes of a value beside text (`ExpressionBuilder.js` in `@n8n/tournament`). */
const toText = (value: unknown): string =>
	value || value === 0 || value === false ? [value].join('') : '';

/** Says whether a value is an object, or a list with one, which are no text. */
const hasObject = (value: unknown): boolean =>
	Array.isArray(value) ? value.some(hasObject) : isPlainObject(value);

/** Says whether an expression between quotes makes text that is meant to stand there as it is. */
function keepsQuotes(expression: string, text: string): boolean {
	if (MAKES_JSON.test(expression) && typeof parseJson(`"${text}"`) === 'string') return true;
	const list = ENDS_QUOTES.test(expression) ? parseJson(`["${text}"]`) : undefined;
	return Array.isArray(list) && list.every((entry) => typeof entry === 'string');
}

/**
 * Splits a template as n8n does: every second part is an expression, with its braces. Braces after an
 * odd number of backslashes are text. Two backslashes before an expression are one
 * (`ExpressionSplitter.js` in `@n8n/tournament`, n8n 2.14.2, 2.41.1). `unit/run/input/readParameter`
 * fails first.
 */
function split(template: string): string[] {
	const parts: string[] = [];
	let begin = 0;
	for (const { 0: found, 1: backslashes = '', 2: braces, index } of template.matchAll(
		/(?<!\\)(\\*)(\{\{|\}\})/g,
	)) {
		const isInside = parts.length % 2 === 1;
		if (braces !== (isInside ? '}}' : '{{') || backslashes.length % 2) continue;
		const end = index + (isInside ? found : backslashes).length;
		const part = template.slice(begin, end);
		parts.push(isInside ? part : part.replaceAll('\\\\', '\\'));
		begin = end;
	}
	return [...parts, template.slice(begin)];
}

/** Says for each part whether it is an expression between quotes of the JSON. */
function findQuoted(parts: string[]): boolean[] {
	let isInside = false;
	return parts.map((part, at) => {
		if (at % 2) return isInside;
		const quotes = part.match(/\\[^]?|"/g)?.filter((mark) => mark === '"') ?? [];
		if (quotes.length % 2) isInside = !isInside;
		return false;
	});
}
