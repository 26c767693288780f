import type { IBinaryData, UserError } from 'n8n-workflow';
import type { UploadedFile } from '../api/schemas';
import { makeUniqueName } from '../lib/fileName';
import { isObject } from '../lib/json';
import type { MediaFacts } from '../media/formats';
import { checkLimits } from '../media/limits';
import type { Chunks } from '../media/reader';
import { buildFieldError } from '../models/field';
import { Media, replaceEach } from '../models/media';
import type { Item } from './item';

/** A file in a binary field of an item. */
export class InputFile {
	private facts?: Promise<MediaFacts | undefined>;
	private uploaded?: Promise<UploadedFile>;

	constructor(
		/** The name of the binary field. */
		readonly field: string,
		private readonly stored: Pick<IBinaryData, 'fileName' | 'mimeType' | 'fileExtension'>,
		/** In bytes. */
		readonly size: number,
		private readonly open: () => Promise<Chunks>,
	) {}

	/** Reads facts from its bytes, once; undefined if its format is unknown. */
	async inspect(): Promise<MediaFacts | undefined> {
		const { inspect } = await import('../media/inspect');
		return await (this.facts ??= this.open().then(inspect));
	}

	/** Uploads it once, streamed from n8n's storage. Its type and extension come from its content. */
	async upload(item: Item): Promise<UploadedFile> {
		return await (this.uploaded ??= this.send(item));
	}

	private async send({ service, settings }: Item): Promise<UploadedFile> {
		const { fileName, mimeType, fileExtension } = this.stored;
		const facts = await this.inspect();
		const media = facts?.kind === 'other' ? undefined : facts;
		const name = makeUniqueName(fileName, media?.extension ?? fileExtension);
		const file = { size: this.size, mimeType: media?.mimeType ?? mimeType };
		return await service.upload(name, { ...file, chunks: await this.open() }, settings);
	}

	/** Serializes to its field, so requests with the same file have equal digests. */
	toJSON(): string {
		return this.field;
	}
}

/**
 * Finds a binary field; undefined if the item has none of this name. Workflows whose `binaryMode` is
 * combined have files in the item's JSON, those of most nodes under `_files`; n8n's helper takes
 * paths there (`convert-binary-data.js`, 2.14.2, 2.41.1). `e2e/flows` fails first.
 */
export function findBinary(item: Item, field: string): IBinaryData | undefined {
	return findAtPath(item, field) ?? findAtPath(item, `_files${toPathStep(field)}`);
}

/** Makes the step of a path, for any name. */
const toPathStep = (name: string): string => `[${JSON.stringify(name)}]`;

function findAtPath({ call, index }: Item, path: string): IBinaryData | undefined {
	try {
		const data = call.context.helpers.assertBinaryData(index, path);
		// n8n also finds what every object of JavaScript has, such as its constructor.
		return typeof data.data === 'string' ? data : undefined;
	} catch {
		return undefined;
	}
}

/** The name that n8n's form gives to the file of a field with this label. */
const toFormName = (label: string): string => label.replace(/\W/g, '_');

/**
 * Lists the binary fields that a name stands for: the one of this name, or those of the form's field
 * with this label. n8n's form writes `Product_photo` for "Product photo", and `Product_photo_0`,
 * `Product_photo_1`, … if the field takes several files (`Form/utils/utils.js`, 2.41.1). Where files
 * are in the item's JSON, the label has a list of them.
 */
export function listBinaryFields(item: Item, name: string): string[] {
	const ofForm = toFormName(name);
	const single = [name, ofForm].find((field) => findBinary(item, field));
	if (single !== undefined) return [single];
	const inBinary = listNumbered(item, (number) => `${ofForm}_${number}`);
	return inBinary.length ? inBinary : listNumbered(item, (number) => toEntryPath(name, number));
}

/** Makes the path of an entry of a list of files. */
const toEntryPath = (name: string, number: number): string => `${toPathStep(name)}[${number}]`;

function listNumbered(item: Item, toField: (number: number) => string): string[] {
	const fields: string[] = [];
	while (findBinary(item, toField(fields.length))) fields.push(toField(fields.length));
	return fields;
}

/** Lists the names of the item's files. */
function listNames(item: Item): string[] {
	const { binary = {}, json = {} } = { ...item.call.context.getInputData()[item.index] };
	const inJson = Object.keys({ ...(json._files as object), ...json });
	const isName = (name: string) => findBinary(item, name) ?? findBinary(item, toEntryPath(name, 0));
	return [...Object.keys(binary), ...inJson.filter((name) => !binary[name] && isName(name))];
}

/**
 * Finds the file that a name stands for.
 * @param label the field that has the name
 * @throws {UserError} if there is none
 */
