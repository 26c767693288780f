import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import type { UploadedFile } from '../../api/answers';
import { makeUniqueName } from '../../lib/fileName';
import type { InspectedFile, FileLimits } from '../../media/inspect';
import type { Chunks } from '../../media/reader';
import { meansPictureOrSound } from '../../models/schema';
import { buildFieldError, FileToSend, type FileUse } from '../../models/values';
import type { Item } from './item';

/** Why a file is no picture, video or sound, by its extension. */
const TEXT_FAULTS: Partial<Record<string, string>> = {
	html: 'is a web page',
	txt: 'is a text file',
};

/** A file of an item, or of a data URI. */
export class InputFile extends FileToSend {
	private facts?: Promise<InspectedFile | undefined>;
	private uploaded?: Promise<UploadedFile>;

	constructor(
		readonly field: string,
		/** What n8n stores of the file: an ID by which the bytes are found, or the bytes in Base64. */
		readonly stored: IBinaryData,
		private readonly helpers: IExecuteFunctions['helpers'],
	) {
		super();
	}

	private async readSize() {
		const { id } = this.stored;
		return id ? (await this.helpers.getBinaryMetadata(id)).fileSize : this.decode().length;
	}

	private async open(): Promise<Chunks> {
		const { id } = this.stored;
		return id ? await this.helpers.getBinaryStream(id) : [this.decode()];
	}

	private decode() {
		return Buffer.from(this.stored.data, 'base64');
	}

	/** Reads facts from the bytes, once; undefined if the format is unknown. */
	private async inspect() {
		const { inspect } = await import('../../media/inspect');
		return await (this.facts ??= this.open().then(inspect));
	}

	async check({ label, name, schema }: FileUse): Promise<void> {
		const { limits } = schema;
		if (!limits && !meansPictureOrSound(name)) return;
		const fault = await this.findFault(limits);
		if (!fault) return;
		throw buildFieldError(
			`'${label}' can't be used: the file in "${this.field}" ${fault}`,
			'Look at the file in the output of the node that made it.',
		);
	}

	/** Finds what is certainly wrong: a limit is exceeded, or the file is no picture, video or sound. */
	private async findFault(limits?: FileLimits) {
		const size = await this.readSize();
		if (size === 0) return 'is empty';
		const facts = await this.inspect();
		const { findLimitFault } = await import('../../media/inspect');
		if (limits) return findLimitFault(limits, facts, size);
		return facts && TEXT_FAULTS[facts.extension];
	}

	/** Uploads the file once, streamed from n8n's storage. */
	async upload(item: Item): Promise<UploadedFile> {
		return await (this.uploaded ??= this.send(item));
	}

	private async send({ service, settings }: Item) {
		const { fileName, fileExtension, mimeType } = this.stored;
		const facts = await this.inspect();
		// The content of a picture or video says its type. Of any other file, n8n's own facts count.
		const media = /^(image|video)\//.test(facts?.mimeType ?? '') ? facts : undefined;
		const name = makeUniqueName(fileName, media?.extension ?? fileExtension);
		const type = media?.mimeType ?? mimeType;
		const file = { size: await this.readSize(), mimeType: type, chunks: await this.open() };
		return await service.upload(name, file, settings);
	}
}

/** Uploads the files in a value, one after the other. @returns the value, with URLs in place of files */
export async function uploadFiles<Value>(item: Item, value: Value): Promise<Value> {
	if (value instanceof InputFile) return (await value.upload(item)).url as Value;
	if (typeof value !== 'object' || value === null) return value;
	const pairs: Array<[string, unknown]> = [];
	for (const [name, part] of Object.entries(value))
		pairs.push([name, await uploadFiles<unknown>(item, part)]);
	const isList = Array.isArray(value);
	return (isList ? pairs.map(([, part]) => part) : Object.fromEntries(pairs)) as Value;
}
