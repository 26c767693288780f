import {
	isExpression,
	type FieldType,
	type INodePropertyOptions,
	type ResourceMapperField,
	type ResourceMapperFields,
} from 'n8n-workflow';
import { digest, dropUndefined, isExact } from '../../lib/json';
import { cutText } from '../../lib/text';
import { isBlank } from '../fieldErrors';
import { HELP, USE_JSON } from './fields';
import { isPriced } from './price';
import { findPurpose, type Purpose } from '../purpose';
import {
	describeTooLarge,
	getItems,
	getPart,
	listTypes,
	MAX_SIZE,
	readSchema,
	takesJson,
	type JsonSchema,
	type ModelInput,
	type Property,
} from '../schema';
import { isAllowed } from '../check';
import { addFacts, describeForms, describeProperty, MAX_TITLE, nameValue } from './words';

/** What a model takes, as the editor's fields, and as a list for people and for AI builders. */

/** An entry of the mapper that the editor stores but doesn't show. With it, a run needs no catalogue. */
export interface StoredSchema extends ResourceMapperField {
	/** The model whose fields these are. */
	model: string;
	/** Its input, for checks before anything is paid for. */
	inputSchema: JsonSchema;
}

/** Finds the model's schema among the entries of a mapper. */
export const findStoredSchema = (fields: ResourceMapperField[]): StoredSchema | undefined =>
	fields.find((field): field is StoredSchema => field.id === '$schema');

interface Panel {
	/** What the list of models says of it, if that is known. */
	price?: string | null;
	/** The fields that have a value already. */
	filled?: string[];
}

/** How many fields of a model are shown at first, beside its prompt, if it has no more that matter. */
const SHOWN_AT_FIRST = 1;

/** Makes the editor's fields of a model, or a notice if they were too large to store. */
export function toMapperFields(
	input: ModelInput,
	{ price, filled = [] }: Panel = {},
): ResourceMapperFields {
	const { model, schema, properties } = input;
	const inputSchema = readSchema(schema, undefined, false) ?? {};
	const guide = { ...toEntry('$guide', HELP, 'options'), removed: true };
	// The editor tells outdated fields by their names only, so this one is named by the schema's digest.
	const stored = { ...toEntry('$schema', digest(inputSchema), 'object'), display: false };
	const noPrompt = { ...toEntry('$noPrompt', 'No Prompt', 'boolean'), display: false };
	const fields: ResourceMapperField[] = [
		...foldFields(properties, filled, cutText(price ?? '', MAX_PRICE)),
		{ ...guide, options: listFields(input, price) },
		{ ...stored, model, inputSchema } as StoredSchema,
		...(properties.some(isPrompt) ? [] : [{ ...noPrompt, defaultValue: true }]),
	];
	return JSON.stringify(fields).length > MAX_SIZE
		? buildNotice(describeTooLarge(model))
		: { fields };
}

/** Shows why there are no fields. @param reason the beginning of a sentence */
export const buildNotice = (
	reason: string,
	remedy = `To go on without fields, ${USE_JSON}.`,
): ResourceMapperFields => ({
	fields: [],
	emptyFieldsNotice: `${reason}. ${remedy}`.trim(),
});

/** Lists the price, which fields go together if there are several forms, and the fields with their facts. */
export function listFields(
	{ schema, properties }: ModelInput,
	price?: string | null,
): INodePropertyOptions[] {
	const entries = listPrice(price);
	if (schema.forms)
		entries.push({ name: `Fill in one of: ${describeForms(schema.forms)}`, value: '$forms' });
	for (const property of properties) {
		const { summary, prose } = describeProperty(property);
		const name = addFacts(property.name, summary);
		entries.push({ name, value: property.name, description: prose });
	}
	return entries;
}

/** A field of a model, as Get Fields outputs it. A key is absent where nothing is known. */
export interface FieldItem {
	/** As the request has it. */
	name: string;
	/** As the editor has it. */
	title: string;
	/** In the words of JSON, for example "integer" or "string or array". */
	type: string;
	required: boolean;
	description?: string;
	/** The only values; of a list, those of its entries. */
	options?: unknown[];
	default?: unknown;
	/** It takes a file: a URL, or the name of a binary field. */
	takesFile?: boolean;
	/** All of it in words, with limits, as in the editor's guide. */
	summary: string;
	/** What else an input needs: the fields of one of these forms. */
	forms?: string;
}

/** Describes the fields of a model for workflows, and for models that have Get Fields as a tool. */
export const toFieldItems = ({ schema, properties }: ModelInput): FieldItem[] => {
	const forms = schema.forms && describeForms(schema.forms);
	return properties.map((property) => toFieldItem(property, forms));
};

