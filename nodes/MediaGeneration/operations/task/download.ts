import type { IBinaryKeyData, IDataObject, INodeProperties } from 'n8n-workflow';
import { valueOf, type Field } from '../../models/field';
import type { TaskService } from '../../service/client';
import type { Task } from '../../service/task';
import {
	defineOperation,
	eachItem,
	numberOption,
	OperationError,
	optionsField,
	timeoutOption,
	type Item,
} from '../operation';
import type { FetchedFile } from './fetchFile';
import { taskIdField } from './get';
import { RESULT_KINDS, resultLinks, type ResultLink } from './resultLinks';

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

interface Checked {
	taskId: string;
	/** The task as the node before gave it out, if it did. */
	known?: Task;
	kinds: string[];
	field: string;
	maxBytes: number;
}

export const download = defineOperation({
	resource: 'task',
	value: 'download',
	name: 'Download',
	action: 'Download files of a task',
	description: 'Get the files of a completed task as binary data',
	fields: [taskIdField, files, binaryPropertyName, optionsField([maxSizeOption, timeoutOption])],
	check: ({ index, context, read, option }): Checked => {
		const taskId = (valueOf(taskIdField, read(taskIdField.name)) as string).trim();
		const json: IDataObject = context.getInputData()[index]?.json ?? {};
		const isTheTask = json.taskId === taskId && json.status === 'completed' && json.result;
		return {
			taskId,
			known: isTheTask ? (json as unknown as Task) : undefined,
			kinds: read(files.name) as string[],
			field: valueOf(binaryPropertyName, read(binaryPropertyName.name)) as string,
			maxBytes: numberOption(option, maxSizeOption) * 1024 * 1024 || Infinity,
		};
	},
	run: eachItem<Checked>(async ({ item, checked }, service) => {
		const source = new Source(item, checked, service);
		const items: Array<{ json: IDataObject; binary: IBinaryKeyData }> = [];
		for (const { kind, index } of await source.links()) {
			const { binary, ...file } = await source.file(kind, index);
			items.push({
				json: { ...((await source.task()) as unknown as IDataObject), file: { kind, ...file } },
				binary: { [checked.field]: binary },
			});
		}
		return { items };
	}),
});

/** A task and its files; a link that is refused is asked for anew, once for all of them. */
class Source {
	private current?: Task;
	private isFresh = false;

	constructor(
		private readonly item: Item,
		private readonly checked: Checked,
		private readonly service: TaskService,
	) {
		this.current = checked.known;
	}

	async task(): Promise<Task> {
		return (this.current ??= await this.service.getTask(this.checked.taskId, this.item.settings));
	}

	/** @throws {OperationError} when the task has no files to give */
	async links(): Promise<ResultLink[]> {
		const task = await this.task();
		const { taskId, status, state, failMessage } = task;
		if (status !== 'completed')
			throw new OperationError(
				`Task ${taskId} has no files: its status is ${status}${state ? ` (${state})` : ''}${failMessage ? `: ${failMessage}` : ''}`,
				status === 'failed'
					? 'A failed task has no result. Look at the prompt and the media, and create a new one.'
					: 'Download it when it is completed: Create and Wait gives out completed tasks, Get looks at one again.',
			);
		const links = resultLinks(task, this.checked.kinds);
		if (links.length === 0)
			throw new OperationError(
				`Task ${taskId} is completed, but has none of the chosen files`,
				'Choose other Files, or look at the field result that Get gives out.',
			);
		return links;
	}

	async file(kind: string, index: number): Promise<FetchedFile> {
		const link = (await this.links()).find((one) => one.kind === kind && one.index === index);
		const { taskId, maxBytes } = this.checked;
		const name = `${taskId}-${kind}-${index + 1}`;
		const { fetchFile } = await import('./fetchFile');
		const file = link && (await fetchFile(this.item, { url: link.url, name, maxBytes }));
		if (file) return file;
		if (this.isFresh)
			throw new OperationError(
				`The link to ${kind} ${index + 1} of task ${taskId} has expired or is refused, also after the service was asked for a fresh one`,
				'The service keeps results for a limited time. Download them sooner, right behind Create and Wait or the trigger.',
			);
		this.isFresh = true;
		this.current = await this.service.getTask(taskId, this.item.settings);
		return await this.file(kind, index);
	}
}
