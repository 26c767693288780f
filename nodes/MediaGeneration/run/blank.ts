import { isExpression, type INodeExecutionData, type INodeParameters } from 'n8n-workflow';
import { isObject } from '../lib/json';
import { cutText } from '../lib/text';
import { anyFields, anyInput, inputMode, isAutomatic } from '../models/any/fields';
import { buildFieldError, type BlankFieldError } from '../models/field';

/** The longest expression in an error, in characters. */
const MAX_EXPRESSION = 60;

/** Where the value of a field comes from that is blank though it is required. */
interface Source {
	/** Follows "is required, but". */
	why: string;
	remedy: string;
}

/**
 * Says why a required field is blank where the user sees something in it: an expression that gives
 * nothing, or a column. Other errors are returned as they are.
 * @param parameters as the workflow stores them
 */
export function explainBlank(
	parameters: INodeParameters,
	item: INodeExecutionData | undefined,
	error: unknown,
): unknown {
	const { blankField, message, remedy } = error as Partial<BlankFieldError>;
	if (blankField === undefined) return error;
	const source = findSource(parameters, item, blankField);
	if (!source) return error;
	return buildFieldError(`${message}, but ${source.why}`, remedy ?? source.remedy);
}

function findSource(
	parameters: INodeParameters,
	item: INodeExecutionData | undefined,
	name: string,
): Source | undefined {
	const mapper: unknown = parameters[anyFields.name];
	const isByColumns = isAutomatic(mapper);
	const ofFields = isObject(mapper) && isObject(mapper.value) && !isByColumns ? mapper.value : {};
	const isJson = parameters[inputMode.name] === 'json';
	const stored = [parameters[name], isJson ? parameters[anyInput.name] : ofFields[name]];
	const expression = stored.find(isExpression);
	if (expression) return describeExpression(expression);
	return isByColumns && !isJson ? describeColumn(name, item?.json) : undefined;
}

/** A model that fills in a tool's field reads best that it is required. */
const describeExpression = (expression: string): Source | undefined =>
	/\$fromAI\b/i.test(expression)
		? undefined
		: {
				why: `its expression ${cutText(expression.slice(1), MAX_EXPRESSION)} gives nothing for this item`,
				remedy: 'Check the names in the expression, then run the node again.',
			};

const describeColumn = (name: string, columns = {}): Source => ({
	why: `the item has ${Object.hasOwn(columns, name) ? 'nothing in its' : 'no'} column ${name}`,
	remedy: `Fill in the column, or name it ${name} in a node before this one.`,
});