function toFieldItem(property: Property, forms?: string): FieldItem {
	const { name, schema, isRequired } = property;
	const { title, summary, prose, purpose } = describeProperty(property);
	const item: FieldItem = {
		name,
		title,
		type: listTypes(schema).join(' or ') || 'any',
		required: isRequired,
		description: prose || undefined,
		options: schema.enum ?? getItems(schema).enum,
		default: schema.default,
		takesFile: purpose.kind === 'file' || undefined,
		summary,
		forms,
	};
	return dropUndefined(item);
}

/** The longest price, in characters. */
const MAX_PRICE = 1_000;

/** Shows the whole price, of which the list of models has the first line. Some are known by nobody. */
function listPrice(pricingDesc?: string | null): INodePropertyOptions[] {
	const price = cutText(pricingDesc?.trim() ?? '', MAX_PRICE);
	return price && !isExpression(price)
		? [{ name: 'Price', value: '$price', description: price }]
		: [];
}

/**
 * Makes the fields of properties. The first are shown, and all that are required, continue an earlier
 * result, have to do with the price, or take a file if none has to; a person adds the others where
 * they are needed.
 */
function foldFields(
	properties: Property[],
	filled: string[],
	price: string,
): ResourceMapperField[] {
	const fields = properties.map(toField);
	const shown = fields.filter(({ display }) => display);
	const takesFile = (property: Property) => findPurposeKind(property) === 'file';
	const requiresFile = properties.some((one) => one.isRequired && takesFile(one));
	const matters = (property: Property) =>
		property.isRequired ||
		findPurposeKind(property) === 'earlierResult' ||
		(takesFile(property) && !requiresFile) ||
		isPriced(property, price);
	const needed = properties.filter(matters).map(({ name }) => name);
	const isKept = ({ id }: ResourceMapperField) => needed.includes(id) || filled.includes(id);
	const room = Math.max(0, SHOWN_AT_FIRST - shown.filter(isKept).length);
	const folded = shown.filter((field) => !isKept(field)).slice(room);
	return fields.map((field) => (folded.includes(field) ? { ...field, removed: true } : field));
}

const findPurposeKind = ({ name, schema }: Property) => findPurpose(name, schema).kind;

const toEntry = (id: string, displayName: string, type: FieldType): ResourceMapperField => ({
	id,
	displayName,
	type,
	required: false,
	defaultMatch: false,
	canBeUsedToMatch: false,
	display: true,
	readOnly: false,
	// n8n's editor adds this after each run with Map Automatically, and then says that the node has changed.
	removed: false,
});

/** Makes the editor's field of a property. */
function toField(property: Property): ResourceMapperField {
	const { name, schema, isRequired } = property;
	const { label, type, purpose } = describeProperty(property);
	const hasOwnField = purpose.kind !== 'prompt';
	// n8n shows an unset switch as on, so only a required boolean is a switch.
	const isSwitch = type === 'boolean' && isRequired && !schema.enum;
	const choices = listChoices(schema, type === 'boolean' && !isSwitch);
	const initial = isSwitch ? schema.default === true : findEarlierId(property, purpose);
	const field: ResourceMapperField = {
		...toEntry(name, label, choices.length ? 'options' : type),
		// n8n doesn't publish a workflow while a required field is blank, and services do without lists
		// and objects. A prompt that an AI builder stored here counts if the node's own field is blank.
		required: isRequired && hasOwnField && !takesJson(schema),
		display: hasOwnField,
	};
	if (choices.length)
		field.options = choices.map((value) => ({ name: nameChoice(schema, value), value }));
	if (initial) field.defaultValue = initial;
	return field;
}

/** Names a value of a list, with what it means if the service says so. */
function nameChoice({ meanings }: JsonSchema, value: unknown): string {
	const name = nameValue(value);
	const meaning = getPart(meanings, String(value));
	return meaning && meaning !== name ? cutText(`${name} - ${meaning}`, MAX_TITLE) : name;
}

/** Lists the values to choose from; none: they are entered. */
function listChoices({ enum: listed, ...rest }: JsonSchema, isYesOrNo: boolean) {
	const values = listed ?? (isYesOrNo ? [true, false] : []);
	return values.filter(isChoice).filter((value) => isAllowed(rest, value));
}

/** Finds the expression that fills in the ID of an earlier result when the field first shows. */
function findEarlierId({ schema }: Property, purpose: Purpose): string | undefined {
	if (purpose.kind !== 'earlierResult' || schema.default !== undefined) return undefined;
	return purpose.expression;
}

const isPrompt = (property: Property): boolean => findPurposeKind(property) === 'prompt';

/** Says whether a value can be chosen from a list. A blank one wouldn't be sent. */
const isChoice = (value: unknown): value is string | number | boolean =>
	typeof value === 'number'
		? isExact(value)
		: /^(string|boolean)$/.test(typeof value) && !isBlank(value);
