import type { UserError } from 'n8n-workflow';
import { isExact, isPlainObject, toJsonValue } from '../lib/json';
import { cutText } from '../lib/text';
import { readWebUrl } from '../lib/url';
import { buildValueError, namePlaceIn, type Path } from './check';
import {
	hasOwnScheme,
	isOfFile,
	mayBeAddress,
	parseParts,
	readAttachment,
	readChoice,
	readSingle,
	splitList,
	unwrapSingle,
} from './readings';
import {
	findPurpose,
	getItems,
	getProperty,
	hasType,
	listTypes,
	saysUrl,
	takesBase64,
	type JsonSchema,
} from './schema';
import {
	buildBlankError,
	buildFieldError,
	FIX_LOST,
	FileToSend,
	INEXACT,
	isBlank,
	Nothing,
	shorten,
	type FileUse,
	type ItemFiles,
} from './values';
import { listShortly, toTitle } from './words';

/**
 * How values are taken. Of `fields`, texts are converted to the types of the schema, and blank values
 * are left out. `json` is sent as it is, save for files and choices; so is `extra`, where a text that
 * may be no file is not doubted.
 */
export type Mode = 'fields' | 'json' | 'extra';

/** What a value is for. */
interface Place {
	/** The key in the request, also of a list's entries. */
	name: string;
	schema: JsonSchema;
	/** Its steps in the input. */
	path: Path;
	isRequired?: boolean;
}

/** Deeper values aren't sent, and neither are those that contain themselves. */
const MAX_LEVELS = 64;

/**
 * Turns what an item gives into the input that is sent, in one walk over its values. Where the schema
 * takes files, texts become links or files of the item.
 */
export class InputReader {
	/** Files in the input, in their order. */
	readonly uses: FileUse[] = [];
	/** What may be a mistake, as sentences without a period. */
	readonly warnings: string[] = [];

	constructor(
		private readonly schema: JsonSchema,
		private readonly files: ItemFiles,
		private readonly mode: Mode,
	) {}

	private get isFields(): boolean {
		return this.mode === 'fields';
	}

	/** @throws {UserError} for the first value that can't be sent */
	read(values: Record<string, unknown>): Record<string, unknown> {
		const isGiven = (value: unknown) => !this.isFields || !isBlankValue(value);
		const given = Object.entries(values).filter(([, value]) => isGiven(value));
		return this.takeObject(Object.fromEntries(given), this.schema, []);
	}

	private takeObject(
		object: Record<string, unknown>,
		schema: JsonSchema,
		path: Path,
	): Record<string, unknown> {
		const entries: Array<[string, unknown]> = [];
		for (const [name, given] of Object.entries(object)) {
			const isRequired = schema.required?.includes(name);
			const place = { name, schema: getProperty(schema, name), path: [...path, name], isRequired };
			const value = this.take(given, place);
			if (value !== undefined) entries.push([name, value]);
		}
		return Object.fromEntries(entries);
	}

	/** @returns undefined where nothing is sent */
	private take(given: unknown, place: Place): unknown {
		if (given instanceof Nothing) return this.takeNothing(given, place);
		const value = this.takePlain(given, place.path);
		if (isFilePlace(place)) return this.takeFiles(value, place);
		const single = unwrapSingle(value, place.schema);
		if (single instanceof Nothing) return this.takeNothing(single, place);
		return this.takeOther(single, place);
	}

	private takeNothing(nothing: Nothing, place: Place): '' | undefined {
		if (nothing.isLost) {
			const { name, path, isRequired } = place;
			const label = this.nameOf(place);
			if (isRequired) throw buildBlankError(label, nothing);
			if (isFilePlace(place) || (name === 'prompt' && path.length === 1))
				throw buildBlankError(label, nothing, FIX_LOST);
			const expression = cutText(nothing.expression, 60);
			const isSent = this.isFields ? "wasn't sent" : 'was sent blank';
			if (expression)
				this.warnings.push(
					`'${label}' ${isSent}, because ${expression} gives nothing for this item`,
				);
		}
		return this.isFields ? undefined : '';
	}

