import { LINK_KINDS } from '../api/resultLinks';
import { parseValue, type Field } from '../models/field';
import { optionsField, timeoutOption } from '../run/input/options';
import { defineOperation, runEach } from './operation';
import { toTaskItems } from '../run/files/fileItems';
import {
	binaryPropertyName,
	maxSizeOption,
	outputItems,
	readMaxBytes,
	readPerFile,
	readTaskId,
	taskIdField,
} from './sharedFields';

const files: Field = {
	displayName: 'Files',
	name: 'files',
	type: 'multiOptions',
	options: Object.entries(LINK_KINDS).map(([value, name]) => ({ name, value })),
	default: ['result'],
	required: true,
	description:
		'Which files of the task to download. Previews are covers, first and last frames, and versions with a watermark.',
};

interface DownloadRequest {
	taskId: string;
	kinds: string[];
	field: string;
	perFile: boolean;
	maxBytes: number;
}

export const getFiles = defineOperation<DownloadRequest>({
	resource: 'task',
	value: 'getFiles',
	name: 'Get Files',
	action: 'Download a video or image',
	description: 'Retrieve the files of a completed task',
	fields: [
		taskIdField,
		files,
		binaryPropertyName,
		optionsField([maxSizeOption, outputItems, timeoutOption]),
	],
	prepare: (item) => ({
		taskId: readTaskId(item),
		kinds: item.read(files.name) as string[],
		field: parseValue(binaryPropertyName, item.read(binaryPropertyName.name)) as string,
		perFile: readPerFile(item.option),
		maxBytes: readMaxBytes(item.option),
	}),
	async run(prepared, call) {
		const { Files, listFiles } = await import('../run/files/downloads');
		const files = new Files();
		return await runEach<DownloadRequest>(
			async ({ index, service, settings }, { taskId, kinds, field, perFile, maxBytes }) => {
				const task = await service.getTask(taskId, settings);
				const links = listFiles(task, kinds);
				// Without an execution, n8n has no place for files.
				if (!call.kept) return links.map((file) => ({ json: { ...task, file } }));
				const getService = async () => service;
				const wanted = { call, settings, getService, links, maxBytes, item: index };
				const all = await files.downloadAll(task, wanted);
				for (const { error } of all) if (error) throw error;
				return toTaskItems(task, { perFile, field }, all);
			},
		)(prepared, call);
	},
});
