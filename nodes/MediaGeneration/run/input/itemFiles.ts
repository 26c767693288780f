import {
	isBinaryValue,
	type IBinaryData,
	type IDataObject,
	type IExecuteFunctions,
	type UserError,
} from 'n8n-workflow';
import { isObject } from '../../lib/json';
import { isEqual } from '../../models/schema';
import { buildFieldError, shorten, type ItemFiles, type NamedFiles } from '../../models/values';
import { InputFile } from './inputFile';

/** The files of an item: in its binary fields or, where `binaryMode` is combined, in its JSON. */
export class FilesOfItem implements ItemFiles {
	private readonly stored: Map<string, IBinaryData>;
	private readonly files = new Map<string, InputFile>();
	/** Labels of the form, in the item's JSON or named by the node. */
	private readonly labels = new Set<string>();
	/** Where the form's files stand in the item's JSON, by what it has of each. */
	private readonly places = new Map<string, { label: string; at: number }>();

	constructor(
		private readonly context: IExecuteFunctions,
		index: number,
	) {
		const { json, binary = {} } = context.getInputData()[index] ?? { json: {} };
		const isCombined = context.getWorkflowSettings().binaryMode === 'combined';
		this.stored = new Map(isCombined ? listWithin(json) : Object.entries(binary));
		for (const [label, value] of Object.entries(json))
			for (const [at, file] of [value].flat().filter(isOfForm).entries()) {
				const place = JSON.stringify(file);
				this.labels.add(label);
				if (!this.places.has(place)) this.places.set(place, { label, at });
			}
	}

	/**
	 * Finds what a name stands for: a binary field, or a form's field with this label. n8n's form writes
	 * `Product_photo` for "Product photo", and `Product_photo_0`, `Product_photo_1`, … if the field takes
	 * several files (`Form/utils/utils.js`, 2.41.1); its webhook writes `images0`, `images1`; an Aggregate
	 * `data`, `data_1`.
	 */
	find(name: string, label: string): NamedFiles {
		const ofForm = toFormName(name);
		const bases = [...new Set([name, ofForm])];
		const exact = bases.map((base) => this.get(base)).find((file) => file !== undefined);
		const numbered = exact
			? this.listNumbered((number) => `${exact.field}_${number}`, 1)
			: this.findNumbered(bases);
		const [first = exact] = numbered;
		if (first) this.refuseSharedName(name, { label, ofForm, field: exact?.field ?? first.field });
		return { exact, numbered };
	}

	private findNumbered(bases: string[]): InputFile[] {
		for (const base of bases)
			for (const step of ['_', ''])
				for (const first of [0, 1]) {
					const found = this.listNumbered((number) => `${base}${step}${number}`, first);
					if (found.length) return found;
				}
		return [];
	}

	private listNumbered(toField: (number: number) => string, first: number): InputFile[] {
		const found: InputFile[] = [];
		for (let file = this.get(toField(first)); file; file = this.get(toField(first + found.length)))
			found.push(file);
		return found;
	}

	/** Finds the binary field of exactly this name; undefined if the item has none. */
	get(field: string): InputFile | undefined {
		const known = this.files.get(field);
		const stored = known ? undefined : this.stored.get(field);
		if (!stored) return known;
		const file = new InputFile(field, this.toSource(stored));
		this.files.set(field, file);
		return file;
	}

	private toSource(stored: IBinaryData) {
		const { helpers } = this.context;
		const { id } = stored;
		if (!id) return { stored, ...ofBuffer(Buffer.from(stored.data, 'base64')) };
		return {
			stored,
			readSize: async () => (await helpers.getBinaryMetadata(id)).fileSize,
			open: async () => await helpers.getBinaryStream(id),
		};
	}

	listNames(): string[] {
		return [...this.stored.keys()];
	}

	fromDataUri(uri: string, label: string): InputFile {
		const [, type, parameters = '', data = ''] = /^data:([^,;]*)(;[^,]*)?,(.*)$/is.exec(uri) ?? [];
		const bytes = data && decodeData(data, /;base64$/i.test(parameters));
		if (!bytes)
			throw buildFieldError(
				`'${label}' is ${shorten(uri)}, a data URI that has no data which can be read`,
				'Enter a URL, or the name of a field of the item that has the file.',
			);
		return new InputFile('data URI', { stored: { mimeType: type }, ...ofBuffer(bytes) });
	}