	/** @throws {UserError} where JSON would lose or change the value */
	private takePlain(given: unknown, path: Path): unknown {
		const value = toJsonValue(given);
		const message = findWrong(value, path.length);
		if (!message) return value;
		const label = namePlaceIn(this.schema, path);
		throw buildValueError(label, message, typeof value === 'number' ? value : undefined);
	}

	private takeOther(value: unknown, place: Place): unknown {
		const { schema, path } = place;
		if (isPlainObject(value)) return this.takeObject(value, schema, path);
		if (Array.isArray(value)) return this.takeList(value, place);
		if (this.isFields) return readSingle(value, schema, (parts) => this.takeOther(parts, place));
		return readChoice(value, schema) ?? value;
	}

	private takeList(list: unknown[], place: Place): unknown[] {
		const isLeftOut = (entry: unknown) => this.isFields && isBlank(entry) && !isLost(entry);
		return (
			list
				.filter((entry) => !isLeftOut(entry))
				// JSON has no undefined in a list.
				.map((entry, at) => this.take(entry ?? null, toEntryPlace(place, at)))
				.filter(isDefined)
		);
	}

	/** Takes the links and files of a place that takes some. */
	private takeFiles(value: unknown, place: Place): unknown {
		if (isBlank(value)) return value;
		const { schema } = place;
		const types = listTypes(schema);
		const takesList = types.includes('array');
		const takesOne = takesList ? schema.maxItems === 1 : types.length > 0;
		const taken = this.takeEntry(value, place, takesList && !takesOne);
		if (takesOne && taken.length > 1) throw this.buildSeveralError(place, taken);
		const isSent = !this.isFields && typeof taken[0] === 'string';
		const isEntry = !takesList || types.includes('string') || isSent;
		const isList = Array.isArray(value) && (takesList || !takesOne);
		return isEntry && !isList && taken.length === 1 ? taken[0] : taken;
	}

	/**
	 * @param isAll a name stands for numbered files beside the one of this name
	 * @returns nothing, for a blank value of a field; several files, for a name that stands for them
	 */
	private takeEntry(given: unknown, place: Place, isAll = false): unknown[] {
		const { schema } = place;
		if (given instanceof Nothing) return [this.takeNothing(given, place)].filter(isDefined);
		const value = this.takePlain(given, place.path);
		if (isBlank(value)) return this.isFields ? [] : [value];
		if (Array.isArray(value))
			return value.flatMap((entry, at) => this.takeEntry(entry, toEntryPlace(place, at)));
		// An expression for a file may give a number, or false.
		const isOther = this.isFields && typeof value !== 'object' && !hasType(schema, value);
		if (isOther || typeof value === 'string') return this.takeText(String(value), place, isAll);
		const named = isOfFile(value) && this.files.nameOf(value);
		if (named) return this.takeText(named, place);
		const types = listTypes(schema);
		const takesObjects = types.includes('object') || (!this.isFields && !types.length);
		if (!isPlainObject(value) || takesObjects) return [this.takeOther(value, place)];
		const link = readAttachment(value);
		if (link) return [link];
		if (isOfFile(value)) throw this.buildNoFileError(JSON.stringify(value), place);
		return [this.takeOther(value, place)];
	}

	private takeText(text: string, place: Place, isAll = false): unknown[] {
		const isSplit = isAll && this.isFields;
		const address = isSplit ? undefined : this.takeAddress(text.trim(), place);
		if (address !== undefined) return [address];
		const { exact, numbered } = this.files.find(text.trim(), this.nameOf(place));
		if (exact) return [exact, ...(isAll ? numbered : [])].map((file) => this.use(file, place));
		if (numbered.length) return numbered.map((file) => this.use(file, place));
		const parts = parseParts(text);
		if (parts !== undefined) return this.takeEntry(parts, place);
		if (isSplit) return splitList(text).flatMap((part) => this.takeText(part, place));
		return [this.takeOtherText(text, place)];
	}

