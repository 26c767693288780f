import type { INodeProperties } from 'n8n-workflow';
import { LINK_KINDS } from '../../api/resultLinks';
import { parseValue, type Field } from '../../models/field';
import { FileNames } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { hasExecution } from '../nodeContext';
import {
	CONCURRENCY,
	defineOperation,
	optionsField,
	readNumberOption,
	runEach,
	timeoutOption,
	type Item,
} from '../operation';
import { nameBinaryField, toFileFacts } from '../results/fileItems';
import type { ResultFile } from '../results/resultFiles';
import { readTaskId, taskIdField } from './get';
import { toToolResult } from '../wait/toolResult';
import { outputItems, readPerFile } from './outputItems';

const files: Field = {
	displayName: 'Files',
	name: 'files',
	type: 'multiOptions',
	options: Object.entries(LINK_KINDS).map(([value, name]) => ({ name, value })),
	default: ['result'],
	required: true,
	description: 'Which files of the task to download',
};

export const binaryPropertyName: Field = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'The name of the output binary field to put the file in',
};

export const maxSizeOption: INodeProperties = {
	displayName: 'Maximum File Size (MB)',
	name: 'maxSizeMegabytes',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1_000_000 },
	default: 2048,
	description: 'How many megabytes a file may have; 0 sets no limit',
};

/** Reads the limit of a file's size, in bytes. */
export const readMaxBytes = (option: Item['option']): number =>
	readNumberOption(option, maxSizeOption) * 1024 * 1024 || Infinity;

interface DownloadRequest {
	taskId: string;
	kinds: string[];
	field: string;
	perFile: boolean;
	maxBytes: number;
}

export const download = defineOperation<DownloadRequest>({
	resource: 'task',
	value: 'download',
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
	async run(prepared, context) {
		const { ResultFiles, toFileSource } = await import('../results/resultFiles');
		// The limit is for the files of all items together.
		const inTurn = limitConcurrency(CONCURRENCY);
		const names = new FileNames();
		return await runEach<DownloadRequest>(
			async (item, { taskId, kinds, field, perFile, maxBytes }) => {
				const task = await item.service.getTask(taskId, item.settings);
				const results = new ResultFiles(task, toFileSource(item), names);
				const found = results.listLinks(kinds);
				// Without an execution, n8n has no place for files.
				if (!hasExecution(context))
					return found.map(({ link }) => ({
						json: { ...toToolResult(task, { linksOnly: true }), file: link },
					}));
				const downloads = await Promise.allSettled(
					found.map(
						async (file) => await inTurn(async () => await results.download(file, maxBytes)),
					),
				);
				const files = downloads.map((download) => {
					if (download.status === 'rejected') throw download.reason;
					return download.value;
				});
				if (perFile)
					return files.map(({ binary, ...file }, index) => ({
						json: {
							...task,
							file: { ...toFileFacts((found[index] as ResultFile).link, index), ...file },
						},
						binary: { [field]: binary },
					}));
				const binary = files.map(
					(file, index) => [nameBinaryField(field, index), file.binary] as const,
				);
				return [{ json: task, binary: Object.fromEntries(binary) }];
			},
		)(prepared, context);
	},
});
