import { isExpression, isResourceLocatorValue } from 'n8n-workflow';
import type { Call } from '../host/call';
import { isObject } from '../lib/json';
import { cutText } from '../lib/text';
import { anyFields, anyInput, inputMode, isAutomatic } from '../models/any/fields';
import { buildFieldError, type BlankFieldError } from '../models/field';

/** The longest expression in an error, in characters. */
const MAX_EXPRESSION = 60;

/**
 * Says why a required field is blank where the user sees something in it: an expression that gives
 * nothing, or a column. A model that fills in a tool's field reads best that it is required. Other
 * errors are returned as they are.
 */
export function explainBlank({ context, isTool }: Call, error: unknown): unknown {
	const { blankField, message, remedy } = error as Partial<BlankFieldError>;
	if (blankField === undefined || isTool) return error;
	const { parameters } = context.getNode();
	const mapper: unknown = parameters[anyFields.name];
	const isJson = parameters[inputMode.name] === 'json';
	const isByColumns = isAutomatic(mapper) && !isJson;
	const ofFields = isObject(mapper) && isObject(mapper.value) && !isByColumns ? mapper.value : {};
	const own = parameters[blankField];
	const stored = [
		isResourceLocatorValue(own) ? own.value : own,
		isJson ? parameters[anyInput.name] : ofFields[blankField],
	];
	const expression = stored.find(isExpression);
	if (expression)
		return buildFieldError(
			`${message}, but its expression ${cutText(expression.slice(1), MAX_EXPRESSION)} gives nothing for this item`,
			remedy ?? 'Check the names in the expression, then run the node again.',
		);
	if (!isByColumns) return error;
	return buildFieldError(
		`${message}, but the item has nothing in a column named exactly ${blankField}`,
		remedy ?? `Fill in the column, or name it ${blankField} in a node before this one.`,
	);
}
