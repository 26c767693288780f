import { optionsField, timeoutOption } from '../run/input/options';
import { defineOperation } from './operation';
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
	async run(prepared, call) {
		const [first] = prepared;
		if (!first) return [];
		const { wait } = await import('../run/wait');
		const known = prepared.map(({ item, request: taskId }) => ({ item, taskId }));
		return await wait(call, known, readWaitSettings(first.item));
	},
});
