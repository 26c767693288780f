import type { INodeProperties } from 'n8n-workflow';
import { dropUndefined, findJsonFault, isPlainObject, takeOffFence } from '../lib/json';
import { buildValueError, findOwnFault } from './check';
import { trimmed } from './commonFields';
import { readSingle, unwrapSingle } from './readings';
import type { JsonSchema } from './schema';
import { buildBlankError, buildFieldError, FIX_LOST, isBlank, Nothing } from './values';

/** How a field is sent. */
interface Send {
	/** Key in the request's `input`; absent: the field's name in snake_case. */
	as?: string;
	/** Valid values, and their form in the request; absent: those of n8n's own `type`. */
	schema?: JsonSchema;
	/** Turns what n8n stores into what the schema describes. */
	unpack?: (value: unknown) => unknown;
}

/** An n8n property, and how it is sent. */
export interface Field extends INodeProperties {
	send?: Send;
}

/** A model that has its fields in the panel. */
export interface Model {
	/** The service's identifier, with version and operation. */
	id: string;
	/** Name in the editor. */
	name: string;
	description: string;
	/** In the order in which the editor shows them. */
	fields: Field[];
}

/** Describes what a field takes: by its `send.schema`, or else by n8n's own `type`. */
function toSchema({ type, typeOptions = {}, send, displayName }: Field): JsonSchema {
	const { numberPrecision, minValue: minimum, maxValue: maximum } = typeOptions;
	const ofTypes: Partial<Record<Field['type'], JsonSchema>> = {
		number: dropUndefined({
			type: numberPrecision === 0 ? 'integer' : 'number',
			minimum,
			maximum,
		}),
		boolean: { type: 'boolean' },
		json: { type: 'object' },
		options: trimmed,
	};
	return { title: displayName, ...(send?.schema ?? ofTypes[type] ?? { type: 'string' }) };
}

/** Describes the input of a model with these fields, as a service's document would. */
export function toInputSchema(fields: Field[]): JsonSchema {
	const properties = fields.map((field): [string, JsonSchema] => [
		toRequestKey(field),
		{ ...toSchema(field), isStrict: true },
	]);
	const required = fields.filter((field) => field.required).map(toRequestKey);
	return { type: 'object', properties: Object.fromEntries(properties), required };
}

/** Makes the n8n property of a field. The options in a collection are fields too, and are converted too. */
export function toNodeProperty(field: Field): INodeProperties {
	const property = { ...field };
	delete property.send;
	if (property.type === 'collection')
		property.options = property.options?.map((option) =>
			'type' in option ? toNodeProperty(option) : option,
		);
	return property;
}

/** Makes a property's builder hint. n8n before 2.20 needs `message`: it makes no types without it. */
export const toBuilderHint = (text: string) => ({ propertyHint: text, message: text });

/** The key of a field in the request. */
export const toRequestKey = ({ name, send }: Field): string =>
	send?.as ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Checks the value of a parameter and converts it.
 * @returns undefined when the field is blank
 * @throws {UserError} for a value of the wrong form, for a required value that is blank, and for an
 *   expression that asks for what isn't there
 */
export function parseValue(field: Field, parameter: unknown): unknown {
	const isLocator = field.type === 'resourceLocator' && isPlainObject(parameter);
	const value = isLocator ? parameter.value : parameter;
	if (!isBlank(value)) return parse(field, value);
	if (field.required) throw buildBlankError(field.displayName, value);
	if (value instanceof Nothing && value.isLost)
		throw buildBlankError(field.displayName, value, FIX_LOST);
	return undefined;
}

/** @param where follows the field's name in the error, for example " in Options" */
function parse(field: Field, value: unknown, where = '', remedy?: string): unknown {
	const schema = toSchema(field);
	const content = field.send?.unpack?.(value) ?? value;
	const isJsonText = field.type === 'json' && typeof content === 'string';
	const bareContent = isJsonText ? takeOffFence(content) : content;
	const parsed = readSingle(unwrapSingle(bareContent, schema), schema);
	const fault = findOwnFault(schema, isBlank(parsed) ? null : parsed);
	if (!fault) return parsed;
	if (isJsonText) throwIfBroken(field, String(bareContent));
	throw buildValueError(field.displayName, fault, parsed, where, remedy);
}

/** @throws {UserError} for a text that is no JSON, with why and what helps */
function throwIfBroken({ displayName }: Field, text: string): void {
	const fault = findJsonFault(text);
	if (fault === undefined) return;
	throw buildFieldError(
		`'${displayName}' is not valid JSON: ${fault}`,
		'JSON has straight double quotes, no comma behind the last entry, and no comments. The text of an expression stands between quotes, as in "prompt": "{{ $json.prompt }}", or in \'Prompt\'.',
	);
}

/** Reads an option: undefined if the user didn't add the option, null if its expression gives nothing. */
export type OptionReader = (name: string) => unknown;

/**
 * Reads and checks an option; undefined if the user did not add the option.
 * @throws {UserError} naming the option, when its value is blank or of another form
 */
export function readOption(option: OptionReader, field: Field): unknown {
	const value = option(field.name);
	if (value === undefined) return undefined;
	const remedy = 'Correct the option or remove it, then run the node again.';
	return parse(field, value, ' in Options', remedy);
}

/** Reads a number as `readOption` does; its default if the user did not add the option. */
export const readNumberOption = (option: OptionReader, field: Field): number =>
	(readOption(option, field) ?? field.default) as number;

/**
 * Checks the numbers and switches in Options. An option that is shown only beside another field is
 * checked where that field is read.
 * @throws {UserError} for the first option that is blank, of another type, or out of its range
 */
export function checkOptions(fields: INodeProperties[], option: OptionReader): void {
	const { options = [] } = fields.find(({ name }) => name === 'options') ?? {};
	for (const property of options)
		if ('type' in property && /^(number|boolean)$/.test(property.type) && !property.displayOptions)
			readOption(option, property);
}
