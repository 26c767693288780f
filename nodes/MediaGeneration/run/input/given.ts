import { isObject, isPlainObject, toJsonValue } from '../../lib/json';
import { isOfFile } from '../../models/readings';
import { anyInput, anyModel } from '../../models/any/fields';
import { parseValue } from '../../models/field';
import { isBlankValue } from '../../models/inputReader';
import { listProperties, type JsonSchema } from '../../models/schema';
import { buildFieldError, isBlank, type ItemFiles } from '../../models/values';
import { listShortly, toTitle } from '../../models/words';

/* Reads what a user gives as columns or JSON instead of fields, and brings all three into one form. */

/** Folds a name for comparison: upper case, blanks, line breaks, _ and - don't count. */
const fold = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, '');

/**
 * Takes the filled columns that mean fields of the model, for Map Automatically. A column means the field
 * of exactly its name, or else a field whose name, or title in the editor, folds to the same text.
 * @throws {UserError} where two columns mean one field, or one column means two fields
 */
export function takeColumns(
	schema: JsonSchema,
	columns: Record<string, unknown>,
): Record<string, unknown> {
	const names = listProperties(schema).map(({ name }) => name);
	const filled = Object.keys(columns).filter((column) =>
		[columns[column]].flat().some((value) => !isBlank(value)),
	);
	const findColumns = (name: string) => {
		if (filled.includes(name)) return [name];
		const headings = [name, toTitle(name)].map(fold);
		return filled.filter((column) => !names.includes(column) && headings.includes(fold(column)));
	};
	const pairs = names.flatMap((name) => findColumns(name).map((column) => ({ name, column })));
	for (const { name, column } of pairs) {
		const rivals = pairs.filter((pair) => pair.name === name || pair.column === column);
		if (rivals.length === 1) continue;
		const list = (texts: string[]) => [...new Set(texts)].join(' or ');
		throw buildFieldError(
			`The column ${list(rivals.map((rival) => rival.column))} could be the field ${list(rivals.map((rival) => rival.name))}`,
			'Name the column exactly as the service names the field, or remove the other one.',
		);
	}
	return Object.fromEntries(pairs.map(({ name, column }) => [name, columns[column]]));
}

/** What a user pasted into Input (JSON), in the parts of a request. */
interface PastedJson {
	input: Record<string, unknown>;
	/** Unchecked. Used where the operation has no callback URL of its own. */
	callBackUrl?: unknown;
	/** A sentence without its period. */
	warning?: string;
}

const JSON_FIELD = anyInput.displayName;

/**
 * Reads the model's input, or the body of a createTask request: a whole body has the fields in `input`, a
 * flat body beside `model`. If the model itself has a field `input` or `model`, the JSON is its input.
 * @param schema what the service says of the model
 * @param model the chosen model
 * @throws {UserError} for a body of another model, or a body whose input is no JSON object
 */
export function readPastedJson(
	schema: JsonSchema,
	json: Record<string, unknown>,
	model: string,
): PastedJson {
	const properties = schema.properties ?? {};
	const isWhole = 'input' in json;
	const isBody = isWhole
		? !('input' in properties) && meansBody(json, model)
		: typeof json.model === 'string' && !('model' in properties);
	if (!isBody) return { input: json };
	const { model: ownModel, input, callBackUrl, ...beside } = json;
	const field = { ...anyModel, required: false, displayName: `model in ${JSON_FIELD}` };
	const bodyModel = parseValue(field, ownModel) ?? model;
	const mismatch =
		bodyModel === model
			? undefined
			: `The model in '${JSON_FIELD}' is ${String(bodyModel)}, but '${anyModel.displayName}' is ${model}`;
	if (mismatch && (isWhole || listProperties(schema).length))
		throw buildFieldError(
			mismatch,
			`Give the same model in both, or remove everything but the model's input from '${JSON_FIELD}'.`,
		);
	if (isWhole) return { ...readWhole(input, Object.keys(beside)), callBackUrl };
	// If the service says nothing of the chosen model, `model` may be one of its fields, so it is sent.
	return {
		input: mismatch ? { model: ownModel, ...beside } : beside,
		callBackUrl,
		warning: mismatch,
	};
}

/** Whether JSON with `input` is a body: `model` is the chosen model, or `input` is an object. */
const meansBody = (json: Record<string, unknown>, model: string) =>
	String(json.model).trim() === model || isObject(json.input) || /^\s*\{/.test(String(json.input));

/** @param beside names beside `input`, which aren't sent */
function readWhole(rawInput: unknown, beside: string[]): PastedJson {
	const field = { ...anyInput, displayName: `input in ${JSON_FIELD}`, required: true };
	const input = parseValue(field, rawInput) as Record<string, unknown>;
	const warning = `Beside "input" in '${JSON_FIELD}', this wasn't sent: ${listShortly(beside)}`;
	return { input, warning: beside.length ? warning : undefined };
}

/**
 * Brings the user's values into one form, by which a retry recognizes the request. The form is the same
 * whatever the service says of the model now, and wherever the values stood: in fields, JSON or columns.
 * @param values by the names that are sent
 */
export function normalizeValues(values: Record<string, unknown>, files: ItemFiles): unknown {
	const normalize = (rawValue: unknown): unknown => {
		const value = toJsonValue(rawValue);
		if (isOfFile(value)) return files.nameOf(value) ?? normalizeObject(value);
		if (isPlainObject(value)) return normalizeObject(value);
		if (!Array.isArray(value)) return String(value).trim();
		const filled = value.filter((part) => !isBlank(part)).map(normalize);
		return filled.length === 1 ? filled[0] : filled;
	};
	const normalizeObject = (object: Record<string, unknown>) =>
		Object.keys(object)
			.sort()
			.filter((name) => !isBlankValue(object[name]))
			.map((name) => [name, normalize(object[name])]);
	return normalizeObject(values);
}
