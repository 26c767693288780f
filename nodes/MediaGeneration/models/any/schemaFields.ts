import { createHash } from 'crypto';
import type {
	FieldType,
	INodePropertyOptions,
	ResourceMapperField,
	ResourceMapperFields,
} from 'n8n-workflow';
import { cutText, escapeHtml } from '../../lib/text';
import { addFacts, describeForms, describeProperty, nameValue } from './describeProperty';
import { findEarlierResult } from './earlierResult';
import {
	listTypes,
	listUnknown,
	listValues,
	takesJson,
	type JsonSchema,
	type Property,
} from './jsonSchema';
import { isMedia } from './mediaProperty';
import { findInput, OWN_ENTRIES, type ModelInput } from './modelInput';
import { MAX_SIZE, readSchema } from './readSchema';

/**
 * Three views of what a model takes: the editor's fields, a guide beside its JSON, and a list for
 * AI builders.
 */

/** A mapper entry that the editor stores and doesn't show. With it, a run needs no catalogue. */
export interface StoredSchema extends ResourceMapperField {
	/** The model whose fields these are. */
	model: string;
	/** Its input, for the checks before a task is paid for. */
	inputSchema: JsonSchema;
}

/** Finds the model's schema among the entries of a mapper. */
export const findStoredSchema = (fields: ResourceMapperField[]): StoredSchema | undefined =>
	fields.find((field): field is StoredSchema => field.id === OWN_ENTRIES.schema);

/**
 * Makes the editor's fields of a model. Whatever the service says, this never throws and takes
 * milliseconds.
 * @param document its OpenAPI document; null: the service has none yet
 * @returns no fields, and why, for a model that can't be filled in
 */
export function toMapperFields(model: string, document: unknown): ResourceMapperFields {
	const input = findInput(model, document);
	if (typeof input === 'string') return buildNotice(input);
	const inputSchema = readSchema(input.schema, undefined, false) ?? {};
	// The editor notices outdated fields only by their names, so the hidden entry's name is the
	// schema's hash.
	const hash = createHash('sha256').update(JSON.stringify(inputSchema)).digest('hex').slice(0, 16);
	const hidden = { display: false };
	const stored = { ...toEntry(OWN_ENTRIES.schema, hash, 'object'), ...hidden, model, inputSchema };
	const guide = toEntry(OWN_ENTRIES.guide, 'Field Guide (Sends Nothing)', 'options');
	const noPrompt = toEntry(OWN_ENTRIES.noPrompt, 'No Prompt', 'boolean');
	const fields: ResourceMapperField[] = [
		...input.properties.map(toField),
		{ ...guide, options: describeInput(input, 'title') },
		stored,
		...(input.properties.some(isPrompt) ? [] : [{ ...noPrompt, ...hidden, defaultValue: true }]),
	];
	if (JSON.stringify(fields).length <= MAX_SIZE) return { fields };
	return buildNotice(`The service's description of ${model} is too large to make fields of it`);
}

/**
 * Lists the fields of a model for an AI builder, by the names that the service gives them.
 * @param document as in `toMapperFields`
 * @returns why not, for a model that can't be filled in
 */
export function listFields(model: string, document: unknown): INodePropertyOptions[] | string {
	const input = findInput(model, document);
	return typeof input === 'string' ? input : describeInput(input, 'name');
}

/**
 * Lists the same fields for a person who writes JSON. The editor shows the first entry before the
 * list is opened: names that the model doesn't have, and what is required.
 * @param written the JSON as far as it can be read
 */
export function listJsonGuide(
	model: string,
	document: unknown,
	written: object = {},
): INodePropertyOptions[] {
	const input = findInput(model, document);
	if (typeof input === 'string') return [{ name: input, value: '' }];
	const unknown = listUnknown(input.schema, written).join(', ');
	const required = input.properties.filter(({ isRequired }) => isRequired);
	const summary = [
		unknown && `Unknown to the model: ${unknown}`,
		required.length
			? `Required: ${required.map(({ name }) => name).join(', ')}`
			: 'No field is required',
	];
	const name = cutText(summary.filter(Boolean).join('. '), SHOWN_SUMMARY);
	return [{ name, value: '' }, ...describeInput(input, 'name')];
}

