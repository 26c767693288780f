import { isPlainObject, toJsonValue } from '../../lib/json';
import { isBlankValue } from '../../models/inputReader';
import { isOfFile } from '../../models/readings';
import { isOwnEntry } from '../../models/schema';
import { isBlank, type ItemFiles } from '../../models/values';

/**
 * Writes what a user gave in one form, by which a retry tells that a request is the same: whatever the
 * service says of the model meanwhile, and whether the values came from fields, JSON or columns.
 * @param values by the names that are sent
 */
export function normalizeGiven(values: Record<string, unknown>, files: ItemFiles): unknown {
	const normalize = (given: unknown): unknown => {
		const value = toJsonValue(given);
		if (isOfFile(value)) return files.nameOf(value) ?? normalizeObject(value);
		if (isPlainObject(value)) return normalizeObject(value);
		if (!Array.isArray(value)) return String(value).trim();
		const filled = value.filter((entry) => !isBlank(entry)).map(normalize);
		return filled.length === 1 ? filled[0] : filled;
	};
	const normalizeObject = (object: Record<string, unknown>) =>
		Object.keys(object)
			.sort()
			.filter((name) => !isBlankValue(object[name]) && !isOwnEntry(name))
			.map((name) => [name, normalize(object[name])]);
	return normalizeObject(values);
}
