import type { ResourceMapperValue } from 'n8n-workflow';
import { findModelSchema } from '../../api/catalogue';
import type { ServiceError } from '../../api/failure';
import { isResumeUrl } from '../../host/resumeUrl';
import { LONGEST_TEXT } from '../../lib/excerpt';
import { isPlainObject } from '../../lib/json';
import { cutText } from '../../lib/text';
import { modelFields, modelIdOption, models } from '../../models';
import { findStoredSchema } from '../../models/any/views';
import { checkInput } from '../../models/check';
import { prompt } from '../../models/commonFields';
import {
	describeFields,
	parseValue,
	toRequestKey,
	type Field,
	type Model,
} from '../../models/field';
import { InputReader, type Mode } from '../../models/inputReader';
import { findInput, readSchema } from '../../models/readSchema';
import {
	findPurpose,
	isOwnEntry,
	listProperties,
	listUnknown,
	type JsonSchema,
} from '../../models/schema';
import { buildFieldError } from '../../models/values';
import { addFacts, listShortly } from '../../models/words';
import * as anyModelFields from '../../models/any/fields';
import { extraFields } from './options';
import type { CreateRequest, Item } from './item';
import { takeColumns } from './columns';
import { refuseFixedExpressions } from './fixedText';
import { normalizeGiven } from './given';
import { FilesOfItem } from './itemFiles';
import { readPastedJson } from './pastedJson';

/** What an item gives for a task, by the names that are sent. */
interface Given {
	model: string;
	values: Record<string, unknown>;
	schema: JsonSchema;
	mode: Mode;
	/** What the schema checks: the fields of the node, or all that is sent; absent: nothing. */
	checks?: 'fields' | 'all';
	/** Sent where it is blank too. */
	blank?: Record<string, unknown>;
	isByColumns?: boolean;
	/** From a pasted body, unchecked. */
	callBackUrl?: unknown;
	/** Sentences without a period. */
	warnings: Array<string | undefined>;
	isUndescribed?: boolean;
}

const DELETE_WAIT =
	"Generate waits by itself, so the callBackUrl in Input (JSON) isn't used. Delete the Wait node behind it, which would wait for ever.";

/**
 * Turns an item into a request. Whatever an item gives comes this way.
 * @param chooseCallbackUrl gets the callback URL of a pasted body; by default there is none
 * @throws {UserError} when a value or file can't be sent
 */
export async function prepareRequest(
	item: Item,
	chooseCallbackUrl?: (pasted: unknown) => string | undefined,
): Promise<CreateRequest> {
	const { context } = item.call;
	refuseFixedExpressions(context.getNode().parameters, [...modelFields, extraFields]);
	const files = new FilesOfItem(context, item.index);
	const given = await readGiven(item, files);
	const extra = (parseValue(extraFields, item.option(extraFields.name)) ?? {}) as object;
	const { input, warnings } = await makeInput(given, { ...extra }, files);
	const waitsForIt = !chooseCallbackUrl && isResumeUrl(context, given.callBackUrl);
	return {
		model: given.model,
		input,
		callBackUrl: chooseCallbackUrl?.(given.callBackUrl),
		warning: [waitsForIt && DELETE_WAIT, warnings].filter(Boolean).join(' ') || undefined,
		isUndescribed: given.isUndescribed,
		given: [given.model, normalizeGiven({ ...given.values, ...extra }, files)],
	};
}

async function readGiven(item: Item, files: FilesOfItem): Promise<Given> {
	const chosen = item.read('model');
	const model = models.find(({ id }) => id === chosen);
	if (!model)
		throw buildFieldError(
			`This node has no model "${String(chosen)}"`,
			'Choose a model from the list. For any other one choose All Models of Your Service.',
		);
	return model.id === 'any' ? await readAnyModel(item, files) : readNamedModel(item, model);
}

