import type { ResourceMapperField, ResourceMapperValue } from 'n8n-workflow';
import { readModelDocumentForRun } from '../../api/catalogue';
import { isResumeUrl } from '../../host/resumeUrl';
import { isPlainObject } from '../../lib/json';
import { cutText, LONGEST_TEXT } from '../../lib/text';
import { modelIdOption, models } from '../../models';
import { anyFields, anyInput, anyModel, inputMode, isAutomatic } from '../../models/any/fields';
import { findStoredSchema } from '../../models/any/views';
import { checkInput } from '../../models/check';
import { fileSchema, prompt } from '../../models/commonFields';
import {
	toInputSchema,
	parseValue,
	toRequestKey,
	type Field,
	type Model,
} from '../../models/field';
import { InputReader, type Mode } from '../../models/inputReader';
import { findInput, readSchema } from '../../models/readSchema';
import {
	hasPrompt,
	isNodesName,
	listProperties,
	listForeign,
	type JsonSchema,
} from '../../models/schema';
import { buildFieldError, isBlank } from '../../models/values';
import { listShortly } from '../../models/words';
import { normalizeValues, readPastedJson, takeColumns } from './given';
import { InputFile } from './inputFile';
import type { CreationRequest, Item } from './item';
import { FilesOfItem } from './itemFiles';
import { extraFields } from './options';

/** What the user gives for a task, in fields, JSON or columns. */
interface UserInput {
	model: string;
	/** By the names that are sent. */
	values: Record<string, unknown>;
	schema: JsonSchema;
	mode: Mode;
	/** Whether the schema also checks Extra Fields; absent: the schema checks nothing. */
	checks?: 'withoutExtra' | 'withExtra';
	isByColumns?: boolean;
	/** From a pasted body, unchecked. */
	callBackUrl?: unknown;
	/** Sentences without a period. */
	warnings: Array<string | undefined>;
	isUndescribed?: boolean;
}

/**
 * Turns an item into a request. Whatever is sent for an item comes this way.
 * @param chooseCallbackUrl chooses the callback URL, given that of a pasted body; absent: none is sent
 * @throws {UserError} when a value or file can't be sent
 */
export async function prepareRequest(
	item: Item,
	chooseCallbackUrl?: (pasted: unknown) => string | undefined,
): Promise<CreationRequest> {
	const { context } = item.call;
	const files = new FilesOfItem(context, item.index);
	const userInput = await readUserInput(item);
	const { model, values, callBackUrl, warnings, isUndescribed } = userInput;
	const extra = parseValue(extraFields, item.option(extraFields.name)) as object | undefined;
	if (!chooseCallbackUrl && isResumeUrl(context, callBackUrl))
		warnings.unshift(UNUSED_CALLBACK_URL);
	const { input, warning } = await makeInput(userInput, { ...extra }, files);
	return {
		model,
		input,
		callBackUrl: chooseCallbackUrl?.(callBackUrl),
		warning,
		isUndescribed,
		userInput: [model, normalizeValues({ ...values, ...extra }, files)],
	};
}

const UNUSED_CALLBACK_URL =
	"Generate waits by itself, so the callBackUrl in Input (JSON) isn't used. Delete the Wait node behind it, which would wait for ever";

async function readUserInput(item: Item): Promise<UserInput> {
	const modelId = item.read('model');
	const model = models.find(({ id }) => id === modelId);
	if (!model)
		throw buildFieldError(
			`This node has no model "${String(modelId)}"`,
			'Choose another one, such as Any Model of Your Service.',
		);
	if (model.id !== 'any') return readNamedModel(item, model);
	const isJson = item.read(inputMode.name) === 'json';
	return await (isJson ? readJson(item) : readMapped(item, readChosenModel(item)));
}

/**
 * Reads the model of the field Choose Model or, if the field is blank, the model in a pasted body.
 * Strangers must not choose what is paid for. So the body's model counts only if somebody typed it there,
 * behind the name `model`. In a tool, the body's model never counts. Nor does it if Choose Model or the
 * body's model is an expression.
 */
