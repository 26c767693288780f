import type {
	FieldType,
	INodePropertyOptions,
	ResourceMapperField,
	ResourceMapperFields,
} from 'n8n-workflow';
import { digest } from '../../lib/json';
import { cutText, escapeHtml } from '../../lib/text';
import { addFacts, describeForms, describeProperty, nameValue } from './describeProperty';
import { listTypes, takesJson, type JsonSchema, type Property } from './jsonSchema';
import { listUnknown, OWN_ENTRIES, type ModelInput } from './modelInput';
import { MAX_SIZE, readSchema } from './readSchema';
import { findEarlierResult, isMedia } from './recognize';

/** Views of what a model takes: the editor's fields, and a list of them for JSON and builders. */

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

/** Makes the editor's fields of a model; a notice if there would be too much to store. */
export function toMapperFields(input: ModelInput): ResourceMapperFields {
	const { model, schema, properties } = input;
	const inputSchema = readSchema(schema, undefined, false) ?? {};
	const hidden = { display: false };
	// The editor notices outdated fields only by their names, so this name is the schema's digest.
	const stored = toEntry(OWN_ENTRIES.schema, digest(inputSchema), 'object');
	const guide = toEntry(OWN_ENTRIES.guide, 'Field Guide (Sends Nothing)', 'options');
	const noPrompt = toEntry(OWN_ENTRIES.noPrompt, 'No Prompt', 'boolean');
	const fields: ResourceMapperField[] = [
		...properties.map(toField),
		{ ...guide, options: listFields(input, 'title') },
		{ ...stored, ...hidden, model, inputSchema } as StoredSchema,
		...(properties.some(isPrompt) ? [] : [{ ...noPrompt, ...hidden, defaultValue: true }]),
	];
	if (JSON.stringify(fields).length <= MAX_SIZE) return { fields };
	return buildNotice(`The service's description of ${model} is too large to make fields of it`);
}

/** Shows why there are no fields. @param reason the beginning of a sentence */
export const buildNotice = (
	reason: string,
	remedy = " To go on without fields, set 'Input Mode' to JSON.",
): ResourceMapperFields => ({
	fields: [],
	emptyFieldsNotice: escapeHtml(`${reason}.${remedy}`),
});

/** Lists the fields with all that is known, and which go together where there are several forms. */
export function listFields(
	{ schema, properties }: ModelInput,
	by: 'name' | 'title' = 'name',
): INodePropertyOptions[] {
	const { anyOf } = schema;
	const fields = properties.map((property) => {
		const { facts, prose, ...names } = { name: property.name, ...describeProperty(property) };
		return { name: addFacts(names[by], facts), value: property.name, description: prose };
	});
	if (!anyOf) return fields;
	return [{ name: `Fill in one of: ${describeForms(anyOf)}`, value: '$forms' }, ...fields];
}

/** The longest summary of a guide, in characters. */
const SHOWN_SUMMARY = 200;

/**
 * Lists the fields for a person who writes JSON. The editor shows the first entry before the list
 * is opened: names that the model doesn't have, and what is required.
 * @param written the JSON as far as it can be read
 */
export function listJsonGuide(input: ModelInput, written: object): INodePropertyOptions[] {
	const unknown = listUnknown(input.schema, written).join(', ');
	const required = input.properties.filter(({ isRequired }) => isRequired);
	const needs = required.map(({ name }) => name).join(', ');
	const summary = [
		unknown && `Unknown to the model: ${unknown}`,
		needs ? `Required: ${needs}` : 'No field is required',
	];
	const name = cutText(summary.filter(Boolean).join('. '), SHOWN_SUMMARY);
	return [{ name, value: '' }, ...listFields(input)];
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

/** The property that the node has a field of its own for: a free text. */
const isPrompt = ({ name, schema }: Property): boolean =>
	name === 'prompt' &&
	listTypes(schema).includes('string') &&
	!schema.enum &&
	!isMedia(name, schema);

/**
 * Makes a field of a property. The editor shows an unset switch as on, so only a required boolean
 * is a switch. It fills in the ID of an earlier result when it first shows the field.
 */
function toField(property: Property): ResourceMapperField {
	const { name, schema, isRequired } = property;
	const { title, brief } = describeProperty(property);
	const isBoolean = listTypes(schema).join() === 'boolean';
	const isSwitch = isRequired && isBoolean && !schema.enum;
	const values = schema.enum ?? (isBoolean && !isSwitch ? [true, false] : undefined);
	const choices = values?.filter((value) => value !== null) as Array<string | number | boolean>;
	const isFree = schema.default === undefined && (isRequired || !schema.deprecated);
	const earlier = isFree ? findEarlierResult(name, schema)?.expression : undefined;
	const initial = isSwitch ? schema.default === true || undefined : earlier;
	const isOwn = !isPrompt(property);
	return {
		...toEntry(name, addFacts(title, brief), values ? 'options' : chooseType(schema)),
		// n8n would not publish a workflow before a list or object is there, which a service may do
		// without. A prompt that a builder has stored counts where the node's own field is blank.
		required: isRequired && isOwn && !takesJson(schema),
		display: isOwn,
		...(values && { options: choices.map((value) => ({ name: nameValue(value), value })) }),
		...(initial !== undefined && { defaultValue: initial }),
		...(schema.deprecated && !isRequired && { removed: true }),
	};
}

/** Lists of single values are entered as text. */
function chooseType(schema: JsonSchema): FieldType {
	const types = listTypes(schema);
	if (types.includes('string') || !types.length) return 'string';
	if (types.includes('object')) return 'object';
	if (types.includes('array')) return takesJson(schema) ? 'array' : 'string';
	if (types.includes('boolean')) return 'boolean';
	return types.some((type) => type === 'number' || type === 'integer') ? 'number' : 'string';
}
