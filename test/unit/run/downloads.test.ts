import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { listFiles } from '../../../nodes/MediaGeneration/run/files/downloads';

it.each<[Partial<Task>, string]>([
	[{ status: 'failed', failMessage: 'blocked' }, 'is failed (blocked), and has none'],
	[{ status: 'timedOut' }, 'is timedOut, and has none of the chosen files'],
	[{ status: 'completed', result: 'a text' }, 'is completed, and has none'],
])('a task without files says why: %j', (task, message) => {
	expect(() => listFiles({ taskId: 'task', ...task }, ['result'])).toThrow(message);
});
