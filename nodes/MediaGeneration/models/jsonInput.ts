import { dropUndefined, isExact, isPlainObject, mapValues } from '../lib/json';
import { buildFieldError, INEXACT, namePlace, shorten } from './field';
import { Media } from './media';

/** Deeper values are refused, and with them those that contain themselves. */
const MAX_LEVELS = 64;

/** How many steps of a path an error names. */
const SHOWN_STEPS = 8;

/**
 * Copies an input as JSON, with dates as ISO text. A value that JSON would change is refused: a
 * whole number beyond 2^53, which has lost digits already, and what only expressions return, such
 * as a Map.
 * @throws {UserError} for the first such value
 */
export function toJsonInput(input: Record<string, unknown>): Record<string, unknown> {
	return copyObject(input, []);
}

type Path = Array<string | number>;

function copyObject(value: object, path: Path): Record<string, unknown> {
	return mapValues(dropUndefined(value), (entry, name) => copy(entry, [...path, name]));
}

function copy(given: unknown, path: Path): unknown {
	const value = toPlain(given);
	const wrong = findWrong(given, value, path.length);
	if (wrong) throw buildFieldError(`'${namePlace(path.slice(0, SHOWN_STEPS))}' ${wrong}`);
	if (Array.isArray(value))
		return Array.from(value, (entry, index) => copy(entry, [...path, index]));
	return isPlainObject(value) ? copyObject(value, path) : value;
}

/** Returns what JSON makes of an object, for example the ISO text of a date. */
function toPlain(value: unknown): unknown {
	const { toJSON } = (value ?? {}) as { toJSON?: unknown };
	return typeof toJSON === 'function' && !(value instanceof Media) ? toJSON.call(value) : value;
}

/** Says why a value can't be sent; undefined if it can. */
function findWrong(given: unknown, value: unknown, level: number): string | undefined {
	if (level >= MAX_LEVELS) return `must be nested less than ${MAX_LEVELS} levels deep`;
	if (typeof value === 'number')
		return isExact(value) ? undefined : `${INEXACT}, but is ${shorten(value)}`;
	if (value === null && given !== null) return 'must be a valid date';
	const isJson =
		value === null ||
		/^(string|boolean)$/.test(typeof value) ||
		Array.isArray(value) ||
		isPlainObject(value) ||
		value instanceof Media;
	const kind = Object.prototype.toString.call(value).slice(8, -1);
	return isJson ? undefined : `must be a value that JSON has, but is of the type ${kind}`;
}
