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
import { USE_JSON } from './fields';
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
import { addFacts, describeProperty, MAX_TITLE, nameValue } from './words';

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

/**
 * Makes the editor's fields of a model, or a notice if they were too large to store.
 * @param filled the names of those that have a value already
 */
export function toMapperFields(input: ModelInput, filled: string[] = []): ResourceMapperFields {
	const { model, schema, properties } = input;
	const inputSchema = readSchema(schema, undefined, false) ?? {};
	// The editor tells outdated fields by their names only, so this one is named by the schema's digest.
	const stored = { ...toEntry('$schema', digest(inputSchema), 'object'), display: false };
	const noPrompt = { ...toEntry('$noPrompt', 'No Prompt', 'boolean'), display: false };
	const fields: ResourceMapperField[] = [
		...foldFields(properties, filled),
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

/** Lists the price, and the fields with their facts. */
export function listFields(
	{ properties }: ModelInput,
	price?: string | null,
): INodePropertyOptions[] {
	const fields = properties.map((property) => {
		const { summary, prose } = describeProperty(property);
		const name = addFacts(property.name, summary);
		return { name, value: property.name, description: prose };
	});
	return [...listPrice(price), ...fields];
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
	/** All of it in words, with limits, as in the editor's help. */
	summary: string;
}

/** Describes the fields of a model for workflows, and for models that have Get Fields as a tool. */
export const toFieldItems = ({ properties }: ModelInput): FieldItem[] =>
	properties.map(toFieldItem);

function toFieldItem(property: Property): FieldItem {
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
 * Makes the fields of properties. A person sees at first what is required, files, choices with a
 * default, what continues an earlier result, and what is filled in; the others can be added.
 */
function foldFields(properties: Property[], filled: string[]): ResourceMapperField[] {
	const isSeen = (property: Property) =>
		property.isRequired ||
		/^(file|earlierResult)$/.test(findPurposeKind(property)) ||
		(property.schema.enum && !isBlank(property.schema.default)) ||
		filled.includes(property.name);
	return properties.map((property) => {
		const field = toField(property);
		return field.display && !isSeen(property) ? { ...field, removed: true } : field;
	});
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
