import { newTask, type Task } from '../../nodes/MediaGeneration/api/task';
import { Batch } from '../../nodes/MediaGeneration/operations/wait/batch';
import { lookAt, type LookOptions } from '../../nodes/MediaGeneration/operations/wait/look';

/** Looks at three tasks, of which the second goes on; returns those that were asked for, and those that have ended. */
async function lookAtThree(options: Pick<LookOptions, 'untilOpen' | 'signal'>) {
	const ids = ['one', 'two', 'three'];
	const batch = new Batch(
		ids.map((taskId) => newTask(taskId, 'model')),
		false,
	);
	const asked: string[] = [];
	const ended: string[] = [];
	await lookAt(batch, ids, {
		ask: async (taskId): Promise<Task> => {
			asked.push(taskId);
			return { taskId, status: taskId === 'two' ? 'pending' : 'completed' };
		},
		settings: { timeoutSeconds: 1 },
		concurrency: 1,
		onEnded: (taskId) => ended.push(taskId),
		...options,
	});
	return { asked, ended };
}

it.each<[string, Parameters<typeof lookAtThree>[0], string[], string[]]>([
	['at all', {}, ['one', 'two', 'three'], ['one', 'three']],
	['until one goes on', { untilOpen: true }, ['one', 'two'], ['one']],
	['at no more once it is aborted', { signal: AbortSignal.abort() }, ['one'], []],
])('looks %s', async (_, options, asked, ended) => {
	expect(await lookAtThree(options)).toEqual({ asked, ended });
});
