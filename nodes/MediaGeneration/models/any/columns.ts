import { buildFieldError, isBlank } from '../field';
import { isOfFile } from '../media';
import type { RequestSource } from '../model';
import { toTitle } from '../title';
import { findPurpose } from './purpose';
import { getPart, listProperties, listUnknown, type JsonSchema } from './schema';
import { listShortly } from './words';

/** Map Automatically: columns of an item become the fields that the service gives the same names. */

/**
 * Takes the columns that are fields of the model.
 * @throws {UserError} when the fields aren't known, or for a tool: its model would fill in all fields
 */
export function takeColumns(
	schema: JsonSchema,
	source: RequestSource,
	model: string,
): Record<string, unknown> {
	const { columns } = source;
	if (!columns)
		throw buildFieldError(
			'Map Automatically takes no columns in a tool, because the AI model could then fill in every field',
			"Set 'Mapping Column Mode' to Map Each Column Manually, and let the model fill in the fields of your choice.",
		);
	const properties = listProperties(schema);
	if (!properties.length)
		throw buildFieldError(
			`The fields of ${model} aren't known, so no column can be taken by its name`,
			"Set 'Mapping Column Mode' to Map Each Column Manually, or 'Input Mode' to JSON.",
		);
	const entries = properties.map(({ name, schema: own }): [string, unknown] => {
		const value = getPart(columns, name);
		const given = [value].flat().filter((entry) => !isBlank(entry));
		const takesFile = findPurpose(name, own).kind === 'file';
		const isByName = given.length ? given.every(isOwnFile) : source.hasFile(name);
		if (takesFile && isByName) return [name, name];
		return [name, given.length ? value : undefined];
	});
	return Object.fromEntries(entries);
}

/** Says whether a value is what n8n's form leaves of a file. Those of tables have a URL. */
const isOwnFile = (value: unknown): boolean =>
	isOfFile(value) && typeof (value as { url?: unknown }).url !== 'string';

/** @throws {UserError} when there is nothing to send, which the service might take, and charge for */
export function refuseNothing(schema: JsonSchema, input: object, model: string): void {
	if (Object.keys(input).length) return;
	const names = listProperties(schema).map(({ name }) => name);
	throw buildFieldError(
		`The item has nothing in a column that is named as a field of ${model}. Its fields are ${listShortly(names)}`,
		'Fill in such a column, or name the columns so in a node before this one.',
	);
}

/** Says which columns were left out though they have the title of a field that is not sent. */
export function describeLeftOut(
	schema: JsonSchema,
	{ columns = {} }: RequestSource,
	input: object,
): string | undefined {
	const unsent = listProperties(schema).filter(({ name }) => !Object.hasOwn(input, name));
	const isFilled = (name: string) =>
		[getPart(columns, name)].flat().some((entry) => !isBlank(entry));
	const meant = listUnknown(schema, columns)
		.filter(isFilled)
		.flatMap((column) => {
			const field = unsent.find(({ name }) => toTitle(name) === toTitle(column));
			return field ? `${column} (the field is ${field.name})` : [];
		});
	if (!meant.length) return undefined;
	return `Columns not sent, as no field has exactly their names: ${listShortly(meant)}`;
}
