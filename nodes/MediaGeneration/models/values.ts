import { UserError } from 'n8n-workflow';
import { cutText, LONGEST_TEXT } from '../lib/text';
import type { JsonSchema } from './schema';

/* What may stand in place of a value (Nothing, or a file of the item), and errors that name a field. */

/** Stands in place of a value whose expression gives nothing for an item. */
export class Nothing {
	constructor(
		/** The expression with its braces; blank for a tool, whose agent doesn't know the expressions. */
		readonly expression: string,
		/** The expression gives `undefined`: it asks for what isn't there. `null` and '' are on purpose. */
		readonly isLost: boolean,
	) {}
}

/** A place of an input that has a file. */
export interface FileUse {
	file: FileToSend;
	/** The place's name in the editor. */
	label: string;
	/** The key in the request; in a list, the key of the list. */
	name: string;
	schema: JsonSchema;
}

/** A file of an item that is uploaded before its task is created. Its URL then takes its place. */
export abstract class FileToSend {
	/** The binary field of the item, for errors. */
	abstract readonly field: string;

	/** @throws {UserError} if the file can't be what its place takes */
	abstract check(use: FileUse): Promise<void>;
}

/** What a name stands for in an item. */
export interface NamedFiles {
	/** The file of this name, or of the form's field with this label. */
	named?: FileToSend;
	/** Files whose names are this name and a number, in their order, without a gap. */
	numbered: FileToSend[];
}

/** The files of an item. */
export interface ItemFiles {
	/** @throws {UserError} for a form's label under whose name n8n has stored another field's file */
	find: (name: string, label: string) => NamedFiles;
	/** Makes a file of a `data:` URI. @throws {UserError} if the URI can't be read */
	fromDataUri: (uri: string, label: string) => FileToSend;
	/** Names the file of this item that n8n's own object of a file stands for. */
	nameOf: (object: Record<string, unknown>) => string | undefined;
	listNames: () => string[];
}

export const isBlank = (value: unknown): boolean =>
	value === undefined ||
	value === null ||
	value instanceof Nothing ||
	(typeof value === 'string' && value.trim() === '');

/**
 * Makes the error for a value that can't be sent. Names in it may be a stranger's, of any length.
 * @param message names the field as the editor does and says what is allowed
 * @param remedy what to do
 */
export const buildFieldError = (
	message: string,
	remedy = 'Correct the field, then run the node again.',
): UserError =>
	new UserError(cutText(message, LONGEST_TEXT), {
		description: `Nothing was sent for this item. ${remedy}`,
	});

/** What to do about an optional field whose expression has lost its value. */
export const FIX_LOST =
	"Check the names in the expression. Where an item may have no value, end it with ?? '', as in {{ $json.prompt ?? '' }}.";

/**
 * Makes the error of a field that is required but blank, or whose expression has lost its value.
 * @param label the field's name in the editor
 * @param value the blank value, or the Nothing in its place
 */
export function buildBlankError(label: string, value?: unknown, remedy?: string): UserError {
	const message = `'${label}' is required`;
	if (!(value instanceof Nothing && value.expression)) return buildFieldError(message, remedy);
	return buildFieldError(
		`${message}, but its expression ${cutText(value.expression, 60)} gives nothing for this item`,
		remedy ?? 'Check the names in the expression, then run the node again.',
	);
}

/** Follows the name of a number that JavaScript can't hold exactly. */
export const INEXACT =
	'must be between -9007199254740991 and 9007199254740991, so that no digit is lost';

/** Shortens a value for a message. A URL's query and login are left out, because they may be secret. */
export function quoteValue(value: unknown): string {
	const text = typeof value === 'object' ? writeJson(value) : String(value);
	const shown = text.replace(/\?.*/s, '').replace(/\/\/[^/\s@]*@/g, '//');
	return `"${cutText(shown, 60)}"`;
}

/** Writes an object for a message. An object from an expression may contain itself. */
function writeJson(value: object | null): string {
	try {
		return String(JSON.stringify(value));
	} catch {
		return 'an object';
	}
}
