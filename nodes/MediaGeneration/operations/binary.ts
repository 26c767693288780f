import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import type { MediaFacts } from '../media/facts';

/** A file in a binary field of an item. */
export interface BinaryFile {
	name?: string;
	/** As n8n has it. */
	mimeType: string;
	extension?: string;
	/** In bytes. */
	size: number;
	/** Its bytes from the beginning, in chunks. */
	open: () => Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>>;
	/** What its own bytes say of it; undefined: nothing that is known. */
	inspect: () => Promise<MediaFacts | undefined>;
}

/** The file in a binary field; undefined when the item has no such field. */
export async function binaryFile(
	{ helpers }: IExecuteFunctions,
	itemIndex: number,
	field: string,
): Promise<BinaryFile | undefined> {
	let data: IBinaryData;
	try {
		data = helpers.assertBinaryData(itemIndex, field);
	} catch {
		return undefined;
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
			const { inspect } = await import('../media/inspect');
			return await inspect(await open());
		},
	};
}

/** The names of the binary fields that an item has. */
export const binaryFieldsOf = (context: IExecuteFunctions, itemIndex: number): string[] =>
	Object.keys(context.getInputData()[itemIndex]?.binary ?? {});
