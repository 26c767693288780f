import type { ResourceMapperValue } from 'n8n-workflow';
import { isObject } from '../../lib/json';
import { buildFieldError, isBlank, parseValue } from '../field';
import { toJsonInput } from '../jsonInput';
import type { Model, ModelRequest, RequestSource } from '../model';
import { describeLeftOut, refuseNothing, takeColumns } from './columns';
import * as fields from './fields';
import {
	findInput,
	isOwnEntry,
	listProperties,
	listUnknown,
	readSchema,
	type JsonSchema,
} from './schema';
import { checkInput, nameFiles, toInput } from './values';
import { findStoredSchema } from './views';
import { addFacts, listShortly } from './words';

/**
 * Makes the request of Any Model. JSON is sent as it is. Fields are converted to the types of the
 * service's document and checked against it. The editor stores the document with the fields; for
 * JSON, and for fields that an AI wrote, it is looked up.
 */
export const requestAnyModel: Model['request'] = async (source) => {
	const { anyModel, inputMode } = fields;
	const model = parseValue(anyModel, source.read(anyModel.name)) as string;
	return source.read(inputMode.name) === 'json'
		? await requestByJson(model, source)
		: await requestByFields(model, source);
};

async function requestByJson(model: string, source: RequestSource): Promise<ModelRequest> {
	const { anyInput } = fields;
	const entered = parseValue(anyInput, source.read(anyInput.name));
	const given = (entered ?? {}) as Record<string, unknown>;
	const schema = await lookUpSchema(model, source);
	const body = isBody(schema, given, model) ? readPastedBody(model, given) : { input: given };
	const { input: written, callBackUrl, warning: notSent } = body;
	const json = toJsonInput({ ...written, ...readPrompt(source) });
	const { input, doubtful } = nameFiles(schema, json, source.hasFile);
	const noFile = doubtful.length && `${listShortly(doubtful)}: no URL, and no file of the item`;
	const doubts = [notSent, describeUnknown(schema, model, input), noFile].filter(Boolean);
	const warning = doubts.length ? `${doubts.join('. ')}. The input was sent as it is.` : undefined;
	// What is blank may be an expression that gives nothing.
	const check: ModelRequest['check'] = entered ? undefined : (whole) => checkInput(schema, whole);
	return { model, input, callBackUrl, warning, check };
}

async function requestByFields(model: string, source: RequestSource): Promise<ModelRequest> {
	const mapper = (source.read(fields.anyFields.name) || {}) as Partial<ResourceMapperValue>;
	const schema = readStored(model, mapper) ?? (await lookUpSchema(model, source));
	const isByColumns = fields.isAutomatic(mapper);
	const given = isByColumns ? takeColumns(schema, source, model) : mapper.value;
	const entered = Object.entries({ ...given, ...readPrompt(source) });
	const values = entered.filter(([name]) => !isOwnEntry(name));
	const input = toInput(schema, Object.fromEntries(values));
	const wrong = describeUnknown(schema, model, input);
	if (wrong)
		throw buildFieldError(
			wrong,
			"Correct the names, then run the node again. What the service takes beyond these fields goes into 'Extra Fields' in Options.",
		);
	const check = (whole: Record<string, unknown>) => {
		checkInput(schema, whole);
		if (isByColumns) refuseNothing(schema, whole, model);
	};
	const warning = isByColumns ? describeLeftOut(schema, source, input) : undefined;
	return { model, input, check, warning };
}

/** Looks up what the service says about a model; anything is allowed if it says nothing. */
async function lookUpSchema(model: string, { describe }: RequestSource): Promise<JsonSchema> {
	const found = findInput(model, await describe(model));
	return 'input' in found ? found.input.schema : {};
}

/**
 * Reads the schema that the workflow stores. Somebody else may have written the workflow, so it is
 * trusted no more than the service's.
 * @throws {UserError} when the fields are those of another model
 */
function readStored(model: string, mapper: Partial<ResourceMapperValue>): JsonSchema | undefined {
	const stored = findStoredSchema(mapper.schema ?? []);
	if (!stored) return undefined;
	if (stored.model === model) return readSchema(stored.inputSchema, undefined) ?? {};
	// Nothing was filled in for the stored model, so the chosen one is looked up.
	if (fields.isAutomatic(mapper)) return undefined;
	throw buildFieldError(
		`The fields in Input are those of ${stored.model}, but the model is ${model}`,
		`Choose the model in the node and fill in its fields. If an expression gives the model, ${fields.USE_JSON}.`,
	);
}

/** Reads the node's own prompt, which counts where it is filled in. */
function readPrompt({ read }: RequestSource): { prompt?: unknown } {
	const prompt = read(fields.anyPrompt.name);
	return isBlank(prompt) ? {} : { prompt };
}

/** The body of a createTask request, as the service's documentation shows it. Other keys may stand beside. */
interface Body {
	model?: unknown;
	input: unknown;
	callBackUrl?: unknown;
}

/**
 * Recognizes a whole body in place of an input, whatever stands beside its input, unless the model
 * has a field of that name.
 * @param model the chosen one: beside its name, an input of any form is meant as one
 */
function isBody(schema: JsonSchema, json: object, model: string): json is Body {
	const { input, model: named } = json as Partial<Body>;
	if (!('input' in json) || listProperties(schema).some(({ name }) => name === 'input'))
		return false;
	const isOfModel = String(named ?? '').trim() === model;
	return isOfModel || isObject(input) || /^\s*\{/.test(String(input));
}

/**
 * Reads a whole body. A warning names what stands beside, which isn't sent.
 * @throws {UserError} for another model than the chosen one, or an input that is no JSON object
 */
function readPastedBody(model: string, body: Body): Omit<ModelRequest, 'model'> {
	const { anyModel, anyInput } = fields;
	const place = anyInput.displayName;
	const { model: own, input: written, callBackUrl, ...others } = body;
	const named = String(own ?? '').trim();
	if (named && named !== model)
		throw buildFieldError(
			`The model in '${place}' is ${named}, but '${anyModel.displayName}' is ${model}`,
			`Give the same model in both, or remove everything but the body's "input" from '${place}'.`,
		);
	const displayName = `input in ${place}`;
	const field = { ...anyInput, displayName, required: true };
	const input = parseValue(field, written) as Record<string, unknown>;
	const names = Object.keys(others);
	const verb = names.length > 1 ? "weren't" : "wasn't";
	const warning = `${listShortly(names)} beside "input" in '${place}' ${verb} sent`;
	return { input, callBackUrl, warning: names.length ? warning : undefined };
}

/** Says which names the model lacks, and which it has: a service may ignore unknown ones. */
function describeUnknown(schema: JsonSchema, model: string, input: object): string | undefined {
	const wrong = listUnknown(schema, input);
	if (!wrong.length) return undefined;
	const right = listProperties(schema).map(({ name, isRequired }) =>
		addFacts(name, isRequired ? 'required' : ''),
	);
	return `${listShortly(wrong)} in Input ${wrong.length > 1 ? 'are no fields' : 'is no field'} of ${model}. Its fields are ${listShortly(right)}`;
}
