import { newTask } from '../api/task';
import { defineOperation, optionsField, timeoutOption } from './operation';
import { readTaskId, taskIdField } from './sharedFields';
import { readWaitSettings, waitOptions } from './waitOptions';

export const wait = defineOperation<string>({
	resource: 'task',
	value: 'wait',
	name: 'Wait',
	action: 'Wait for a task',
	description: 'Wait for an existing task, given its ID, and continue with it when it is finished',
	fields: [taskIdField, optionsField([...waitOptions, timeoutOption])],
	prepare: readTaskId,
	async run(prepared, context) {
		const [first] = prepared;
		if (!first) return [];
		const { waitForIds } = await import('../run/wait');
		const works = prepared.map(({ item: { index, service }, request: taskId }) => ({
			index,
			getService: async () => service,
			task: newTask(taskId),
			elsewhere: true,
		}));
		return await waitForIds(context, works, readWaitSettings(first.item));
	},
});