function readChosenModel({ call, index, read }: Item, body: UserInput['values'] = {}): string {
	const readTyped = (name: string): unknown =>
		call.context.getNodeParameter(name, index, '', { rawExpressions: true });
	const locator = readTyped(anyModel.name);
	if (call.isTool || !isBlank(isPlainObject(locator) ? locator.value : locator))
		return parseValue(anyModel, read(anyModel.name)) as string;
	const textsBehindModel = String(readTyped(anyInput.name)).split(/"model"\s*:\s*/);
	const isPasted = textsBehindModel.some((rest) => rest.startsWith(JSON.stringify(body.model)));
	return parseValue(anyModel, isPasted ? body.model : undefined) as string;
}

/** Makes the input that is sent, with files of the item in it. */
async function makeInput(userInput: UserInput, extra: Record<string, unknown>, files: FilesOfItem) {
	const { model, schema, values, mode, checks, isByColumns } = userInput;
	const reader = new InputReader(schema, files, mode);
	const extraReader = new InputReader(schema, files, 'extra');
	const ownInput = reader.read(values);
	const input = { ...ownInput, ...extraReader.read(extra) };
	// A service may ignore names that it doesn't know.
	const foreign = listForeign(schema, ownInput);
	const aboutForeign = foreign.length
		? `${listShortly(foreign)} in Input ${foreign.length > 1 ? 'are no fields' : 'is no field'} of ${model}. ${nameFields(schema)}`
		: undefined;
	if (aboutForeign && mode === 'fields')
		throw buildFieldError(
			aboutForeign,
			"Correct the names. What the service takes beyond these fields goes into 'Extra Fields' in Options.",
		);
	const remedy = isByColumns ? COLUMN_REMEDY : undefined;
	if (checks) checkInput(schema, checks === 'withExtra' ? input : ownInput, values, remedy);
	const warnings = [
		...userInput.warnings,
		aboutForeign,
		...reader.warnings,
		...extraReader.warnings,
	];
	if (isByColumns) warnings.push(findColumnWarning(userInput, input));
	for (const use of [...reader.uses, ...extraReader.uses]) await use.file.check(use);
	const sentences = warnings.filter((one) => one !== undefined).map((one) => `${one}.`);
	return { input, warning: cutText(sentences.join(' '), LONGEST_TEXT) || undefined };
}

const COLUMN_REMEDY =
	"Fill in a column of the field's name, or rename one in a node before this one.";

/** Reads the prompt of the node. Agents write prompts as JSON. */
function readPrompt({ read }: Item) {
	const value = read(prompt.name);
	const isParts = Array.isArray(value) || isPlainObject(value);
	return parseValue(prompt, isParts ? JSON.stringify(value) : value);
}

/** Adds the node's prompt, if there is one, in place of a prompt in the values. */
function addPrompt(item: Item, values: object | null | undefined): UserInput['values'] {
	const ownPrompt = readPrompt(item);
	return { ...values, ...(ownPrompt !== undefined && { prompt: ownPrompt }) };
}

function readNamedModel(item: Item, { id, fields }: Model): UserInput {
	const read = ({ name, send }: Field): unknown => {
		if (name === prompt.name) return readPrompt(item);
		const value = item.read(name);
		return send?.unpack?.(value) ?? value;
	};
	const values = fields.map((field): [string, unknown] => [toRequestKey(field), read(field)]);
	return {
		model: String(item.option(modelIdOption.name) ?? '').trim() || id,
		values: Object.fromEntries(values),
		schema: toInputSchema(fields),
		mode: 'fields',
		checks: 'withoutExtra',
		warnings: [],
	};
}

/** Reads Input (JSON), which is sent as it is, save for files. */
async function readJson(item: Item): Promise<UserInput> {
	const json = parseValue(anyInput, item.read(anyInput.name)) as UserInput['values'] | undefined;
	const model = readChosenModel(item, json);
	const description = await findSchema(item, model).catch((error: Error) => ({
		schema: {},
		warning: `Nothing was checked, because the service couldn't say what ${model} takes (${cutText(error.message)})`,
	}));
	const pasted = readPastedJson(description.schema, { ...json }, model);
	const values = addPrompt(item, pasted.input);
	const warnings = [description.warning, pasted.warning];
	// JSON isn't checked. But where the field is blank, because an expression gave nothing, required fields
	// must be there.
	const checks = json ? undefined : 'withExtra';
	const { callBackUrl } = pasted;
	return { ...description, callBackUrl, model, values, warnings, mode: 'json', checks };
}

