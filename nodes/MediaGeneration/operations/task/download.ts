import { UserError, type IDataObject, type INodeProperties } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { parseValue, type Field } from '../../models/field';
import {
	defineOperation,
	optionsField,
	readNumberOption,
	runEach,
	timeoutOption,
	type Item,
	type OutputItem,
} from '../operation';
import type { DownloadedFile } from './downloadFile';
import { readTaskId, taskIdField } from './get';

/** The kinds of files that a task's result links to, and the key of each. */
const RESULT_KINDS = [
	{ name: 'First Frame', value: 'firstFrame', key: 'firstFrameUrl' },
	{ name: 'Last Frame', value: 'lastFrame', key: 'lastFrameUrl' },
	{ name: 'Result', value: 'result', key: 'resultUrls' },
	{ name: 'Result With Watermark', value: 'watermarked', key: 'resultWaterMarkUrls' },
];

const files: Field = {
	displayName: 'Files',
	name: 'files',
	type: 'multiOptions',
	options: RESULT_KINDS.map(({ name, value }) => ({ name, value })),
	default: ['result'],
	required: true,
	description: 'Which files of the task to download; each becomes an item of its own',
};

const binaryPropertyName: Field = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'The name of the output binary field to put the file in',
};

const maxSizeOption: INodeProperties = {
	displayName: 'Maximum File Size (MB)',
	name: 'maxSizeMegabytes',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 2048,
	description: 'How many megabytes a file may have; 0 sets no limit',
};

interface DownloadRequest {
	taskId: string;
	kinds: string[];
	field: string;
	maxBytes: number;
}

export const download = defineOperation<DownloadRequest>({
	resource: 'task',
	value: 'download',
	name: 'Download',
	action: 'Download files of a task',
	description: 'Get the files of a completed task as binary data',
	fields: [taskIdField, files, binaryPropertyName, optionsField([maxSizeOption, timeoutOption])],
	prepare: (item) => ({
		taskId: readTaskId(item),
		kinds: item.read(files.name) as string[],
		field: parseValue(binaryPropertyName, item.read(binaryPropertyName.name)) as string,
		maxBytes: readNumberOption(item.option, maxSizeOption) * 1024 * 1024 || Infinity,
	}),
	run: runEach(async (item, request) => {
		const results = new TaskResults(item, request);
		const output: OutputItem[] = [];
		for (const { kind, index } of await results.listLinks()) {
			const { binary, ...file } = await results.download(kind, index);
			const task = (await results.getTask()) as unknown as IDataObject;
			output.push({
				json: { ...task, file: { kind, ...file } },
				binary: { [request.field]: binary },
			});
		}
		return output;
	}),
});

interface ResultLink {
	kind: string;
	/** Among those of its kind, from 0. */
	index: number;
	url: string;
}

/**
 * The result files of a task. Its links come from the service alone: an item that looks like a task may come from anybody, and
 * its links could name any address in this network. A link that is refused is asked for anew, once for all files.
 */
class TaskResults {
	private task?: Task;
	private isFresh = false;

	constructor(
		private readonly item: Item,
		private readonly request: DownloadRequest,
	) {}

	async getTask(): Promise<Task> {
		const { service, settings } = this.item;
		return (this.task ??= await service.getTask(this.request.taskId, settings));
	}

	/** @throws {UserError} when the task has no such files */
	async listLinks(): Promise<ResultLink[]> {
		const task = await this.getTask();
		const { taskId, status, state, failMessage } = task;
		if (status !== 'completed')
			throw new UserError(
				`Task ${taskId} has no files: its status is ${status}${state ? ` (${state})` : ''}${failMessage ? `: ${failMessage}` : ''}`,
				{
					description:
						status === 'failed'
							? 'A failed task has no result. Check the prompt and the media, and create a new one.'
							: 'Download it when it is completed: Create and Wait returns completed tasks, Get looks at one again.',
				},
			);
		const links = readLinks(task, this.request.kinds);
		if (links.length === 0)
			throw new UserError(`Task ${taskId} is completed, but has none of the chosen files`, {
				description: 'Choose other Files, or look at the field result that Get returns.',
			});
		return links;
	}

	async download(kind: string, index: number): Promise<DownloadedFile> {
		const link = (await this.listLinks()).find((one) => one.kind === kind && one.index === index);
		const { taskId, maxBytes } = this.request;
		const name = `${taskId}-${kind}-${index + 1}`;
		const { downloadFile } = await import('./downloadFile');
		const file = link && (await downloadFile(this.item, { url: link.url, name, maxBytes }));
		if (file) return file;
		if (this.isFresh)
			throw new UserError(
				`The link to ${kind} ${index + 1} of task ${taskId} has expired or is refused, also after the service was asked for a fresh one`,
				{
					description:
						'The service keeps results for a limited time. Download them sooner, right behind Create and Wait or the trigger.',
				},
			);
		this.isFresh = true;
		this.task = undefined;
		return await this.download(kind, index);
	}
}

/** Reads a task's links of these kinds. A link that stands alone counts as a list of one. */
export function readLinks({ result, resultUrls }: Task, kinds: string[]): ResultLink[] {
	const record = { resultUrls, ...(result as Record<string, unknown> | undefined) };
	return RESULT_KINDS.filter(({ value }) => kinds.includes(value)).flatMap(({ value: kind, key }) =>
		[record[key as keyof typeof record]]
			.flat()
			.filter((url): url is string => typeof url === 'string' && url !== '')
			.map((url, index) => ({ kind, index, url })),
	);
}
