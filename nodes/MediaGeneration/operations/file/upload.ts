import type { INodeProperties } from 'n8n-workflow';
import { valueOf, webUrl, type Field } from '../../models/field';
import { binaryFieldsOf, binaryFile, type BinaryFile } from '../binary';
import { defineOperation, eachItem, optionsField, timeoutOption } from '../operation';
import { noSuchFile, uniqueName, uploadBinary } from '../upload';

const source: INodeProperties = {
	displayName: 'Source',
	name: 'source',
	type: 'options',
	options: [
		{ name: 'Binary Field', value: 'binary', description: 'A file that the item carries' },
		{ name: 'URL', value: 'url', description: 'A file that the service fetches by itself' },
	],
	default: 'binary',
};

const binaryPropertyName: Field = {
	displayName: 'Input Binary Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'The name of the input binary field containing the file to be uploaded',
	displayOptions: { show: { source: ['binary'] } },
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
	send: { shape: webUrl },
};

export const upload = defineOperation({
	resource: 'file',
	value: 'upload',
	name: 'Upload',
	action: 'Upload file',
	description:
		'Upload a file to the service, and get a URL that models take; it is kept for some days',
	fields: [source, binaryPropertyName, fileUrl, optionsField([timeoutOption])],
	check: async ({ index, read, context }) => {
		if (read(source.name) === 'url') return { url: valueOf(fileUrl, read(fileUrl.name)) as string };
		const field = valueOf(binaryPropertyName, read(binaryPropertyName.name)) as string;
		const file = await binaryFile(context, index, field);
		if (!file)
			throw noSuchFile(binaryPropertyName.displayName, field, binaryFieldsOf(context, index));
		return { file };
	},
	run: eachItem<{ url: string } | { file: BinaryFile }>(async ({ item, checked }, service) => ({
		json:
			'url' in checked
				? await service.uploadFromUrl(
						uniqueName(new URL(checked.url).pathname.split('/').at(-1)),
						checked.url,
						item.settings,
					)
				: await uploadBinary(item.context, service, checked.file, item.settings),
	})),
});