	/**
	 * Names the file of this item that n8n's own object stands for: what `$binary.photo` gives, or what a
	 * form leaves in `json`, as by dragging its photo into a field.
	 */
	nameOf(object: Record<string, unknown>): string | undefined {
		const named = [...this.stored].filter(([, file]) => isSameFile(file, object));
		// In memory, two files can be told apart by their data only, which the object may lack.
		if (named.length)
			return new Set(named.map(([, { data }]) => data)).size === 1 ? named[0]?.[0] : undefined;
		const { label, at } = this.places.get(JSON.stringify(object)) ?? {};
		if (label === undefined || at === undefined) return undefined;
		const { exact, numbered } = this.find(label, label);
		return (exact ?? numbered[at])?.field;
	}

	/**
	 * Two labels of a form can make one binary name (写真 and 動画 both become `__`); n8n then keeps only
	 * one of their files.
	 * @throws {UserError} for a name that may mean another field's file
	 */
	private refuseSharedName(
		name: string,
		{ label, ofForm, field }: { label: string; ofForm: string; field: string },
	): void {
		if (field === name && name !== ofForm) return;
		const labels = new Set([...this.labels].filter((one) => toFormName(one) === ofForm));
		if (field !== name) this.labels.add(name);
		// A form's field may have a name of its own beside its label.
		const isOwnName = name === ofForm || [...labels].join() === ofForm;
		if (!isOwnName) labels.add(name);
		if (labels.size > 1)
			throw buildSharedNameError({ name, label, ofForm }, [...labels], this.listNames());
	}
}

const buildSharedNameError = (
	{ name, label, ofForm }: { name: string; label: string; ofForm: string },
	labels: string[],
	names: string[],
): UserError =>
	buildFieldError(
		`'${label}' is "${name}", but n8n stores the files of ${labels.join(' and ')} under one name, ${ofForm}`,
		`The item has files in these fields: ${names.join(', ')}. In the form, give fields names that differ in Latin letters or digits, such as photo1 and photo2.`,
	);

/**
 * Says whether n8n's object is of a stored file. Where n8n keeps files in memory, they have no ID, and
 * `$binary` leaves out their data (`workflow-data-proxy.js`, 2.14.2, 2.41.1).
 */
function isSameFile(stored: IBinaryData, object: Record<string, unknown>): boolean {
	if (stored.id) return stored.id === object.id;
	const { data, ...facts } = stored;
	return 'data' in object ? object.data === data : isEqual(object, facts);
}

const ofBuffer = (buffer: Buffer) => ({
	readSize: async () => buffer.length,
	open: async () => [buffer],
});

/** @returns undefined for a text that can't be decoded, or has nothing */
function decodeData(data: string, isBase64: boolean): Buffer | undefined {
	try {
		const text = decodeURIComponent(data);
		const bytes = isBase64 ? Buffer.from(text, 'base64') : Buffer.from(text);
		return bytes.length ? bytes : undefined;
	} catch {
		return undefined;
	}
}

/**
 * Workflows whose `binaryMode` is combined have files in the item's JSON, those of most nodes under
 * `_files`, several of a form's field in a list (`convert-binary-data.js`, 2.14.2, 2.41.1). Paths into
 * other values aren't followed, because a stranger may have written these. `e2e/flows` fails first.
 */
function listWithin(json: IDataObject): Array<[name: string, stored: IBinaryData]> {
	const fields = [...Object.entries({ ...(json._files as object) }), ...Object.entries(json)];
	const entries = fields.flatMap(
		([name, value]): Array<[string, unknown]> =>
			Array.isArray(value) ? value.map((entry, at) => [`${name}_${at}`, entry]) : [[name, value]],
	);
	return entries.filter((entry): entry is [string, IBinaryData] => isBinaryValue(entry[1]));
}

/** The name that n8n's form gives to the file of a field with this label. */
const toFormName = (label: string): string => label.replace(/\W/g, '_');

/** Says whether a value is what n8n's form has in `json` of a file. */
const isOfForm = (value: unknown): boolean =>
	isObject(value) && 'filename' in value && 'mimetype' in value;
