import type { IBinaryData } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import type { RequestSettings } from '../../api/exchange';
import type { UploadedFile } from '../../api/schemas';
import { makeUniqueName } from '../../lib/fileName';
import { isPlainObject } from '../../lib/json';
import type { MediaFacts, MediaLimits } from '../../media/inspect';
import type { Chunks } from '../../media/reader';
import { meansMedia } from '../../models/schema';
import { buildFieldError, FileToSend, type FileUse } from '../../models/values';

/** What sends a file. */
interface Sender {
	service: TaskService;
	settings: RequestSettings;
}

/** Where a file is, and what n8n says of it. */
export interface FileSource {
	stored: Partial<Pick<IBinaryData, 'fileName' | 'mimeType' | 'fileExtension'>>;
	/** In bytes. */
	readSize: () => Promise<number>;
	open: () => Promise<Chunks>;
}

/** A file of an item. */
export class InputFile extends FileToSend {
	private facts?: Promise<MediaFacts | undefined>;
	private uploaded?: Promise<UploadedFile>;

	constructor(
		readonly field: string,
		private readonly source: FileSource,
	) {
		super();
	}

	/** Uploads it once, streamed from n8n's storage. Its type and extension come from its content. */
	async upload(sender: Sender): Promise<UploadedFile> {
		return await (this.uploaded ??= this.send(sender));
	}

	private async send({ service, settings }: Sender): Promise<UploadedFile> {
		const { stored, readSize, open } = this.source;
		const facts = await this.inspect();
		const media = /^(image|video)\//.test(facts?.mimeType ?? '') ? facts : undefined;
		const name = makeUniqueName(stored.fileName, media?.extension ?? stored.fileExtension);
		const mimeType = media?.mimeType ?? stored.mimeType ?? 'application/octet-stream';
		const file = { size: await readSize(), mimeType, chunks: await open() };
		return await service.upload(name, file, settings);
	}

	/** Reads facts from its bytes, once; undefined if its format is unknown. */
	private async inspect(): Promise<MediaFacts | undefined> {
		const { inspect } = await import('../../media/inspect');
		return await (this.facts ??= this.source.open().then(inspect));
	}

	async check({ label, name, schema }: FileUse): Promise<void> {
		const { limits, title = '' } = schema;
		if (!limits && !meansMedia(`${name} ${title}`)) return;
		const fault = await this.findFault(limits);
		if (!fault) return;
		throw buildFieldError(
			`'${label}' can't be used: the file in "${this.field}" ${fault}`,
			limits
				? 'Give a file within the limits, then run the node again.'
				: 'Look at the file in the output of the node that made it. A page or a message in place of a file often says why it could not be downloaded.',
		);
	}

	/** Says what is certainly wrong: with the limits, or that it is no picture, video or sound. */
	private async findFault(limits?: MediaLimits): Promise<string | undefined> {
		const size = await this.source.readSize();
		if (size === 0) return 'is empty';
		const facts = await this.inspect();
		const { findLimitFault } = await import('../../media/inspect');
		if (limits) return findLimitFault(limits, facts, size);
		return facts && ['html', 'txt'].includes(facts.extension) ? `is ${facts.name}` : undefined;
	}
}

/** Uploads the files in an input, one after the other. @returns the input, with URLs in their place */
export async function uploadFiles(
	sender: Sender,
	input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	const upload = async (value: unknown): Promise<unknown> => {
		if (value instanceof InputFile) return (await value.upload(sender)).url;
		if (Array.isArray(value)) {
			const entries: unknown[] = [];
			for (const entry of value) entries.push(await upload(entry));
			return entries;
		}
		return isPlainObject(value) ? await uploadFiles(sender, value) : value;
	};
	const entries: Array<[string, unknown]> = [];
	for (const [name, value] of Object.entries(input)) entries.push([name, await upload(value)]);
	return Object.fromEntries(entries);
}