/** Reads the fields of the mapper, or the item's columns in their place. */
async function readMapped(item: Item, model: string): Promise<UserInput> {
	const mapper = (item.read(anyFields.name) || {}) as Partial<ResourceMapperValue>;
	const description = await findSchema(item, model, mapper.schema ?? []);
	const isByColumns = isAutomatic(mapper);
	const fields = isByColumns ? readColumns(item, model, description.schema) : mapper.value;
	const pairs = Object.entries(addPrompt(item, fields));
	const values = Object.fromEntries(pairs.filter(([name]) => !isNodesName(name)));
	return {
		...description,
		model,
		values,
		mode: 'fields',
		checks: 'withExtra',
		isByColumns,
		warnings: [],
	};
}

/**
 * Finds a model's schema in the workflow or, if the workflow has another model's fields, at the service.
 * Without a schema, anything is allowed. A stranger may have written the workflow, so its schema is
 * trusted no more than the service's.
 * @throws {UserError} for another model's fields, where the service says nothing of the chosen one
 */
async function findSchema(
	{ service }: Item,
	model: string,
	fields: ResourceMapperField[] = [],
): Promise<Pick<UserInput, 'schema' | 'isUndescribed'> & { warning?: string }> {
	const stored = findStoredSchema(fields);
	if (stored?.model === model) return { schema: readSchema(stored.inputSchema, undefined) ?? {} };
	const document = await readModelDocumentForRun(service, model);
	const found = findInput(model, document);
	const schema = 'schema' in found ? found.schema : {};
	if (stored && !listProperties(schema).length)
		throw buildFieldError(
			`The fields in Input are those of ${stored.model}, but the model is ${model}`,
			"Choose the model in the node and fill in its fields, or set 'Input Mode' to JSON.",
		);
	return { schema, isUndescribed: document === undefined };
}

/** @throws {UserError} when the model's fields aren't known, and for a tool */
function readColumns({ call, index }: Item, model: string, schema: JsonSchema) {
	// A tool's item has what the agent writes, and what others wrote to the agent.
	const reason = call.isTool
		? 'Map Automatically takes no columns in a tool, because the AI model could then fill in every field'
		: `The fields of ${model} aren't known, so no column can be taken by its name`;
	if (call.isTool || !listProperties(schema).length)
		throw buildFieldError(
			reason,
			"Set 'Mapping Column Mode' to Map Each Column Manually, or 'Input Mode' to JSON.",
		);
	return takeColumns(schema, call.context.getInputData()[index]?.json ?? {});
}

/**
 * Finds out if the columns lack a prompt.
 * @returns a warning where a model with a prompt gets none
 * @throws {UserError} when there is nothing to send: the service might take that, and charge for it
 */
function findColumnWarning({ schema, model }: UserInput, input: object) {
	if (!Object.keys(input).length)
		throw buildFieldError(
			`The item has nothing in a column that is named as a field of ${model}. ${nameFields(schema)}`,
			COLUMN_REMEDY,
		);
	if (!hasPrompt(schema) || 'prompt' in input) return undefined;
	return "No prompt was sent: 'Prompt' is blank, and the item has no column for it";
}

const nameFields = (schema: JsonSchema) =>
	`Its fields are ${listShortly(listProperties(schema).map(({ name }) => name))}`;

/**
 * Reads a field that takes one file, as the models' fields do.
 * @returns the item's file, or a link
 * @throws {UserError} if the field has neither
 */
export function readOneFile({ call, index, read }: Item, field: Field): InputFile | string {
	const schema = toInputSchema([{ ...field, send: { as: 'file', schema: fileSchema } }]);
	const values = { file: read(field.name) };
	const reader = new InputReader(schema, new FilesOfItem(call.context, index));
	const input = reader.read(values);
	checkInput(schema, input, values);
	return input.file instanceof InputFile ? input.file : String(input.file);
}
