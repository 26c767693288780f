import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { listFiles } from '../../../nodes/MediaGeneration/run/downloads';

it.each<[Partial<Task>, string, string]>([
	[{ status: 'failed', failMessage: 'blocked' }, 'is failed (blocked), and has none', 'Only compl'],
	[{ status: 'timedOut' }, 'is timedOut, and has none of the chosen files', 'Only completed'],
	[{ status: 'completed', result: 'a text' }, 'is completed, and has none', 'the field result'],
])('a task without files says why: %j', (task, message, description) => {
	const error: unknown = expect.objectContaining({
		message: expect.stringContaining(message) as string,
		description: expect.stringContaining(description) as string,
	});
	expect(() => listFiles({ taskId: 'task', ...task }, ['result'])).toThrow(error as Error);
});
