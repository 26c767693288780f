import { isExpression, type INodeProperties } from 'n8n-workflow';
import type { Call } from '../../host/call';
import { isObject, isPlainObject, mapValues, parseJson, takeOffFence } from '../../lib/json';
import { cutText } from '../../lib/text';
import { isAutomatic } from '../../models/any/fields';
import { isNodesName } from '../../models/schema';
import { buildFieldError, isBlank, Nothing } from '../../models/values';
import { toTitle } from '../../models/words';

/** What is known of the field that a value is for. */
type FieldFacts = Pick<INodeProperties, 'displayName' | 'type' | 'options'>;

/** A part of a template. An expression has its braces. */
interface TemplatePart {
	text: string;
	isExpression: boolean;
}

/**
 * Reads parameters of the node for an item, blank if they have no value. Where an expression gives
 * nothing, Nothing stands in place of its value. Expressions between the quotes of JSON are escaped:
 * n8n puts their texts there as they are, and in `"prompt": "{{ $json.prompt }}"` a quote would end the
 * prompt, and what follows it could set other fields.
 */
export class ParameterReader {
	constructor(
		private readonly call: Call,
		private readonly fields: INodeProperties[],
		private readonly index: number,
	) {}

	/**
	 * @throws {UserError} where text stands around an expression that gives an object, and for a text
	 *   with an expression in a field that nobody switched to Expression
	 */
	read(name: string): unknown {
		const { context } = this.call;
		const value: unknown = context.getNodeParameter(name, this.index, '');
		const raw = { rawExpressions: true };
		const stored: unknown = context.getNodeParameter(name, this.index, '', raw);
		return this.resolve(value, stored, findFieldFacts(this.fields, name));
	}

	private resolve(value: unknown, stored: unknown, field: FieldFacts): unknown {
		if (isObject(value) && isObject(stored)) return this.resolveEntries(value, stored, field);
		if (Array.isArray(value) && Array.isArray(stored))
			return value.map((part, index) => this.resolve(part, stored[index], field));
		if (typeof stored !== 'string') return value;
		if (!isExpression(stored)) {
			throwIfFixedExpression(stored, field);
			return value;
		}
		const isJson = field.type === 'json';
		const template = stored.slice(1);
		const parts = split(isJson ? takeOffFence(template) : template);
		if (isBlank(value)) {
			// An expression that gives undefined asks for what isn't there.
			const isLost = this.evaluateAll(parts).includes(undefined);
			return new Nothing(this.showExpression(template), isLost);
		}
		if (typeof value !== 'string') return value;
		this.throwIfObject(value, parts, field);
		return this.fillInQuoted(parts, isJson) ?? value;
	}

	private resolveEntries(
		values: Record<string, unknown>,
		stored: Record<string, unknown>,
		field: FieldFacts,
	): Record<string, unknown> {
		// With Map Automatically, values that were filled in before aren't sent.
		if (isAutomatic(stored)) return values;
		// Only the value of a mapper or locator is the user's. The rest are texts of the service.
		if ('mappingMode' in stored || '__rl' in stored)
			return { ...values, value: this.resolve(values.value, stored.value, field) };
		const isOptions = field.type === 'collection';
		return mapValues(values, (value, key) => {
			if (isNodesName(key)) return value;
			const own = findFieldFacts(field.options ?? [], key, field.type);
			const part = this.resolve(value, stored[key], own);
			// `InputReader` understands Nothing, and of Options it reads only JSON fields. A blank value
			// stays in any other option, for which `readOption` throws.
			return isOptions && own.type !== 'json' && part instanceof Nothing ? value : part;
		});
	}

	/** Shows an expression, but not to an agent: it fills in a tool's fields, and doesn't know expressions. */
	private showExpression(template: string) {
		return this.call.isTool ? '' : template.trim();
	}

	/** @returns the value of each expression, and the other parts as they are */
	private evaluateAll(parts: TemplatePart[]) {
		return parts.map(({ text, isExpression }) =>
			isExpression ? this.call.context.evaluateExpression(text, this.index) : text,
		);
	}

	/** n8n would send [object Object] in place of what the expression gives. */
	private throwIfObject(value: string, parts: TemplatePart[], { displayName }: FieldFacts): void {
		if (!value.includes('[object Object]')) return;
		const expression = parts[this.evaluateAll(parts).findIndex(hasObject)];
		if (!expression) return;
		throw buildFieldError(
			`'${displayName}' has text around ${cutText(expression.text, 60)}, which gives an object and no text`,
			"For one of its values, add that value's name to the expression. For a file, clear the field first, so that it has the expression alone.",
		);
	}

	/**
	 * Fills in a template that has expressions between the quotes of JSON.
	 * @returns a JSON field's value, or the text for any other field; undefined if n8n's own value is right
	 */
	private fillInQuoted(parts: TemplatePart[], isJson: boolean): unknown {
		const isQuoted = findQuoted(parts);
		if (!isQuoted.includes(true)) return undefined;
		const values = this.evaluateAll(parts);
		const texts = parts.map((part, index) => {
			if (!part.isExpression) return part.text;
			const text = writeBesideText(values[index]);
			if (!isQuoted[index]) return text;
			if (isJson && values[index] === undefined)
				return toJsonText(markLost(this.showExpression(part.text)));
			return keepsQuotes(part.text, text) ? text : toJsonText(text);
		});
		const json = texts.join('');
		const parsed = parseJson(json);
		if (isJson) return replaceLost(parsed ?? json);
		return typeof parsed === 'object' ? json : undefined;
	}
}

