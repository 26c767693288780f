import type { Task } from '../../nodes/MediaGeneration/api/task';
import { toToolResult } from '../../nodes/MediaGeneration/operations/task/toolResult';

const told = { taskId: 'task', status: 'completed' as const };
const failed = { ...told, status: 'failed' as const, failCode: '501', failMessage: 'blocked' };

it.each<[string, Task, object]>([
	['links, not the whole result', { ...told, resultUrls: ['u'], result: {}, model: 'm' }, { ...told, resultUrls: ['u'] }], // prettier-ignore
	['a result without links', { ...told, resultUrls: [], result: 'text' }, { ...told, result: 'text' }], // prettier-ignore
	['no more than there is', told, told],
	['why it failed, and the cost', { ...failed, creditsConsumed: 0, state: 'fail' }, { ...failed, creditsConsumed: 0 }], // prettier-ignore
	['what to do about one that goes on', { ...told, status: 'timedOut' }, { ...told, status: 'timedOut', note: expect.stringContaining('Do not create it again') }], // prettier-ignore
	['a note that it was told before', { ...told, note: 'look' } as Task, { ...told, note: 'look' }],
])('an agent is told of a task %s', (_, task, result) => {
	expect(toToolResult(task)).toStrictEqual(result);
});
