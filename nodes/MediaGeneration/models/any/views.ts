import type {
	FieldType,
	INodePropertyOptions,
	ResourceMapperField,
	ResourceMapperFields,
} from 'n8n-workflow';
import { digest, dropUndefined } from '../../lib/json';
import { cutText } from '../../lib/text';
import { isAllowed } from '../check';
import { FILE_HINT } from '../commonFields';
import { readSchema } from '../readSchema';
import {
	findPurpose,
	getItems,
	getPart,
	hasPrompt,
	listProperties,
	listTypes,
	takesJson,
	takesSeveral,
	type JsonSchema,
	type Property,
	type Purpose,
} from '../schema';
import { isBlank } from '../values';
import { addFacts, describeRange, describeTypes, listShortly, toTitle } from '../words';
import { USE_JSON } from './fields';

/* What a model takes, as the editor's fields, and as a list for people and for AI builders. */

/** The largest list of fields that a workflow stores, in characters of JSON. */
const MAX_SIZE = 64_000;

/** A field of the mapper that n8n stores but doesn't show. With this field, a run needs no catalogue. */
interface StoredSchema extends ResourceMapperField {
	/** The model whose fields these are. */
	model: string;
	/** Its input, for checks before anything is paid for. */
	inputSchema: JsonSchema;
}

/** Finds the model's schema among the fields of a mapper. */
export const findStoredSchema = (fields: ResourceMapperField[]): StoredSchema | undefined =>
	fields.find((field): field is StoredSchema => field.id === '$schema');

/**
 * Makes the editor's fields of a model, or a notice if they were too large to store.
 * @param filled the names of fields that have a value already
 */
export function toMapperFields(
	model: string,
	schema: JsonSchema,
	filled: string[] = [],
): ResourceMapperFields {
	// Reading the schema again drops the meanings of values, which stand in the fields already.
	const inputSchema = readSchema(schema, undefined);
	// n8n's editor compares fields by name to find outdated ones, so this name is the schema's digest.
	const stored = makeField('$schema', digest(inputSchema), 'object', false);
	const noPrompt = makeField('$noPrompt', 'No Prompt', 'boolean', false);
	const fields = [
		...listProperties(schema).map((property) => toMapperField(property, filled)),
		{ ...stored, model, inputSchema },
		...(hasPrompt(schema) ? [] : [{ ...noPrompt, defaultValue: true }]),
	];
	return JSON.stringify(fields).length > MAX_SIZE
		? buildNotice(`The fields of ${model} are too many to be stored in a workflow`)
		: { fields };
}

/** Makes the notice that says why there are no fields. @param reason the beginning of a sentence */
export const buildNotice = (
	reason: string,
	remedy = `To go on without fields, ${USE_JSON}.`,
): ResourceMapperFields => ({
	fields: [],
	emptyFieldsNotice: `${reason}. ${remedy}`.trim(),
});

/** The longest price, in characters. */
const LONGEST_PRICE = 1_000;

/**
 * Lists the whole price, of which the list of models has a part, and the fields with their facts. This
 * list is only for reading: the value of each choice is what the node stores already, so that choosing
 * changes nothing. n8n's editor shows the last choice while the list is closed.
 */
export function listHelp(schema: JsonSchema, pricingDesc = ''): INodePropertyOptions[] {
	const priceText = cutText(pricingDesc, LONGEST_PRICE);
	const fields = listFieldItems(schema).map(({ name, summary, description }) => ({
		name: `${name} (${summary})`,
		value: '',
		description,
	}));
	const price = priceText ? [{ name: 'Price', value: '', description: priceText }] : [];
	return [...price, ...fields, { name: 'Open to Read', value: '' }];
}

/** Describes the fields of a model for workflows, and for agents that have Get Fields as a tool. */
export const listFieldItems = (schema: JsonSchema) => listProperties(schema).map(toFieldItem);

/**
 * Describes a field. A key is absent where nothing is known. `options` of a list are the values of its
 * parts; `summary` is the editor's help.
 */
function toFieldItem(property: Property) {
	const { name, schema, isRequired } = property;
	const { title, summary, purpose } = describeProperty(property);
	return dropUndefined({
		name,
		title,
		type: listTypes(schema).join(' or ') || 'any',
		required: isRequired,
		description: schema.description,
		options: schema.enum ?? getItems(schema).enum,
		default: schema.default,
		takesFile: purpose.role === 'file' || undefined,
		summary,
	});
}

const makeField = (
	id: string,
	displayName: string,
	type: FieldType,
	display: boolean,
): ResourceMapperField => ({
	id,
	displayName,
	type,
	required: false,
	defaultMatch: false,
	canBeUsedToMatch: false,
	display,
	readOnly: false,
	// Without this key, n8n's editor adds the key after each run with Map Automatically, and says that the
	// node has changed.
	removed: false,
});

/**
 * Makes the editor's field of a property. At first the editor shows required fields, files, choices with
 * a default, fields for the ID of a result, and filled fields. A person can add the others.
 */
