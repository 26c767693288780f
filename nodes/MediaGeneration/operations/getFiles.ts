import { LINK_KINDS } from '../api/task';
import type { Field } from '../models/field';
import { optionsField, timeoutOption } from '../run/input/options';
import type { PlainOperation } from './operation';
import {
	outputFileField,
	maxSizeOption,
	outputItems,
	readMaxBytes,
	readPerFile,
	readTaskId,
	readTextField,
	taskIdField,
} from './sharedFields';

const files: Field = {
	displayName: 'Files',
	name: 'files',
	type: 'multiOptions',
	options: Object.entries(LINK_KINDS).map(([value, name]) => ({ name, value })),
	default: ['result'],
	required: true,
	description: 'Previews are covers, first and last frames, and versions with a watermark',
};

export const getFilesOperation: PlainOperation = {
	resource: 'task',
	value: 'getFiles',
	name: 'Get Files',
	action: 'Get the files of a video or image',
	description: 'Retrieve the files of a completed task',
	fields: [
		taskIdField,
		files,
		outputFileField,
		optionsField([maxSizeOption, outputItems, timeoutOption]),
	],
	prepare: (item) => {
		const { call, index, service, settings, option } = item;
		const taskId = readTaskId(item);
		const kinds = item.read(files.name) as string[];
		const target = { field: readTextField(item, outputFileField), perFile: readPerFile(option) };
		const maxBytes = readMaxBytes(option);
		return async () => {
			const { Downloads, listFileLinks, toTaskItems } = await import('../run/files/taskFiles');
			const task = await service.getTask(taskId, settings);
			const links = listFileLinks(task, kinds);
			// Without an execution, n8n has no place for files.
			if (!call.nodeContext) return links.map((file) => ({ json: { ...task, file } }));
			const getService = async () => service;
			const wanted = { call, settings, getService, links, maxBytes, item: index };
			const taskFiles = await new Downloads().downloadAll(task, wanted);
			for (const { error } of taskFiles) if (error) throw error;
			return toTaskItems(task, target, taskFiles);
		};
	},
};
