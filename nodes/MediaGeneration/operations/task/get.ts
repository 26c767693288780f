import { valueOf, type Field } from '../../models/field';
import { defineOperation, eachItem, optionsField, timeoutOption } from '../operation';

export const taskIdField: Field = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	default: '={{ $json.taskId }}',
	required: true,
	placeholder: 'e.g. 5f2c…',
	description: 'ID of the task. As it stands, that of the task which the node before gave out.',
};

export const get = defineOperation({
	resource: 'task',
	value: 'get',
	name: 'Get',
	action: 'Get task',
	description: 'Look at how a task stands, and get its result once it is completed',
	fields: [taskIdField, optionsField([timeoutOption])],
	check: ({ read }) => (valueOf(taskIdField, read(taskIdField.name)) as string).trim(),
	run: eachItem<string>(async ({ item, checked }, service) => ({
		json: await service.getTask(checked, item.settings),
	})),
});