	private use(file: FileToSend, place: Place): FileToSend {
		const { name, schema } = place;
		this.uses.push({ file, label: this.nameOf(place), name, schema });
		return file;
	}

	/** Takes a link, or a file that is written as text. */
	private takeAddress(text: string, place: Place): FileToSend | string | undefined {
		if (!/^data:/i.test(text)) return /,https?:/i.test(text) ? undefined : readWebUrl(text);
		if (takesBase64(place.schema)) return text;
		return this.use(this.files.fromDataUri(text, this.nameOf(place)), place);
	}

	/** Takes a text that is neither a link nor the name of a file. */
	private takeOtherText(given: string, place: Place): string {
		const { schema } = place;
		const text = given.trim();
		if (this.mode === 'extra') return given;
		if (this.isFields ? hasOwnScheme(text) : mayBeAddress(text)) return text;
		if (takesBase64(schema) && BASE64.test(text)) return text;
		if (this.isFields || saysUrl(schema)) throw this.buildNoFileError(text, place);
		this.warnings.push(
			`'${this.nameOf(place)}' is ${shorten(text)}: no URL, and no file of the item`,
		);
		return given;
	}

	private buildSeveralError(place: Place, taken: unknown[]): UserError {
		const names = taken.map((one) => (one instanceof FileToSend ? one.field : shorten(one)));
		return buildFieldError(
			`'${this.nameOf(place)}' takes one file, but is given ${taken.length}: ${listShortly(names)}`,
			'Enter one of them, or split the list into items in a node before this one.',
		);
	}

	private buildNoFileError(text: string, place: Place): UserError {
		const names = this.files.listNames().join(', ');
		return buildFieldError(
			`'${this.nameOf(place)}' is ${shorten(text)}, but there is no file named so in this item, and a URL begins with http:// or https://`,
			names
				? `Enter a file of this item: ${names}.`
				: 'The item has no file: put a node before this one that reads or downloads it.',
		);
	}

	private nameOf({ name, schema }: Place): string {
		return schema.title ?? toTitle(name);
	}
}

/** Bare Base64 that is too long for the name of a file. */
const BASE64 = /^[\w+/-]{64,}={0,2}$/;

const isLost = (value: unknown): boolean => value instanceof Nothing && value.isLost;

/** Says whether nothing is sent of a value. A list without entries was meant. */
export const isBlankValue = (value: unknown): boolean =>
	Array.isArray(value)
		? value.length > 0 && value.every((entry) => isBlank(entry) && !isLost(entry))
		: isBlank(value) && !isLost(value);

const isDefined = (value: unknown): boolean => value !== undefined;

const isFilePlace = ({ name, schema }: Place): boolean => findPurpose(name, schema).kind === 'file';

/** What an entry of a list is for. It has the name of the list, and what is said of that. */
function toEntryPlace({ name, schema, path, isRequired }: Place, at: number): Place {
	const { format, description, title, limits } = schema;
	const takesList = listTypes(schema).includes('array');
	const entry = takesList ? { format, description, title, limits, ...getItems(schema) } : schema;
	return { name, schema: entry, path: [...path, at], isRequired };
}

/** Says why a value can't be sent; undefined if it can. */
function findWrong(value: unknown, level: number): string | undefined {
	if (level >= MAX_LEVELS) return `must be nested less than ${MAX_LEVELS} levels deep`;
	if (typeof value === 'number') return isExact(value) ? undefined : INEXACT;
	const isJson =
		value === null ||
		/^(string|boolean|undefined)$/.test(typeof value) ||
		Array.isArray(value) ||
		isPlainObject(value);
	return isJson ? undefined : 'must be a value that JSON has';
}
