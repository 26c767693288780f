import type { INodeProperties } from 'n8n-workflow';
import { optionsField, timeoutOption } from '../run/input/options';
import { defineOperation, runEach } from './operation';
import { toTaskItems } from '../run/files/fileItems';
import { outputItems, readPerFile, readTaskId, taskIdField } from './sharedFields';

const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

export const get = defineOperation<{ taskId: string; isSimple: boolean; perFile: boolean }>({
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
	run: runEach(async ({ service, settings }, { taskId, isSimple, perFile }) => {
		if (!isSimple) return [{ json: await service.getTaskRecord(taskId, settings) }];
		const task = await service.getTask(taskId, settings);
		return toTaskItems(task, { perFile });
	}),
});
