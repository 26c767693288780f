import { isObject } from '../../lib/json';
import { anyInput, anyModel } from '../../models/any/fields';
import { listShortly } from '../../models/words';
import { parseValue } from '../../models/field';
import { buildFieldError } from '../../models/values';
import { listProperties, type JsonSchema } from '../../models/schema';

/** What a user pasted into Input (JSON), as the service takes it. */
interface PastedJson {
	input: Record<string, unknown>;
	/** Unchecked. It serves where the operation has no callback URL of its own. */
	callBackUrl?: unknown;
	/** A sentence without its period. */
	warning?: string;
}

const PLACE = anyInput.displayName;

/**
 * Reads the model's input, or a whole body of a createTask request. A body has its fields in `input`,
 * or beside `model`, unless the description of the model has a field of that name.
 * @param schema what the service says of the model; undefined: nothing
 * @param model the chosen one
 * @throws {UserError} for a body of another model, or one whose input is no JSON object
 */
export function readPastedJson(
	schema: JsonSchema,
	json: Record<string, unknown>,
	model: string,
): PastedJson {
	const has = (name: string) => name in (schema.properties ?? {});
	if ('input' in json)
		return has('input') || !isBody(json, model) ? { input: json } : readBody(json, model);
	if (typeof json.model !== 'string' || has('model')) return { input: json };
	return readFlatBody(schema, json, model);
}

/** Says whether an `input` is meant as one: beside the name of the model, one of any form is. */
const isBody = (json: Record<string, unknown>, model: string): boolean =>
	String(json.model).trim() === model || isObject(json.input) || /^\s*\{/.test(String(json.input));

/** Reads a whole body. A warning names what stands beside, which isn't sent. */
function readBody(body: Record<string, unknown>, model: string): PastedJson {
	const named = {
		...anyModel,
		type: 'string' as const,
		displayName: `model in ${PLACE}`,
		required: false,
	};
	refuseOtherModel(String(parseValue(named, body.model) ?? '').trim(), model);
	const { input: written, callBackUrl, ...others } = body;
	delete others.model;
	const field = { ...anyInput, displayName: `input in ${PLACE}`, required: true };
	const input = parseValue(field, written) as Record<string, unknown>;
	const names = Object.keys(others);
	const verb = names.length > 1 ? "weren't" : "wasn't";
	const warning = `${listShortly(names)} beside "input" in '${PLACE}' ${verb} sent`;
	return { input, callBackUrl, warning: names.length ? warning : undefined };
}

/** Reads a body whose fields stand beside its model. Without a description, another model may be a field. */
function readFlatBody(
	schema: JsonSchema,
	{ model: named, callBackUrl, ...input }: Record<string, unknown>,
	model: string,
): PastedJson {
	const own = String(named).trim();
	if (own === model || listProperties(schema).length) {
		refuseOtherModel(own, model);
		return { input, callBackUrl };
	}
	const warning = `The model in '${PLACE}' is ${own}, but '${anyModel.displayName}' is ${model}`;
	return { input: { model: named, ...input }, callBackUrl, warning };
}

function refuseOtherModel(named: string, model: string): void {
	if (named && named !== model)
		throw buildFieldError(
			`The model in '${PLACE}' is ${named}, but '${anyModel.displayName}' is ${model}`,
			`Give the same model in both, or remove everything but the model's input from '${PLACE}'.`,
		);
}
