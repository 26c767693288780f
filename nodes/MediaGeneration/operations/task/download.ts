import { LINK_KINDS } from '../../api/resultLinks';
import { parseValue, type Field } from '../../models/field';
import { FileNames } from '../../lib/fileName';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { getNodeContext } from '../../host/execution';
import { CONCURRENCY, defineOperation, optionsField, runEach, timeoutOption } from '../operation';
import { toFileItems } from '../results/fileItems';
import { fitItem } from '../wait/toolResult';
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
	description: 'Which files of the task to download',
};

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
				// Without an execution, n8n has no place for files.
				if (!getNodeContext(context))
					return results
						.listLinks(kinds)
						.map(({ link }) => fitItem(context, { json: { ...task, file: link } }));
				const downloads = await results.downloadAll(kinds, maxBytes, inTurn);
				for (const { result } of downloads) if (result.status === 'rejected') throw result.reason;
				return toFileItems(task, downloads, {
					field,
					perFile,
					describe: ({ url, name, mimeType, size, seconds }) => ({
						url,
						name,
						mimeType,
						size,
						seconds,
					}),
				});
			},
		)(prepared, context);
	},
});
