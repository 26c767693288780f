import type { UserError } from 'n8n-workflow';
import { dropUndefined, isExact, isPlainObject, mapValues, toJsonValue } from '../lib/json';
import { cutText } from '../lib/text';
import { readWebUrl } from '../lib/url';
import { buildValueError } from './check';
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
	takesSeveral,
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
	quoteValue,
	type FileUse,
	type ItemFiles,
} from './values';
import { listShortly, nameStep } from './words';

/**
 * How values are taken. In `fields`, texts are converted to the types of the schema, and blank values
 * are left out. In `json` and `extra`, values are sent as they are, save for files and choices. In
 * `extra`, any text may stand in place of a file.
 */
export type Mode = 'fields' | 'json' | 'extra';

/** A place in the input, for a value. */
interface InputPlace extends Omit<FileUse, 'file'> {
	/** How deep the place is in the input: 0 for a field. */
	level: number;
	isRequired?: boolean;
}

/** Values that are nested deeper aren't sent, so neither are values that contain themselves. */
const MOST_INPUT_LEVELS = 64;

/**
 * Turns the user's values into the input that is sent, in one walk over the values. Where the schema
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
		private readonly mode: Mode = 'fields',
	) {}

	private get isFields(): boolean {
		return this.mode === 'fields';
	}

	/** @throws {UserError} for the first value that can't be sent */
	read(values: Record<string, unknown>): Record<string, unknown> {
		return this.takeObject(values, this.schema);
	}

	private takeObject(
		object: Record<string, unknown>,
		schema: JsonSchema,
		label = '',
		level = 0,
	): Record<string, unknown> {
		const takePart = (part: unknown, name: string) => {
			const property = getProperty(schema, name);
			return this.take(part, {
				name,
				label: nameStep(label, name, property),
				schema: property,
				level,
				isRequired: schema.required?.includes(name),
			});
		};
		return dropUndefined(mapValues(object, takePart));
	}

	/** @returns undefined where nothing is sent */
	private take(rawValue: unknown, place: InputPlace): unknown {
		if (this.isFields && place.level === 0 && isBlankValue(rawValue))
			return place.schema.isSentBlank ? '' : undefined;
		if (rawValue instanceof Nothing) return this.takeNothing(rawValue, place);
		const value = toSendable(rawValue, place);
		if (isFilePlace(place)) return this.takeFiles(value, place);
		const single = unwrapSingle(value, place.schema);
		return single === value ? this.takeValue(value, place) : this.take(single, place);
	}

	private takeNothing(nothing: Nothing, place: InputPlace): '' | undefined {
		if (nothing.isLost) {
			const { name, label, level, isRequired } = place;
			if (isRequired || isFilePlace(place) || (name === 'prompt' && level === 0))
				throw buildBlankError(label, nothing, isRequired ? undefined : FIX_LOST);
			const expression = cutText(nothing.expression, 60);
			const isSent = this.isFields ? "wasn't sent" : 'was sent blank';
			if (expression)
				this.warnings.push(
					`'${label}' ${isSent}, because ${expression} gives nothing for this item`,
				);
		}
		return this.isFields ? undefined : '';
	}

	private takeValue(value: unknown, place: InputPlace): unknown {
		const { schema, label, level } = place;
		if (isPlainObject(value)) return this.takeObject(value, schema, label, level + 1);
		if (Array.isArray(value)) return this.takeList(value, place);
		if (this.isFields) return readSingle(value, schema, (parts) => this.takeValue(parts, place));
		return readChoice(value, schema) ?? value;
	}

	private takeList(list: unknown[], place: InputPlace): unknown[] {
		return (
			list
				.filter((part) => !this.isFields || !isLeftOut(part))
				// JSON has no undefined in a list.
				.map((part, index) => this.take(part ?? null, toPartPlace(place, index)))
				.filter((part) => part !== undefined)
		);
	}

	/** Takes the links and files of a place for files. */
	private takeFiles(value: unknown, place: InputPlace): unknown {
		if (isBlank(value)) return value;
		const { schema } = place;
		const types = listTypes(schema);
		const takesList = types.includes('array');
		const takesOne = types.length > 0 && !takesSeveral(schema);
		const files = this.listFiles(value, place);
		if (takesOne && files.length > 1) throw this.buildSeveralError(place, files);
		// A single link in JSON is sent as it is written. A single file is sent alone, unless the user gave a
		// list or the schema takes only lists.
		const isSingleLinkInJson = !this.isFields && typeof files[0] === 'string';
		const isList = Array.isArray(value)
			? takesList || !types.length
			: takesList && !types.includes('string') && !isSingleLinkInJson;
		return !isList && files.length === 1 ? files[0] : files;
	}

	/** @returns nothing for a blank value of a field, several files for a name that stands for several */
	private listFiles(rawValue: unknown, place: InputPlace): unknown[] {
		const { schema } = place;
		const isNothing = rawValue instanceof Nothing;
		const value = isNothing ? this.takeNothing(rawValue, place) : toSendable(rawValue, place);
		if (isBlank(value)) return this.isFields ? [] : [value];
		if (Array.isArray(value))
			return value.flatMap((part, index) => this.listFiles(part, toPartPlace(place, index)));
		// An expression for a file may give a number, or false. The value is treated as the name of a file, so
		// the error says that there is no such file.
		const isWrongScalar = this.isFields && typeof value !== 'object' && !hasType(schema, value);
		if (isWrongScalar || typeof value === 'string') return this.takeText(String(value), place);
		const name = isOfFile(value) && this.files.nameOf(value);
		if (name) return this.takeText(name, toPartPlace(place, 0));
		const types = listTypes(schema);
		const takesObjects = types.includes('object') || (!this.isFields && !types.length);
		const link = takesObjects ? undefined : readAttachment(value);
		if (!takesObjects && !link && isOfFile(value))
			throw this.buildNoFileError(JSON.stringify(value), place);
		return [link ?? this.takeValue(value, place)];
	}

	private takeText(text: string, place: InputPlace): unknown[] {
		const isSeveral = takesSeveral(place.schema);
		const isSplit = isSeveral && this.isFields;
		const address = isSplit ? undefined : this.takeAddress(text.trim(), place);
		if (address !== undefined) return [address];
		const { named, numbered } = this.files.find(text.trim(), place.label);
		const files = named ? [named, ...(isSeveral ? numbered : [])] : numbered;
		if (files.length) return files.map((file) => this.use(file, place));
		const parts = parseParts(text) ?? (isSplit ? splitList(text) : undefined);
		return parts === undefined
			? [this.takeUnmatchedText(text, place)]
			: this.listFiles(parts, place);
	}

	private use(file: FileToSend, place: InputPlace): FileToSend {
		this.uses.push({ file, ...place });
		return file;
	}

	/** Takes a link, or a file that is written as text. */
	private takeAddress(text: string, place: InputPlace): FileToSend | string | undefined {
		if (!/^data:/i.test(text)) return /,https?:/i.test(text) ? undefined : readWebUrl(text);
		if (takesBase64(place.schema)) return text;
		return this.use(this.files.fromDataUri(text, place.label), place);
	}

	/** Takes a text that is neither a link nor the name of a file. */
	private takeUnmatchedText(rawText: string, place: InputPlace): string {
		const { schema } = place;
		const text = rawText.trim();
		if (this.mode === 'extra') return rawText;
		if (this.isFields ? hasOwnScheme(text) : mayBeAddress(text)) return text;
		if (takesBase64(schema) && BASE64.test(text)) return text;
		if (this.isFields || saysUrl(schema)) throw this.buildNoFileError(text, place);
		this.warnings.push(`'${place.label}' is ${quoteValue(text)}: no URL, and no file of the item`);
		return rawText;
	}

	private buildSeveralError(place: InputPlace, files: unknown[]): UserError {
		const names = files.map((one) => (one instanceof FileToSend ? one.field : quoteValue(one)));
		return buildFieldError(
			`'${place.label}' takes one file, but is given ${files.length}: ${listShortly(names)}`,
			'Enter one of them, or split the list into items in a node before this one.',
		);
	}

	private buildNoFileError(text: string, place: InputPlace): UserError {
		const names = this.files.listNames().join(', ');
		return buildFieldError(
			`'${place.label}' is ${quoteValue(text)}, but there is no file named so in this item, and a URL begins with http:// or https://`,
			names
				? `Enter a file of this item: ${names}.`
				: 'The item has no file: put a node before this one that reads or downloads it.',
		);
	}
}

