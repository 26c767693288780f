import type { INodeProperties } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { parseValue, type Field } from '../../models/field';
import { hasExecution } from '../nodeContext';
import { defineOperation, optionsField, runEach, timeoutOption, type Item } from '../operation';
import { toToolResult } from '../wait/toolResult';
import { splitByFile } from '../results/fileItems';
import { outputItems, readPerFile } from './outputItems';

export const taskIdField: Field = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	default: '={{ $json.taskId }}',
	required: true,
	placeholder: 'e.g. 5f2c…',
	description: 'ID of the task. By default that of the task that the previous node returned.',
};

export const readTaskId = ({ read }: Item): string =>
	(parseValue(taskIdField, read(taskIdField.name)) as string).trim();

const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

interface GetRequest {
	taskId: string;
	isSimple: boolean;
	perFile: boolean;
}

export const get = defineOperation<GetRequest>({
	resource: 'task',
	value: 'get',
	name: 'Get',
	action: 'Get the status of a video or image',
	description: 'Retrieve a task: its status and, once it has ended, its result',
	fields: [
		taskIdField,
		simplify,
		optionsField([
			{ ...outputItems, displayOptions: { show: { '/simplify': [true] } } },
			timeoutOption,
		]),
	],
	prepare: (item) => {
		const isSimple = item.read(simplify.name) !== false;
		return { taskId: readTaskId(item), isSimple, perFile: isSimple && readPerFile(item.option) };
	},
	run: runEach(async ({ context, service, settings }, { taskId, isSimple, perFile }) => {
		if (!isSimple) return [{ json: await service.getTaskRecord(taskId, settings) }];
		const task = await service.getTask(taskId, settings);
		const items = perFile ? splitByFile(task) : [{ json: task }];
		return hasExecution(context)
			? items
			: items.map(({ json }) => ({ json: toToolResult(json as Task, { linksOnly: true }) }));
	}),
});