/** Makes what is sent of what was given, with files of the item in it. */
async function makeInput(given: Given, extra: Record<string, unknown>, files: FilesOfItem) {
	const { schema, values, mode, checks } = given;
	const reader = new InputReader(schema, files, mode);
	const own = { ...given.blank, ...reader.read(values) };
	const extraReader = new InputReader(schema, files, 'extra');
	const input = { ...own, ...extraReader.read(extra) };
	const found = describeUnknown(given, own);
	if (found && mode === 'fields')
		throw buildFieldError(
			found,
			"Correct the names, then run the node again. What the service takes beyond these fields goes into 'Extra Fields' in Options.",
		);
	const fillIn = given.isByColumns ? FILL_COLUMN : undefined;
	if (checks) checkInput(schema, checks === 'all' ? input : own, values, fillIn);
	const doubts = [...given.warnings, found, ...reader.warnings, ...extraReader.warnings];
	if (given.isByColumns) doubts.push(checkColumns(given, input));
	for (const use of [...reader.uses, ...extraReader.uses]) await use.file.check(use);
	return { input, warnings: joinWarnings(doubts, mode) };
}

function joinWarnings(doubts: Array<string | undefined>, mode: Mode): string {
	const sentences = doubts.filter((doubt) => doubt !== undefined);
	if (sentences.length && mode === 'json') sentences.push('The input was sent as it is');
	return cutText(sentences.map((sentence) => `${sentence}.`).join(' '), LONGEST_TEXT);
}

const FILL_COLUMN =
	'Fill in a column with the name of this field, or name the columns so in a node before this one.';

/** Reads the prompt of the node. Agents write prompts as JSON. */
function readPrompt({ read }: Item): unknown {
	const value = read(prompt.name);
	const isParts = Array.isArray(value) || isPlainObject(value);
	return parseValue(prompt, isParts ? writeParts(value) : value);
}

/** @returns the value itself, if it is none that JSON has: it is refused then */
function writeParts(value: object): unknown {
	try {
		return JSON.stringify(value);
	} catch {
		return value;
	}
}

function readNamedModel(item: Item, { id, fields }: Model): Given {
	const read = ({ name, send }: Field): unknown => {
		if (name === prompt.name) return readPrompt(item);
		const value = item.read(name);
		return send?.unpack?.(value) ?? value;
	};
	const values = fields.map((field): [string, unknown] => [toRequestKey(field), read(field)]);
	const blank = fields.filter(({ send }) => send?.blank).map((field) => [toRequestKey(field), '']);
	return {
		model: String(item.option(modelIdOption.name) ?? '').trim() || id,
		values: Object.fromEntries(values),
		blank: Object.fromEntries(blank) as Given['blank'],
		schema: describeFields(fields),
		mode: 'fields',
		checks: 'fields',
		warnings: [],
	};
}

async function readAnyModel(item: Item, files: FilesOfItem): Promise<Given> {
	const { anyModel, inputMode } = anyModelFields;
	const model = parseValue(anyModel, item.read(anyModel.name)) as string;
	return item.read(inputMode.name) === 'json'
		? await readJson(item, model)
		: await readMapped(item, model, files);
}

/** Reads Input (JSON), which is sent as it is, save for files. */
async function readJson(item: Item, model: string): Promise<Given> {
	const { anyInput } = anyModelFields;
	const entered = parseValue(anyInput, item.read(anyInput.name));
	const described = await lookUpSchema(item, model).catch((error: ServiceError) => ({
		schema: {},
		warning: `Nothing was checked, because the service couldn't say what ${model} takes (${cutText(error.message)})`,
	}));
	const json = (entered ?? {}) as Record<string, unknown>;
	const { input, warning, ...body } = readPastedJson(described.schema, json, model);
	const written = readPrompt(item);
	const values = written === undefined ? input : { ...input, prompt: written };
	const warnings = ['warning' in described ? described.warning : undefined, warning];
	// What is blank may be an expression that gives nothing.
	const checks = entered ? undefined : 'all';
	return { ...described, ...body, model, values, warnings, mode: 'json', checks };
}

