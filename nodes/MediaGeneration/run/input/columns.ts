import { findPurpose, listProperties, type JsonSchema, type Property } from '../../models/schema';
import { buildFieldError, isBlank, type ItemFiles } from '../../models/values';
import { toTitle } from '../../models/words';

/** Map Automatically: columns of an item become the fields that their names mean. */

/** What counts of a name: upper case, blanks, line breaks, _ and - don't. */
const fold = (name: string): string => name.toLowerCase().replace(/[\s_-]+/g, '');

const isFilled = (value: unknown): boolean => [value].flat().some((entry) => !isBlank(entry));

/**
 * Takes the filled columns that mean fields of the model. The exact name of a field comes first; its
 * name as the editor titles it means it as well.
 * @throws {UserError} where two columns mean one field, or one means two
 */
export function takeColumns(
	schema: JsonSchema,
	columns: Record<string, unknown>,
	files: ItemFiles,
): Record<string, unknown> {
	const properties = listProperties(schema);
	const filled = Object.keys(columns).filter((column) => isFilled(columns[column]));
	const exact = properties.map(({ name }) => name).filter((name) => filled.includes(name));
	const others = filled
		.filter((column) => !exact.includes(column))
		.map((column) => ({ column, folded: fold(column) }));
	const taken = new Map<string, string>();
	const entries = properties.map((property): [string, unknown] => {
		const { name } = property;
		const column = exact.includes(name) ? name : findColumn(property, others);
		if (column === undefined) return [name, findFile(property, files)];
		const other = taken.get(column);
		if (other) throw buildTwiceError(`The column ${column}`, [other, name]);
		taken.set(column, name);
		return [name, columns[column]];
	});
	return Object.fromEntries(entries);
}

function findColumn(
	{ name }: Property,
	columns: Array<{ column: string; folded: string }>,
): string | undefined {
	const meant = [fold(name), fold(toTitle(name))];
	const found = columns.filter(({ folded }) => meant.includes(folded)).map(({ column }) => column);
	if (found.length > 1) throw buildTwiceError(`The field ${name}`, found);
	return found[0];
}

const buildTwiceError = (what: string, names: string[]) =>
	buildFieldError(
		`${what} could be ${names.join(' or ')}`,
		'Name the column exactly as the service names the field, or remove the other one.',
	);

/** A file of the item has the name of the field. */
function findFile({ name, schema }: Property, files: ItemFiles): string | undefined {
	const isFile = findPurpose(name, schema).kind === 'file';
	return isFile && files.find(name, name).exact ? name : undefined;
}
