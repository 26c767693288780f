import type { INodeProperties } from 'n8n-workflow';
import { makeUniqueName } from '../lib/fileName';
import { webUrl } from '../models/commonFields';
import { parseValue, type Field } from '../models/field';
import type { InputFile } from '../run/input/inputFile';
import type { Item } from '../run/input/item';
import { optionsField, timeoutOption } from '../run/input/options';
import { defineOperation, runEach } from './operation';

const source: INodeProperties = {
	displayName: 'Source',
	name: 'source',
	type: 'options',
	options: [
		{ name: 'Field of the Item', value: 'binary', description: 'A file that the item has' },
		{ name: 'URL', value: 'url', description: 'A file that the service fetches by itself' },
	],
	default: 'binary',
};

const binaryPropertyName: Field = {
	displayName: 'File',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'A field such as data',
	displayOptions: { show: { source: ['binary'] } },
	send: { schema: webUrl },
};

const fileUrl: Field = {
	displayName: 'File URL',
	name: 'fileUrl',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. https://example.com/photo.png',
	description: 'Where the service fetches the file; it must be reachable from the internet',
	displayOptions: { show: { source: ['url'] } },
	send: { schema: webUrl },
};

/** @throws {UserError} if the field has neither a link nor the name of a file */
async function readFile(
	{ call, index, read }: Item,
	field: Field,
): Promise<{ url: string } | { file: InputFile }> {
	const { readOneFile } = await import('../run/input/oneFile');
	const found = readOneFile(call.context, index, field, read(field.name));
	if (typeof found !== 'string') return { file: found };
	return { url: parseValue(field, found) as string };
}

export const upload = defineOperation<{ url: string } | { file: InputFile }>({
	resource: 'file',
	value: 'upload',
	name: 'Upload',
	action: 'Upload a file',
	description:
		'Upload a file to the service, and get a URL that models take; it usually lasts 24 hours',
	fields: [source, binaryPropertyName, fileUrl, optionsField([timeoutOption])],
	prepare: async (item) => {
		const isUrl = item.read(source.name) === 'url';
		return await readFile(item, isUrl ? fileUrl : binaryPropertyName);
	},
	run: runEach(async (item, request) => {
		if ('file' in request) return [{ json: await request.file.upload(item) }];
		const { url } = request;
		const name = makeUniqueName(new URL(url).pathname.split('/').at(-1));
		return [{ json: await item.service.uploadFromUrl(name, url, item.settings) }];
	}),
});
