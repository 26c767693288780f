import { isExpression, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';
import { isObject, mapValues, parseJson } from '../lib/json';

/** The types of fields that hold JSON, or have entries that do. */
const HOLD_JSON = ['json', 'resourceMapper', 'collection'];

/**
 * An expression with such a call, or with a text that ends the quotes and goes on behind them, as in
 * `["{{ $json.urls.join('", "') }}"]`, makes its text fit for JSON by itself.
 */
const FITS_ITSELF = /JSON\.stringify|toJsonString|\.replace(All)?\s*\(|(['`]\\?|"\\)"\s*,/;

/**
 * Reads a parameter, blank if it has no value. n8n puts the texts of expressions into JSON as they
 * are: in `"prompt": "{{ $json.prompt }}"`, a quote would end the prompt, and what follows it could
 * set other fields. So an expression between quotes is escaped.
 */
export function readParameter(
	context: IExecuteFunctions,
	fields: INodeProperties[],
	index: number,
	name: string,
): unknown {
	const value: unknown = context.getNodeParameter(name, index, '');
	const type = fields.find((field) => field.name === name)?.type ?? '';
	if (!HOLD_JSON.includes(type)) return value;
	const stored: unknown = context.getNodeParameter(name, index, '', { rawExpressions: true });
	return escapeTexts(value, stored, (template) => context.evaluateExpression(template, index));
}

type Evaluate = (template: string) => unknown;

/** @returns what n8n made of the stored value, where nothing is to escape or that fails */
function escapeTexts(value: unknown, stored: unknown, evaluate: Evaluate): unknown {
	if (isObject(value) && isObject(stored))
		return mapValues(value, (part, key) => escapeTexts(part, stored[key], evaluate));
	if (typeof value !== 'string' || !isExpression(stored)) return value;
	try {
		return fillIn(stored.slice(1), value, evaluate) ?? value;
	} catch {
		return value;
	}
}

/** @returns undefined where no expression stands between quotes, or the result is no JSON */
function fillIn(template: string, value: string, evaluate: Evaluate): string | undefined {
	const parts = split(template);
	const isQuoted = findQuoted(parts);
	if (!isQuoted.includes(true)) return undefined;
	// Beside a text, n8n writes null as nothing, a list with commas, and so on.
	const texts = parts.map((part, at) => (at % 2 ? String(evaluate(`:${part}`)).slice(1) : part));
	const isLost = (at: number) =>
		isQuoted[at] && !texts[at] && !value.includes(`${texts[at - 1]}${texts[at + 1]}`);
	if (texts.some((_, at) => isLost(at))) return undefined;
	const escaped = texts.map((text, at) =>
		isQuoted[at] && !FITS_ITSELF.test(parts[at] ?? '') ? JSON.stringify(text).slice(1, -1) : text,
	);
	const json = escaped.join('');
	return typeof parseJson(json) === 'object' ? json : undefined;
}

/**
 * Splits a template as n8n does: every second part is an expression, with its braces. Braces after an
 * odd number of backslashes are text. Two backslashes before an expression are one
 * (`ExpressionSplitter.js` in `@n8n/tournament`, n8n 2.14.2, 2.41.1). `unit/run/jsonExpressions`
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

/**
 * Says for each part whether it is an expression between quotes of the JSON.
 * @throws where a backslash stands before one
 */
function findQuoted(parts: string[]): boolean[] {
	let isInside = false;
	return parts.map((part, at) => {
		if (at % 2) return isInside;
		const marks = part.match(/\\[^]?|"/g) ?? [];
		if (marks.at(-1) === '\\') throw new Error('The backslash would escape the value');
		if (marks.filter((mark) => mark === '"').length % 2) isInside = !isInside;
		return false;
	});
}
