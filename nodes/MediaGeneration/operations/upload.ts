import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { extensionOf } from '../media/formats';
import { FieldError } from '../models/field';
import type { RequestSettings, TaskService } from '../service/client';
import type { UploadedFile } from '../service/contract';
import type { BinaryFile } from './binary';

/** From this size on, in bytes, the progress of an upload is shown. */
const SHOWN_FROM = 10 * 1024 * 1024;

/** A file name that no other upload has: the service overwrites a file of the same name. */
export function uniqueName(name = '', extension = ''): string {
	const dot = name.lastIndexOf('.');
	const stem = (dot > 0 ? name.slice(0, dot) : name).replace(/[^\w-]+/g, '-').slice(0, 60);
	const ending = extension || (dot > 0 ? name.slice(dot + 1) : '');
	const suffix = /^[a-z\d]{1,10}$/i.test(ending) ? `.${ending.toLowerCase()}` : '';
	return `${stem || 'file'}-${randomUUID()}${suffix}`;
}

/** Uploads the file of a binary field, streamed from n8n's storage; its type and extension are those of its content. */
export async function uploadBinary(
	context: IExecuteFunctions,
	service: TaskService,
	file: BinaryFile,
	settings: RequestSettings,
): Promise<UploadedFile> {
	const facts = await file.inspect();
	const { extension, mimeType } =
		facts && facts.kind !== 'other'
			? { extension: extensionOf(facts.format), mimeType: facts.mimeType }
			: file;
	const chunks = await file.open();
	return await service.upload(
		uniqueName(file.name, extension),
		{ size: file.size, mimeType, chunks: withProgress(context, file, chunks) },
		settings,
	);
}

/** n8n shows what a node has to say while it runs in the browser's console, in manual runs. */
async function* withProgress(
	context: IExecuteFunctions,
	{ name = 'file', size }: BinaryFile,
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
	let sent = 0;
	let shown = 0;
	for await (const chunk of chunks) {
		yield chunk;
		sent += chunk.length;
		const tenth = Math.floor((sent / size) * 10);
		if (size >= SHOWN_FROM && tenth > shown) {
			shown = tenth;
			context.sendMessageToUI(`Uploading ${name}: ${tenth * 10} %`);
		}
	}
}

/** A name that stands for no file of the item. @param label the field that has the name */
export function noSuchFile(label: string, name: string, fields: string[]): FieldError {
	return new FieldError(
		`${label} is "${name}", which is neither a URL that begins with http:// or https:// nor a binary field of the item`,
		fields.length
			? `The item has these binary fields: ${fields.join(', ')}. Nothing was sent for this item.`
			: 'The item has no binary field: put a node before this one that reads or downloads the file. Nothing was sent for this item.',
	);
}
