import { optionsField, timeoutOption } from '../run/input/options';
import type { AwaitedTask } from '../run/wait';
import type { PlainOperation } from './operation';
import { readTaskId, readWaitSettings, taskIdField, waitOptions } from './sharedFields';

export const waitOperation: PlainOperation<AwaitedTask> = {
	resource: 'task',
	value: 'wait',
	name: 'Wait',
	action: 'Wait for a task',
	description: 'Wait for an existing task, and continue with it when it is finished',
	fields: [taskIdField, optionsField([...waitOptions, timeoutOption])],
	prepare: (item) => ({ item, taskId: readTaskId(item) }),
	async work(tasks, call) {
		const [first] = tasks;
		if (!first) return [];
		const { wait } = await import('../run/wait');
		return await wait(call, tasks, readWaitSettings(first.item));
	},
};
