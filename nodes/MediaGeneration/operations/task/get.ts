import { valueOf, type Field } from '../../models/field';
import { defineOperation, eachItem, optionsField, timeoutOption } from '../operation';

export const taskIdField: Field = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.taskId }}',
	description: 'ID of the task, as Create gave it out',
};

export const get = defineOperation({
	resource: 'task',
	value: 'get',
	name: 'Get',
	action: 'Get task',
	description: 'Look at how a task stands, and get its result once it is completed',
	fields: [taskIdField, optionsField([timeoutOption])],
	check: ({ read }) => (valueOf(taskIdField, read(taskIdField.name)) as string).trim(),
	run: eachItem<string>(
		async ({ item, checked }, service) => await service.getTask(checked, item.settings),
	),
});