/** Bare Base64 that is too long for the name of a file. */
const BASE64 = /^[\w+/-]{64,}={0,2}$/;

const isLeftOut = (value: unknown): boolean =>
	isBlank(value) && !(value instanceof Nothing && value.isLost);

/** Says whether a value is left out. An empty list is sent: the user meant that list. */
export const isBlankValue = (value: unknown): boolean =>
	Array.isArray(value) ? value.length > 0 && value.every(isLeftOut) : isLeftOut(value);

const isFilePlace = ({ name, schema }: InputPlace): boolean =>
	findPurpose(name, schema).role === 'file';

/** Makes the place of a list's part. What the schema of the list says of files holds for its parts. */
function toPartPlace(place: InputPlace, index: number): InputPlace {
	const { schema } = place;
	const { format, description, limits } = schema;
	const takesList = listTypes(schema).includes('array');
	const partSchema = takesList ? { format, description, limits, ...getItems(schema) } : schema;
	return {
		...place,
		schema: partSchema,
		label: nameStep(place.label, index, schema),
		level: place.level + 1,
	};
}

/** @throws {UserError} where JSON would lose or change the value */
function toSendable(rawValue: unknown, { label, level }: InputPlace): unknown {
	const value = toJsonValue(rawValue);
	if (level >= MOST_INPUT_LEVELS)
		throw buildValueError(label, `must be nested less than ${MOST_INPUT_LEVELS} levels deep`);
	if (typeof value === 'number') {
		if (!isExact(value)) throw buildValueError(label, INEXACT, value);
		return value;
	}
	const isJson =
		value === null ||
		/^(string|boolean|undefined)$/.test(typeof value) ||
		Array.isArray(value) ||
		isPlainObject(value);
	if (!isJson) throw buildValueError(label, 'must be a value that JSON has');
	return value;
}