function toMapperField(property: Property, filled: string[]): ResourceMapperField {
	const { name, schema, isRequired } = property;
	const { label, type, purpose } = describeProperty(property);
	const display = purpose.role !== 'prompt';
	// n8n shows an unset switch as on, so only a required boolean is a switch.
	const isSwitch = type === 'boolean' && isRequired && !schema.enum;
	const choices = listChoices(schema, type === 'boolean' && !isSwitch);
	const isSeen =
		isRequired ||
		purpose.role === 'file' ||
		purpose.role === 'resultId' ||
		(schema.enum && !isBlank(schema.default)) ||
		filled.includes(name);
	const isOn = (isSwitch && schema.default === true) || undefined;
	const options = choices.map((value) => ({ name: nameChoice(schema, value), value }));
	return dropUndefined({
		...makeField(name, label, choices.length ? 'options' : type, display),
		// n8n publishes no workflow in which a required field is blank. Services do without required
		// lists and objects, and a prompt may stand in the node's own field instead.
		required: isRequired && display && !takesJson(schema),
		removed: display && !isSeen,
		options: choices.length ? options : undefined,
		defaultValue: purpose.role === 'resultId' ? purpose.expression : isOn,
	});
}

/** Lists the values to choose from. Without any, the user enters the value. */
function listChoices({ enum: listed, ...rest }: JsonSchema, isYesOrNo: boolean) {
	const values = listed ?? (isYesOrNo ? [true, false] : []);
	return values.filter(isChoice).filter((value) => isAllowed(rest, value));
}

/** Says whether a value can be chosen from a list. A blank value wouldn't be sent. */
const isChoice = (value: unknown): value is string | number | boolean =>
	/^(string|number|boolean)$/.test(typeof value) && !isBlank(value);

/** The longest name of a choice with its meaning, in characters. */
const LONGEST_CHOICE = 100;

/** Names a choice, with what it means if the service says so. */
function nameChoice({ meanings }: JsonSchema, value: unknown): string {
	const name = listShortly([value]);
	const meaning = getPart(meanings, String(value));
	return meaning && meaning !== name
		? cutText(`${name} - ${String(meaning)}`, LONGEST_CHOICE)
		: name;
}

/** The longest label, in characters: n8n's editor cuts longer ones. */
const LONGEST_LABEL = 26;

/**
 * Describes a property. `label` is its name in the editor: the title and, if there is room, the default
 * or how to fill it in. `summary` says all that it takes, such as "required; a whole number of 1 to 10;
 * default 5".
 */
function describeProperty({ name, schema, isRequired }: Property) {
	const purpose = findPurpose(name, schema);
	const title = toTitle(name);
	const { type, takes, note = '' } = findControl(schema, purpose, title);
	const { enum: values, maxItems } = schema;
	const count = maxItems === 1 ? '' : describeRange(schema.minItems, maxItems);
	const length = describeRange(schema.minLength, schema.maxLength);
	const byDefault = isBlank(schema.default) ? '' : listShortly([schema.default]);
	const summary = [
		isRequired ? 'required' : 'optional',
		takes,
		count && `${count} entries`,
		listShortly(values ?? getItems(schema).enum ?? []),
		length && `${length} characters`,
		nameParts(schema),
		byDefault && `default ${byDefault}`,
	];
	return {
		purpose,
		type,
		title,
		label: buildLabel(title, values ? byDefault : note),
		summary: summary.filter(Boolean).join('; '),
	};
}

/** Finds how a value is entered in the editor: its type, what it takes in words, and a note for its label. */
function findControl(
	schema: JsonSchema,
	purpose: Purpose,
	title: string,
): { type: FieldType; takes: string; note?: string } {
	const types = listTypes(schema);
	const isList = types.includes('array');
	const isText = types.includes('string') || !types.length;
	if (purpose.role === 'resultId') {
		const takes = `${purpose.title}; its ID is ${purpose.expression.slice(1)}`;
		return { type: 'string', takes, note: purpose.title };
	}
	if (purpose.role === 'file') {
		// A list that holds one file is entered as the file.
		const takes = takesSeveral(schema) ? `with commas; ${FILE_HINT}` : FILE_HINT;
		return { type: 'string', takes, note: / URLs?$/.test(title) ? 'or data' : 'URL or data' };
	}
	if (takesJson(schema)) {
		const takes = isList ? 'JSON list' : isText ? 'text or JSON' : 'JSON';
		return { type: isText ? 'string' : isList ? 'array' : 'object', takes, note: takes };
	}
	if (isList) return { type: 'string', takes: 'with commas', note: 'with commas' };
	const takes = types.length ? describeTypes(schema) : '';
	if (isText) return { type: 'string', takes };
	return { type: types.includes('boolean') ? 'boolean' : 'number', takes };
}

/** Builds a label of a title and, if there is room, a note. */
function buildLabel(title: string, note: string): string {
	const label = addFacts(title, note);
	return label.length <= LONGEST_LABEL ? label : cutText(title, LONGEST_LABEL);
}

/** Names what the objects in a value have. */
function nameParts(schema: JsonSchema): string {
	const object = listTypes(schema).includes('array') ? getItems(schema) : schema;
	const names = listProperties(object).map(({ name }) => name);
	return names.length ? `with ${listShortly(names)}` : '';
}
