import { randomUUID } from 'crypto';
import type { IBinaryData, UserError } from 'n8n-workflow';
import type { UploadedFile } from '../../api/schemas';
import { getExtension, type MediaFacts } from '../../media/formats';
import { toFileName } from '../../lib/fileName';
import { buildFieldError } from '../../models/field';
import type { Item } from '../operation';

/** A file in a binary field of an item. */
export interface InputFile {
	name?: string;
	/** As n8n stores it. */
	mimeType: string;
	extension?: string;
	/** In bytes. */
	size: number;
	/** Opens its bytes from the beginning, in chunks. */
	open: () => Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>>;
	/** Reads facts from its bytes; undefined if its format is unknown. */
	inspect: () => Promise<MediaFacts | undefined>;
}

/**
 * Finds the file in a binary field of an item.
 * @param label the field of the panel that names the binary field
 * @throws {UserError} when the item has no such field; the error lists the fields that it has
 */
export async function findInputFile(item: Item, field: string, label: string): Promise<InputFile> {
	const { helpers } = item.context;
	let data: IBinaryData;
	try {
		data = helpers.assertBinaryData(item.index, field);
	} catch {
		throw buildNoFileError(label, field, listBinaryFields(item));
	}
	const { id, fileName: name, mimeType, fileExtension: extension } = data;
	const buffer = id ? undefined : Buffer.from(data.data, 'base64');
	const size = buffer?.length ?? (await helpers.getBinaryMetadata(id as string)).fileSize;
	const open = async () => (buffer ? [buffer] : await helpers.getBinaryStream(id as string));
	return {
		name,
		mimeType,
		extension,
		size,
		open,
		inspect: async () => {
			const { inspect } = await import('../../media/inspect');
			return await inspect(await open());
		},
	};
}

export const listBinaryFields = ({ context, index }: Item): string[] =>
	Object.keys(context.getInputData()[index]?.binary ?? {});

function buildNoFileError(label: string, name: string, fields: string[]): UserError {
	return buildFieldError(
		`'${label}' is "${name}", which is neither a URL that begins with http:// or https:// nor a binary field of the item`,
		fields.length
			? `The item has these binary fields: ${fields.join(', ')}. Nothing was sent for this item.`
			: 'The item has no binary field: put a node before this one that reads or downloads the file. Nothing was sent for this item.',
	);
}

/** Uploads a file, streamed from n8n's storage. Its type and extension come from its content. */
export async function uploadInputFile(
	{ context, service, settings }: Item,
	file: InputFile,
): Promise<UploadedFile> {
	const facts = await file.inspect();
	const { extension, mimeType } =
		facts && facts.kind !== 'other'
			? { extension: getExtension(facts.format), mimeType: facts.mimeType }
			: file;
	const showProgress = (percent: number) =>
		context.sendMessageToUI(`Uploading ${file.name ?? 'file'}: ${percent} %`);
	return await service.upload(
		makeUniqueName(file.name, extension),
		{ size: file.size, mimeType, chunks: countChunks(await file.open(), file.size, showProgress) },
		settings,
	);
}

/** Makes a unique file name, because a service may overwrite a file of the same name. */
export function makeUniqueName(name = '', extension = ''): string {
	const dot = name.lastIndexOf('.');
	const stem = toFileName(dot > 0 ? name.slice(0, dot) : name);
	const ending = extension || (dot > 0 ? name.slice(dot + 1) : '');
	const suffix = /^[a-z\d]{1,10}$/i.test(ending) ? `.${ending.toLowerCase()}` : '';
	return `${stem}-${randomUUID()}${suffix}`;
}

/** Progress is shown for files from this size on, in bytes, in the browser's console of manual runs. */
const SHOWN_FROM = 10 * 1024 * 1024;

async function* countChunks(
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
	size: number,
	showProgress: (percent: number) => void,
): AsyncGenerator<Uint8Array> {
	let sent = 0;
	let shown = 0;
	for await (const chunk of chunks) {
		yield chunk;
		sent += chunk.length;
		const tenth = Math.floor((sent / size) * 10);
		if (size >= SHOWN_FROM && tenth > shown) {
			shown = tenth;
			showProgress(tenth * 10);
		}
	}
}
