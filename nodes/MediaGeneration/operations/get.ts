import type { INodeProperties } from 'n8n-workflow';
import { optionsField, timeoutOption } from '../run/input/options';
import type { PlainOperation } from './operation';
import { outputItems, readPerFile, readTaskId, taskIdField } from './sharedFields';

const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

const whenSimple = { show: { '/simplify': [true] } };

export const getOperation: PlainOperation = {
	resource: 'task',
	value: 'get',
	name: 'Get',
	action: 'Get the status of a video or image',
	description: 'Retrieve a task: its status and, once it has ended, its result',
	fields: [
		taskIdField,
		simplify,
		optionsField([{ ...outputItems, displayOptions: whenSimple }, timeoutOption]),
	],
	prepare: (item) => {
		const { service, settings, option } = item;
		const taskId = readTaskId(item);
		if (item.read(simplify.name) === false)
			return async () => [{ json: await service.getTaskRecord(taskId, settings) }];
		const perFile = readPerFile(option);
		return async () => {
			const { toTaskItems } = await import('../run/files/taskFiles');
			return toTaskItems(await service.getTask(taskId, settings), { perFile });
		};
	},
};
