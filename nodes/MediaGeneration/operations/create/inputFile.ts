import type { IBinaryData, UserError } from 'n8n-workflow';
import type { UploadedFile } from '../../api/schemas';
import { getExtension, type MediaFacts } from '../../media/formats';
import type { Chunks } from '../../media/reader';
import { makeUniqueName } from '../../lib/fileName';
import { buildFieldError } from '../../models/field';
import { replaceEach } from '../../models/media';
import type { Item } from '../operation';

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
		return await (this.facts ??= this.readFacts());
	}

	/** Uploads it once, streamed from n8n's storage. Its type and extension come from its content. */
	async upload(item: Item): Promise<UploadedFile> {
		return await (this.uploaded ??= this.send(item));
	}

	private async send({ service, settings }: Item): Promise<UploadedFile> {
		const { fileName, mimeType, fileExtension } = this.stored;
		const facts = await this.inspect();
		const media = facts?.kind === 'other' ? undefined : facts;
		const name = makeUniqueName(fileName, media ? getExtension(media.format) : fileExtension);
		const file = { size: this.size, mimeType: media?.mimeType ?? mimeType };
		return await service.upload(name, { ...file, chunks: await this.open() }, settings);
	}

	/** Requests are told apart by their JSON. */
	toJSON(): string {
		return this.field;
	}

	private async readFacts(): Promise<MediaFacts | undefined> {
		const { inspect } = await import('../../media/inspect');
		return await inspect(await this.open());
	}
}

/** @param label the field of the panel that names the binary field. @throws {UserError} without it */
export async function findInputFile(item: Item, field: string, label: string): Promise<InputFile> {
	const { helpers } = item.context;
	let data: IBinaryData;
	try {
		data = helpers.assertBinaryData(item.index, field);
	} catch {
		throw buildNoFileError(label, field, listBinaryFields(item));
	}
	const { id } = data;
	if (!id) {
		const buffer = Buffer.from(data.data, 'base64');
		return new InputFile(field, data, buffer.length, async () => [buffer]);
	}
	const { fileSize } = await helpers.getBinaryMetadata(id);
	return new InputFile(field, data, fileSize, async () => await helpers.getBinaryStream(id));
}

const listBinaryFields = ({ context, index }: Item): string[] =>
	Object.keys(context.getInputData()[index]?.binary ?? {});

function buildNoFileError(label: string, name: string, fields: string[]): UserError {
	const remedy = fields.length
		? `The item has these binary fields: ${fields.join(', ')}.`
		: 'The item has no binary field: put a node before this one that reads or downloads the file.';
	return buildFieldError(
		`'${label}' is "${name}", which is neither a URL that begins with http:// or https:// nor a binary field of the item`,
		`${remedy} Nothing was sent for this item.`,
	);
}

/** Uploads the files in an input. @returns the input, with URLs in their place */
export const uploadFiles = async (item: Item, input: object): Promise<Record<string, unknown>> =>
	(await replaceEach(input, InputFile, async (file) => (await file.upload(item)).url)) as Record<
		string,
		unknown
	>;