export async function findInputFile(item: Item, name: string, label: string): Promise<InputFile> {
	const { helpers } = item.call.context;
	const [field = name] = listBinaryFields(item, name);
	const data = findBinary(item, field);
	if (!data) throw buildNoFileError(item, label, name);
	refuseSharedName(item, { name, label, field });
	const { id } = data;
	if (!id) {
		const buffer = Buffer.from(data.data, 'base64');
		return new InputFile(field, data, buffer.length, async () => [buffer]);
	}
	const { fileSize } = await helpers.getBinaryMetadata(id);
	return new InputFile(field, data, fileSize, async () => await helpers.getBinaryStream(id));
}

/**
 * Checks that a name means one field of a form: of two whose labels make the same name, n8n has stored
 * the file of one in place of the other's. Labels without Latin letters do, if as long as each other.
 * @param field the binary field that was found
 * @param others other labels that the node has
 * @throws {UserError} for a name that may mean another field's file
 */
function refuseSharedName(
	item: Item,
	{ name, label, field }: { name: string; label: string; field?: string },
	others: string[] = [],
): void {
	const ofForm = toFormName(name);
	if (!field || (field === name && name !== ofForm)) return;
	const { json = {} } = { ...item.call.context.getInputData()[item.index] };
	const inForm = Object.keys(json).filter((key) => isOfForm(json[key]));
	const labels = new Set([...inForm, ...others].filter((one) => toFormName(one) === ofForm));
	// A form's field may have a name of its own beside its label.
	const isOwnName = name === ofForm || [...labels].join() === ofForm;
	if (!isOwnName) labels.add(name);
	if (labels.size < 2) return;
	throw buildFieldError(
		`'${label}' is "${name}", but n8n stores the files of ${[...labels].join(' and ')} under one name, ${ofForm}`,
		`The item has files in these fields: ${listNames(item).join(', ')}. In the form, give fields names that differ in Latin letters or digits, such as photo1 and photo2.`,
	);
}

/** Says whether a value is what n8n's form has in `json` of one file, or of several. */
const isOfForm = (value: unknown): boolean =>
	[value].flat().some((file) => isObject(file) && 'filename' in file && 'mimetype' in file);

/** The longest name in an error, in characters. It may be a whole file in Base64. */
const LONGEST_NAME = 100;

function buildNoFileError(item: Item, label: string, name: string): UserError {
	const files = listNames(item).join(', ');
	return buildFieldError(
		`'${label}' is "${name.slice(0, LONGEST_NAME)}", but there is no file named so in this item, and a URL begins with http:// or https://`,
		files
			? `Enter a file of this item: ${files}.`
			: 'The item has no file: put a node before this one that reads or downloads it.',
	);
}

/** Uploads the files in an input. @returns the input, with URLs in their place */
export const uploadFiles = async (item: Item, input: object): Promise<Record<string, unknown>> =>
	(await replaceEach(input, InputFile, async (file) => (await file.upload(item)).url)) as Record<
		string,
		unknown
	>;

/** Replaces a name in a list by the names of all files that it stands for. */
export async function expandLists(
	item: Item,
	input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	const labels: string[] = [];
	const expand = (media: Media): Media | Media[] => {
		const { source: name, label, isUrl, isEntry } = media;
		const fields = isUrl ? [] : listBinaryFields(item, name);
		const [field] = fields;
		refuseSharedName(item, { name, label, field }, labels);
		if (field && field !== name) labels.push(name);
		return isEntry && field ? fields.map((one) => media.withSource(one)) : media;
	};
	return (await replaceEach(input, Media, expand)) as Record<string, unknown>;
}

/**
 * Puts files and URLs in place of the media of an input, and checks files against the model's
 * limits.
 * @throws {UserError} when a binary field does not exist, or a file is outside of the limits
 */
export async function findFiles(
	item: Item,
	input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	const files = new Map<string, InputFile>();
	const find = async (media: Media): Promise<InputFile | string> => {
		const { source, label, isUrl } = media;
		if (isUrl) return source;
		const file = files.get(source) ?? (await findInputFile(item, source, label));
		files.set(source, file);
		await checkFile(media, file);
		return file;
	};
	return (await replaceEach(input, Media, find)) as Record<string, unknown>;
}

async function checkFile({ label, source, limits }: Media, file: InputFile): Promise<void> {
	if (!limits) return;
	const refused = checkLimits(limits, await file.inspect(), file.size);
	if (refused.length)
		throw buildFieldError(
			`'${label}' can't be used: the file in "${source}" ${refused.join(', and it ')}`,
			'Give a file within the limits, then run the node again.',
		);
}