/** The longest summary, and the longest notice, in characters. */
const SHOWN_SUMMARY = 200;
const SHOWN_NOTICE = 500;

/** Shows why there are no fields. @param reason the beginning of a sentence */
export const buildNotice = (
	reason: string,
	remedy = " To go on without fields, set 'Input Mode' to JSON.",
): ResourceMapperFields => ({
	fields: [],
	emptyFieldsNotice: escapeHtml(`${cutText(reason, SHOWN_NOTICE)}.${remedy}`),
});

/**
 * Describes each property, and which of them go together where the model has several forms of
 * input.
 */
function describeInput(
	{ schema, properties }: ModelInput,
	by: 'name' | 'title',
): INodePropertyOptions[] {
	const { anyOf } = schema;
	return [
		...(anyOf ? [{ name: `Fill in one of: ${describeForms(anyOf)}`, value: '$forms' }] : []),
		...properties.map((property) => {
			const { title, facts, prose } = describeProperty(property);
			const name = addFacts(by === 'title' ? title : property.name, facts);
			return { name, value: property.name, description: prose };
		}),
	];
}

const toEntry = (id: string, displayName: string, type: FieldType): ResourceMapperField => ({
	id,
	displayName,
	type,
	required: false,
	defaultMatch: false,
	canBeUsedToMatch: false,
	display: true,
	readOnly: false,
});

/**
 * The property that the node has a field of its own for. A text of fixed values, or a file, is
 * none.
 */
const isPrompt = ({ name, schema }: Property): boolean =>
	name === 'prompt' &&
	listTypes(schema).includes('string') &&
	!listValues(schema) &&
	!isMedia(name, schema);

/**
 * Makes a field of a property. The editor shows an unset switch as on, so only a required boolean
 * is a switch.
 */
function toField(property: Property): ResourceMapperField {
	const { name, schema, isRequired } = property;
	const { title, brief } = describeProperty(property);
	const isSwitch = isRequired && listTypes(schema).join() === 'boolean' && !listValues(schema);
	const values = isSwitch ? undefined : listChoices(schema);
	const initial = isSwitch ? schema.default === true || undefined : fillIn(property);
	const isOwn = !isPrompt(property);
	return {
		...toEntry(name, addFacts(title, brief), values ? 'options' : chooseType(schema)),
		// n8n would not publish a workflow before a list or object is there, which a service may do
		// without. A prompt that a builder has stored counts where the node's own field is blank.
		required: isRequired && isOwn && !takesJson(schema),
		display: isOwn,
		...(values && { options: values.map((value) => ({ name: nameValue(value), value })) }),
		...(initial !== undefined && { defaultValue: initial }),
		...(schema.deprecated && !isRequired && { removed: true }),
	};
}

function listChoices(schema: JsonSchema): Array<string | number | boolean> | undefined {
	const values =
		listValues(schema) ?? (listTypes(schema).join() === 'boolean' ? [true, false] : undefined);
	return values?.filter((value) => value !== null) as Array<string | number | boolean> | undefined;
}

/**
 * Gives a field that takes an earlier task or file the ID of the item before. The editor fills it
 * in when it first shows the field.
 */
const fillIn = ({ name, schema, isRequired }: Property): string | undefined =>
	schema.default === undefined && (isRequired || !schema.deprecated)
		? findEarlierResult(name, schema)?.expression
		: undefined;

/** Lists of single values are entered as text. */
function chooseType(schema: JsonSchema): FieldType {
	const types = listTypes(schema);
	if (types.includes('string') || !types.length) return 'string';
	if (types.includes('object')) return 'object';
	if (types.includes('array')) return takesJson(schema) ? 'array' : 'string';
	if (types.includes('boolean')) return 'boolean';
	return types.some((type) => type === 'number' || type === 'integer') ? 'number' : 'string';
}
