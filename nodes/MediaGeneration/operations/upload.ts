import type { INodeProperties } from 'n8n-workflow';
import { makeUniqueName } from '../lib/fileName';
import { parseValue, type Field } from '../models/field';
import { webUrl } from '../models/commonFields';
import { optionsField, timeoutOption } from '../run/input/options';
import type { PlainOperation } from './operation';

const source: INodeProperties = {
	displayName: 'Source',
	name: 'source',
	type: 'options',
	options: [
		{ name: 'Field of the Item', value: 'binary' },
		{ name: 'URL', value: 'url' },
	],
	default: 'binary',
};

const fileField: Field = {
	displayName: 'File',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	displayOptions: { show: { source: ['binary'] } },
	// Takes a URL too, as the models' fields for files do.
	send: { schema: webUrl },
};

const fileUrl: Field = {
	displayName: 'File URL',
	name: 'fileUrl',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. https://example.com/photo.png',
	description: 'It must be reachable from the internet',
	displayOptions: { show: { source: ['url'] } },
	send: { schema: webUrl },
};

export const uploadOperation: PlainOperation = {
	resource: 'file',
	value: 'upload',
	name: 'Upload',
	action: 'Upload a file',
	description: 'Upload a file, and get a URL that models take, usually for 24 hours',
	fields: [source, fileField, fileUrl, optionsField([timeoutOption])],
	prepare: async (item) => {
		const { read, service, settings } = item;
		const field = read(source.name) === 'url' ? fileUrl : fileField;
		const { readOneFile } = await import('../run/input/request');
		const file = readOneFile(item, field);
		if (typeof file !== 'string') return async () => [{ json: await file.upload(item) }];
		const url = parseValue(field, file) as string;
		const name = makeUniqueName(new URL(url).pathname.split('/').at(-1));
		return async () => [{ json: await service.upload(name, url, settings) }];
	},
};
