import { UserError } from 'n8n-workflow';
import { LONGEST_TEXT } from '../lib/excerpt';
import { cutText } from '../lib/text';
import { Nothing } from './files';

/** Errors of fields, which name a field as the editor does. */

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

const LOST_OPTIONAL =
	"Check the names in the expression. For items that have none, as a table that leaves out blank cells has them, end it with ?? '', as in {{ $json.prompt ?? '' }}.";

/**
 * Makes the error of a field that is required but blank, or whose expression has lost its value.
 * @param label its name in the editor
 * @param given what stands in its place
 */
export function buildBlankError(label: string, given?: unknown, remedy?: string): UserError {
	const message = `'${label}' is required`;
	if (!(given instanceof Nothing && given.expression)) return buildFieldError(message, remedy);
	return buildFieldError(
		`${message}, but its expression ${cutText(given.expression, 60)} gives nothing for this item`,
		remedy ?? 'Check the names in the expression, then run the node again.',
	);
}

/** Makes the error of a field that may be blank, but whose expression has lost its value. */
export const buildLostError = (label: string, given: Nothing): UserError =>
	buildBlankError(label, given, LOST_OPTIONAL);

/** Follows the name of a number that JavaScript can't hold exactly. */
export const INEXACT =
	'must be between -9007199254740991 and 9007199254740991, so that no digit is lost';

export const isBlank = (value: unknown): boolean =>
	value === undefined ||
	value === null ||
	value instanceof Nothing ||
	(typeof value === 'string' && value.trim() === '');

/** Shortens a value for a message. A URL's query and login are left out, because they may be secret. */
export function shorten(value: unknown): string {
	const text = typeof value === 'object' ? writeJson(value) : String(value);
	const shown = text.replace(/\?.*/s, '').replace(/\/\/[^/\s@]*@/g, '//');
	return `"${cutText(shown, 60)}"`;
}

/** Writes an object for a message. One from an expression may contain itself. */
function writeJson(value: object | null): string {
	try {
		return String(JSON.stringify(value));
	} catch {
		return 'an object';
	}
}
