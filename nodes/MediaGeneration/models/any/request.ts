import type { ResourceMapperValue } from 'n8n-workflow';
import { buildFieldError, isBlank, parseValue } from '../field';
import type { Model, ModelRequest } from '../model';
import * as fields from './fields';
import { addFacts, listShortly } from './property';
import {
	collectProperties,
	findInput,
	isOwnEntry,
	listUnknown,
	readSchema,
	type JsonSchema,
} from './schema';
import { checkInput, isBody, toInput, type Body } from './values';
import { findStoredSchema } from './views';

/**
 * Makes the request of Any Model. JSON is sent as it is. Fields are converted to the types of the
 * service's document and checked against it. The editor stores the document with the fields; for
 * JSON, and for fields that an AI wrote, it is looked up.
 */
export const requestAnyModel: Model['request'] = async ({ read, option, describe }) => {
	const { anyModel, anyInput, anyFields, inputMode, anyPrompt } = fields;
	const model = parseValue(anyModel, read(anyModel.name)) as string;
	const lookUp = async (): Promise<JsonSchema> => {
		const found = findInput(model, await describe(model));
		return 'input' in found ? found.input.schema : {};
	};
	if (read(inputMode.name) === 'json') {
		const json = parseValue(anyInput, read(anyInput.name)) as Record<string, unknown>;
		const known = await lookUp();
		const { input, ...body } = isBody(known, json) ? readBody(model, json) : { input: json };
		return { model, input, ...body, warning: describeUnknown(known, model, input) };
	}
	const { value, schema } = (read(anyFields.name) || {}) as Partial<ResourceMapperValue>;
	const stored = findStoredSchema(schema ?? []);
	if (stored && stored.model !== model)
		throw buildFieldError(
			`The fields in Input are those of ${stored.model}, but the model is ${model}`,
			"Nothing was sent for this item. Choose the model in the node and fill in its fields. If an expression gives the model, set 'Input Mode' to JSON.",
		);
	// Somebody else may have written the workflow, so its schema is trusted no more than the service's.
	const inputSchema = stored ? (readSchema(stored.inputSchema, undefined) ?? {}) : await lookUp();
	const prompt = read(anyPrompt.name);
	const entered = { ...value, ...(!isBlank(prompt) && { [anyPrompt.name]: prompt }) };
	const values = Object.entries(entered).filter(([name]) => !isOwnEntry(name));
	const mediaNames = String(option(fields.mediaFieldsOption.name) ?? '').split(/\s*,\s*/);
	const input = toInput(inputSchema, Object.fromEntries(values), mediaNames);
	const wrong = describeUnknown(inputSchema, model, input);
	if (wrong)
		throw buildFieldError(
			wrong,
			"Nothing was sent for this item. Correct the names, then run the node again. What the service takes beyond these fields goes into 'Extra Fields' in Options.",
		);
	return { model, input, check: (whole) => checkInput(inputSchema, whole) };
};

/** @throws {UserError} for another model than the chosen one, or an input that is no JSON object */
function readBody(model: string, body: Body): Pick<ModelRequest, 'input' | 'callBackUrl'> {
	const { anyModel, anyInput } = fields;
	const place = anyInput.displayName;
	const named = String(body.model).trim();
	if (named !== model)
		throw buildFieldError(
			`The model in '${place}' is ${named}, but '${anyModel.displayName}' is ${model}`,
			`Nothing was sent for this item. Give the same model in both, or remove everything but the body's "input" from '${place}'.`,
		);
	const displayName = `input in ${place}`;
	const input = parseValue({ ...anyInput, displayName }, body.input) as Record<string, unknown>;
	return { input, callBackUrl: body.callBackUrl };
}

/** Says which names the model lacks, and which it has: a service may ignore unknown ones. */
function describeUnknown(schema: JsonSchema, model: string, input: object): string | undefined {
	const wrong = listUnknown(schema, input);
	if (!wrong.length) return undefined;
	const right = [...collectProperties(schema).values()].map(({ name, isRequired }) =>
		addFacts(name, isRequired ? 'required' : ''),
	);
	return `${listShortly(wrong)} in Input ${wrong.length > 1 ? 'are no fields' : 'is no field'} of ${model}. Its fields are ${listShortly(right)}`;
}