/** Reads the fields of the mapper, or the item's columns in their place. */
async function readMapped(item: Item, model: string, files: FilesOfItem): Promise<Given> {
	const { anyFields, isAutomatic } = anyModelFields;
	const mapper = (item.read(anyFields.name) || {}) as Partial<ResourceMapperValue>;
	const described = readStored(model, mapper) ?? (await lookUpSchema(item, model));
	const isByColumns = isAutomatic(mapper);
	const own = isByColumns ? readColumns(item, model, described.schema, files) : mapper.value;
	const written = readPrompt(item);
	const entered = Object.entries({ ...own, ...(written !== undefined && { prompt: written }) });
	const values = Object.fromEntries(entered.filter(([name]) => !isOwnEntry(name)));
	return { ...described, model, values, mode: 'fields', checks: 'all', isByColumns, warnings: [] };
}

/** Looks up what the service says about a model; anything is allowed if it says nothing. */
async function lookUpSchema(
	{ service }: Item,
	model: string,
): Promise<Pick<Given, 'schema' | 'isUndescribed'>> {
	const document = await findModelSchema(service, model);
	const found = findInput(model, document);
	const schema = 'input' in found ? found.input.schema : {};
	return { schema, isUndescribed: document === undefined || undefined };
}

/**
 * Reads the schema that the workflow stores. Somebody else may have written the workflow, so it is
 * trusted no more than the service's.
 * @throws {UserError} when the fields are those of another model
 */
function readStored(
	model: string,
	mapper: Partial<ResourceMapperValue>,
): { schema: JsonSchema } | undefined {
	const stored = findStoredSchema(mapper.schema ?? []);
	if (!stored) return undefined;
	if (stored.model === model) return { schema: readSchema(stored.inputSchema, undefined) ?? {} };
	// Nothing was filled in for the stored model, so the chosen one is looked up.
	if (anyModelFields.isAutomatic(mapper)) return undefined;
	throw buildFieldError(
		`The fields in Input are those of ${stored.model}, but the model is ${model}`,
		`Choose the model in the node and fill in its fields. If an expression gives the model, ${anyModelFields.USE_JSON}.`,
	);
}

/** @throws {UserError} when the fields aren't known, or for a tool: its model would fill in all fields */
function readColumns({ call, index }: Item, model: string, schema: JsonSchema, files: FilesOfItem) {
	// A tool's item has what the agent's model writes, and what others wrote to the agent.
	if (call.isTool)
		throw buildFieldError(
			'Map Automatically takes no columns in a tool, because the AI model could then fill in every field',
			"Set 'Mapping Column Mode' to Map Each Column Manually, and let the model fill in the fields of your choice.",
		);
	if (!listProperties(schema).length)
		throw buildFieldError(
			`The fields of ${model} aren't known, so no column can be taken by its name`,
			"Set 'Mapping Column Mode' to Map Each Column Manually, or 'Input Mode' to JSON.",
		);
	return takeColumns(schema, call.context.getInputData()[index]?.json ?? {}, files);
}

/**
 * @returns a warning where a model with a prompt gets none
 * @throws {UserError} when there is nothing to send, which the service might take, and charge for
 */
function checkColumns({ schema, model }: Given, input: object): string | undefined {
	const properties = listProperties(schema);
	if (!Object.keys(input).length)
		throw buildFieldError(
			`The item has nothing in a column that is named as a field of ${model}. Its fields are ${listShortly(properties.map(({ name }) => name))}`,
			'Fill in such a column, or name the columns so in a node before this one.',
		);
	const hasPrompt = properties.some(
		({ name, schema: own }) => findPurpose(name, own).kind === 'prompt',
	);
	if (!hasPrompt || 'prompt' in input) return undefined;
	return "No prompt was sent: 'Prompt' is blank, and the item has no column for it";
}

/** Says which names the model lacks, and which it has: a service may ignore unknown ones. */
function describeUnknown({ schema, model, isByColumns }: Given, input: object): string | undefined {
	const wrong = listUnknown(schema, input);
	if (!wrong.length || isByColumns) return undefined;
	const right = listProperties(schema).map(({ name, isRequired }) =>
		addFacts(name, isRequired ? 'required' : ''),
	);
	return `${listShortly(wrong)} in Input ${wrong.length > 1 ? 'are no fields' : 'is no field'} of ${model}. Its fields are ${listShortly(right)}`;
}
