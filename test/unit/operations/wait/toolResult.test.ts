import type { Task } from '../../nodes/MediaGeneration/api/task';
import { toToolResult } from '../../nodes/MediaGeneration/operations/wait/toolResult';

const told = { taskId: 'task', status: 'completed' as const };
const failed = { status: 'failed', failCode: '501', failMessage: 'blocked', creditsConsumed: 0 };
const note = expect.stringContaining('Do not create it again') as string;

it.each<[string, object, object]>([
	[
		'links, not the whole result',
		{ resultUrls: ['u'], result: {}, model: 'm' },
		{ resultUrls: ['u'] },
	],
	['the file that it is of', { file: { index: 1 } }, { file: { index: 1 } }],
	['a result without links', { resultUrls: [], result: 'text' }, { result: 'text' }],
	['no more than there is', {}, {}],
	['why it failed, and the cost', { ...failed, state: 'fail' }, failed],
	['what to do about one that goes on', { status: 'timedOut' }, { status: 'timedOut', note }],
	['why the last look failed', { lookError: 'no answer' }, { lookError: 'no answer' }],
	['a note that it was told before', { note: 'look' }, { note: 'look' }],
])('an agent is told of a task %s', (_, more, result) => {
	expect(toToolResult({ ...told, ...more } as Task)).toStrictEqual({ ...told, ...result });
});

it("an agent without files is told what to do with a finished task's links", () => {
	const tell = (more: object) => toToolResult({ ...told, ...more } as Task, { linksOnly: true });
	expect(tell({ resultUrls: ['u'] }).note).toContain('![](link)');
	expect(tell({ resultUrls: [] }).note).toBeUndefined();
	expect(tell({ status: 'timedOut' }).note).toContain('Do not create it again');
});
