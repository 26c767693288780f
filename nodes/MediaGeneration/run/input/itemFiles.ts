import {
	isBinaryValue,
	type IBinaryData,
	type IDataObject,
	type IExecuteFunctions,
} from 'n8n-workflow';
import { isObject } from '../../lib/json';
import { isEqual } from '../../models/schema';
import { buildFieldError, quoteValue, type ItemFiles, type NamedFiles } from '../../models/values';
import { InputFile } from './inputFile';

/** The files of an item: in its binary fields or, where `binaryMode` is combined, in its JSON. */
export class FilesOfItem implements ItemFiles {
	private readonly files: Map<string, InputFile>;
	/** Labels of the form's fields for files, as the item's JSON has them. */
	private readonly labels = new Set<string>();
	/** Names of files that the node's fields have used so far. */
	private readonly usedNames = new Set<string>();
	/** The field and position of each of the form's files, by the JSON that the item has of the file. */
	private readonly places = new Map<string, { label: string; position: number }>();

	constructor(
		private readonly context: IExecuteFunctions,
		index: number,
	) {
		const { json, binary = {} } = context.getInputData()[index] ?? { json: {} };
		const isCombined = context.getWorkflowSettings().binaryMode === 'combined';
		const stored = isCombined ? listWithin(json) : Object.entries(binary);
		this.files = new Map(
			stored.map(([field, file]) => [field, new InputFile(field, file, context.helpers)]),
		);
		for (const [label, value] of Object.entries(json))
			for (const [position, file] of [value].flat().filter(isOfForm).entries()) {
				const key = JSON.stringify(file);
				this.labels.add(label);
				if (!this.places.has(key)) this.places.set(key, { label, position });
			}
	}

	listNames(): string[] {
		return [...this.files.keys()];
	}

	/**
	 * Finds what a name stands for: a binary field, or a form's field with this label. n8n's form writes
	 * `Product_photo` for "Product photo", and `Product_photo_0`, `Product_photo_1`, … if the field takes
	 * several files (`Form/utils/utils.js`, 2.41.1); its webhook writes `images0`, `images1`; an Aggregate
	 * `data`, `data_1`.
	 */
	find(name: string, label: string): NamedFiles {
		const formName = toFormName(name);
		const named = this.files.get(name) ?? this.files.get(formName);
		const bases = named ? [`${named.field}_`] : [`${name}_`, name, `${formName}_`, formName];
		const numbered =
			bases
				.flatMap((base) => [this.listNumbered(base, 0), this.listNumbered(base, 1)])
				.find((files) => files.length > 0) ?? [];
		const field = (named ?? numbered[0])?.field;
		// A form writes only letters, digits and _. If the name has anything else, no form wrote the name,
		// so this very file is meant.
		const isSurelyThisFile = field === name && name !== formName;
		if (field !== undefined && !isSurelyThisFile) {
			// The names that fields have used so far are compared with each other.
			this.usedNames.add(name);
			this.throwIfAmbiguous(name, label, formName);
		}
		return { named, numbered };
	}

	/** Lists files whose names are numbered without a gap. */
	private listNumbered(base: string, first: number) {
		const files: InputFile[] = [];
		const findNext = () => this.files.get(`${base}${first + files.length}`);
		for (let file = findNext(); file; file = findNext()) files.push(file);
		return files;
	}

	/**
	 * Two labels of a form can make one binary name (写真 and 動画 both become `__`); n8n then keeps only
	 * one of their files.
	 * @throws {UserError} for a name that may mean another field's file
	 */
	private throwIfAmbiguous(name: string, label: string, formName: string) {
		const hasFormName = (one: string) => toFormName(one) === formName;
		const formLabels = [...this.labels].filter(hasFormName);
		const usedNames = [...this.usedNames].filter(hasFormName);
		// `Product_photo` may be the Custom Field Name of "Product photo": both mean one field, so the written
		// name is no rival.
		const distinctNames = new Set([...formLabels, ...usedNames].filter((one) => one !== formName));
		const labels = formLabels.length > 1 ? formLabels : [...distinctNames];
		if (labels.length > 1)
			throw buildFieldError(
				`'${label}' is "${name}", but n8n stores the files of ${labels.join(' and ')} under one name, ${formName}`,
				'In the form, give fields names that differ in Latin letters or digits, such as photo1.',
			);
	}

	fromDataUri(uri: string, label: string): InputFile {
		const [, mimeType = '', parameters = '', text = ''] =
			/^data:([^,;]*)(;[^,]*)?,(.*)$/is.exec(uri) ?? [];
		const data = toBase64(text, /;base64$/i.test(parameters));
		if (!data)
			throw buildFieldError(
				`'${label}' is ${quoteValue(uri)}, a data URI that has no data which can be read`,
				'Enter a URL, or the name of a field of the item that has the file.',
			);
		return new InputFile('data URI', { mimeType, data }, this.context.helpers);
	}

	/**
	 * Names the item's file that n8n's own object stands for: the object that `$binary.photo` gives, or that
	 * a form leaves in `json`, which is what a field gets if somebody drags a form's photo into it.
	 */
	nameOf(object: Record<string, unknown>): string | undefined {
		const [same, ...others] = [...this.files.values()].filter((file) => isSame(file, object));
		// Files in memory have no ID. If the object lacks their data too, equal ones can't be told apart.
		if (same)
			return others.every(({ stored }) => stored.data === same.stored.data)
				? same.field
				: undefined;
		const place = this.places.get(JSON.stringify(object));
		if (!place) return undefined;
		const { named, numbered } = this.find(place.label, place.label);
		return (named ?? numbered[place.position])?.field;
	}
}

/**
 * Whether n8n's object is of this file. Files that n8n stores in memory have no ID, and `$binary` leaves
 * out their data (`workflow-data-proxy.js`, 2.14.2, 2.41.1).
 */
function isSame({ stored }: InputFile, object: Record<string, unknown>) {
	if (stored.id) return stored.id === object.id;
	const { data, ...facts } = stored;
	return 'data' in object ? object.data === data : isEqual(object, facts);
}

/** @returns a blank text for data that can't be decoded */
function toBase64(text: string, isBase64: boolean) {
	try {
		const data = decodeURIComponent(text);
		return Buffer.from(data, isBase64 ? 'base64' : 'utf8').toString('base64');
	} catch {
		return '';
	}
}

/**
 * Workflows whose `binaryMode` is combined have files in the item's JSON. Most nodes put them under
 * `_files`. A form's field with several files is a list (`convert-binary-data.js`, 2.14.2, 2.41.1). Other
 * values aren't searched, because a stranger may have written them. `e2e/flows` fails first.
 */
function listWithin(json: IDataObject): Array<[name: string, stored: IBinaryData]> {
	const fields = [...Object.entries({ ...(json._files as object) }), ...Object.entries(json)];
	const pairs = fields.flatMap(
		([name, value]): Array<[string, unknown]> =>
			Array.isArray(value)
				? value.map((part, index) => [`${name}_${index}`, part])
				: [[name, value]],
	);
	return pairs.filter((pair): pair is [string, IBinaryData] => isBinaryValue(pair[1]));
}

/** The name that n8n's form gives to the file of a field with this label. */
const toFormName = (label: string) => label.replace(/\W/g, '_');

/** Whether a value is what n8n's form has of a file in `json`. */
const isOfForm = (value: unknown) => isObject(value) && 'filename' in value && 'mimetype' in value;
