import type { INodeProperties } from 'n8n-workflow';
import { valueOf, type Field } from '../../models/field';
import { defineOperation, eachItem, optionsField, timeoutOption } from '../operation';

export const taskIdField: Field = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	default: '={{ $json.taskId }}',
	required: true,
	placeholder: 'e.g. 5f2c…',
	description: 'ID of the task. By default that of the task that the previous node gave out.',
};

const simplify: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

export const get = defineOperation({
	resource: 'task',
	value: 'get',
	name: 'Get',
	action: 'Get task',
	description: 'Look at how a task stands, and get its result once it is completed',
	fields: [taskIdField, simplify, optionsField([timeoutOption])],
	check: ({ read }) => (valueOf(taskIdField, read(taskIdField.name)) as string).trim(),
	run: eachItem<string>(async ({ item, checked }, service) => ({
		json:
			item.read(simplify.name) === false
				? await service.getTaskRecord(checked, item.settings)
				: await service.getTask(checked, item.settings),
	})),
});