/** Finds what is known of a field. @param type counts if no field has the name */
const findFieldFacts = (
	fields: NonNullable<FieldFacts['options']>,
	name: string,
	type: FieldFacts['type'] = 'string',
): FieldFacts => ({
	displayName: toTitle(name),
	type,
	...fields.find((field) => field.name === name),
});

/**
 * n8n sends a text with `{{ $json… }}` as it stands if nobody switched its field to Expression. Values of
 * expressions aren't checked for this, so a form, a chat or an agent may write about expressions.
 */
function throwIfFixedExpression(text: string, { displayName }: FieldFacts) {
	// With $( or with $ and a letter: {{ $5 }} is a price.
	const expression = text.match(/\{\{.*?\}\}/gs)?.find((one) => /\$[(\p{L}]/u.test(one));
	if (expression === undefined) return;
	throw buildFieldError(
		`'${displayName}' is a fixed text with ${cutText(expression, 60)}, which n8n would send as it stands`,
		`Point at '${displayName}' in the node, switch it from Fixed to Expression, and run the node again.`,
	);
}

/** Whether a value is an object, or a list that has an object: n8n can't write either as text. */
const hasObject = (value: unknown): boolean =>
	Array.isArray(value) ? value.some(hasObject) : isPlainObject(value);

/**
 * Splits a template as n8n does. Braces after an odd number of backslashes are text. Two backslashes
 * before an expression are one (`ExpressionSplitter.js` in `@n8n/tournament`, n8n 2.14.2, 2.41.1).
 * `unit/run/input/readParameter` fails first.
 */
function split(template: string): TemplatePart[] {
	const parts: TemplatePart[] = [];
	let begin = 0;
	let isInside = false;
	for (const { 0: mark, 1: backslashes = '', 2: braces, index } of template.matchAll(
		/(?<!\\)(\\*)(\{\{|\}\})/g,
	)) {
		if (braces !== (isInside ? '}}' : '{{') || backslashes.length % 2) continue;
		const end = index + (isInside ? mark : backslashes).length;
		const text = template.slice(begin, end);
		parts.push({
			text: isInside ? text : text.replaceAll('\\\\', '\\'),
			isExpression: isInside,
		});
		begin = end;
		isInside = !isInside;
	}
	return [...parts, { text: template.slice(begin), isExpression: isInside }];
}

/** Says for each part whether it is an expression between quotes of the JSON. */
function findQuoted(parts: TemplatePart[]) {
	let isInside = false;
	return parts.map(({ text, isExpression }) => {
		if (isExpression) return isInside;
		const quotes = text.match(/\\[^]?|"/g)?.filter((mark) => mark === '"') ?? [];
		if (quotes.length % 2) isInside = !isInside;
		return false;
	});
}

/** What n8n writes of a value beside text (`ExpressionBuilder.js` in `@n8n/tournament`). */
const writeBesideText = (value: unknown) =>
	value || value === 0 || value === false ? [value].join('') : '';

/** Writes a text as it stands between the quotes of JSON. */
const toJsonText = (text: string) => JSON.stringify(text).slice(1, -1);

/**
 * An expression with a call of `MAKES_JSON` makes JSON by itself. One with `ENDS_QUOTES` ends the quotes on
 * purpose and goes on behind them, as in `["{{ $json.urls.join('", "') }}"]`.
 */
const MAKES_JSON = /JSON\.stringify|toJsonString|\.replace(All)?\s*\(/;
const ENDS_QUOTES = /(['`]\\?|"\\)"\s*,/;

/** Whether an expression between quotes makes text that must stand there unescaped. */
function keepsQuotes(expression: string, text: string) {
	if (MAKES_JSON.test(expression) && typeof parseJson(`"${text}"`) === 'string') return true;
	const list = ENDS_QUOTES.test(expression) ? parseJson(`["${text}"]`) : undefined;
	return Array.isArray(list) && list.every((part) => typeof part === 'string');
}

/**
 * Marks in JSON an expression that gives nothing, by two characters that no text has. A user who writes
 * these characters all the same loses a part of their own text, and nothing else.
 */
const markLost = (expression: string) => `\uffff${expression}\uffff`;
const LOST = /\uffff([^\uffff]*)\uffff/g;
const leaveOutLost = (text: string) => text.replace(LOST, '');

/** Puts Nothing in place of each text that has marks and no more. From other texts, marks are dropped. */
function replaceLost(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(replaceLost);
	if (isObject(value)) {
		const parts = Object.entries(value);
		return Object.fromEntries(parts.map(([name, part]) => [leaveOutLost(name), replaceLost(part)]));
	}
	if (typeof value !== 'string') return value;
	const [lost] = value.matchAll(LOST);
	const text = leaveOutLost(value);
	return lost && isBlank(text) ? new Nothing(lost[1] ?? '', true) : text;
}
