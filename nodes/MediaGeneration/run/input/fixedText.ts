import { isExpression, type INodeProperties } from 'n8n-workflow';
import { isObject } from '../../lib/json';
import { cutText } from '../../lib/text';
import { isAutomatic } from '../../models/any/fields';
import { isOwnEntry } from '../../models/schema';
import { buildFieldError } from '../../models/values';
import { toTitle } from '../../models/words';

/**
 * Refuses a parameter with `{{ $json… }}` that nobody switched to an expression: n8n sends it as it
 * stands. Values of expressions aren't looked at, so a form, a chat or a model may write about them.
 * @param parameters as the workflow stores them
 * @param fields those whose names in the editor aren't made of their names in the workflow
 * @throws {UserError} for the first one
 */
export function refuseFixedExpressions(parameters: object, fields: INodeProperties[]): void {
	for (const [name, text] of listFixedTexts(parameters)) {
		const expression = findExpression(text);
		if (expression === undefined) continue;
		const shown = fields.find((field) => field.name === name)?.displayName ?? toTitle(name);
		throw buildFieldError(
			`'${shown}' is a fixed text with ${cutText(expression, 60)}, which n8n would send as it stands`,
			`Point at '${shown}' in the node, switch it from Fixed to Expression, and run the node again.`,
		);
	}
}

/** Lists the fixed texts in a value, each with the name of its parameter or field. */
function* listFixedTexts(value: unknown, name = ''): Generator<[name: string, text: string]> {
	if (typeof value === 'string' && !isExpression(value)) yield [name, value];
	if (Array.isArray(value)) for (const entry of value) yield* listFixedTexts(entry, name);
	if (!isObject(value)) return;
	// What was filled in before Map Automatically isn't sent.
	if (isAutomatic(value)) return;
	// Beside their value, mapper and locator have texts of the service.
	if ('mappingMode' in value || '__rl' in value) return yield* listFixedTexts(value.value, name);
	for (const [key, part] of Object.entries(value))
		if (!isOwnEntry(key)) yield* listFixedTexts(part, key);
}

/** Finds `{{` with `$(`, or with `$` and a letter, before the next `}}`. */
function findExpression(text: string): string | undefined {
	// What follows the last }} isn't closed.
	for (const part of text.split('}}').slice(0, -1)) {
		const begin = part.indexOf('{{');
		if (begin < 0) continue;
		const expression = part.slice(begin);
		if (/\$[(\p{L}]/u.test(expression)) return `${expression}}}`;
	}
	return undefined;
}
