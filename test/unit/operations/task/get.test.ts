import { get } from '../../../../nodes/MediaGeneration/operations/task/get';
import { buildContext, type Run } from '../../context';
import { buildItem } from '../creations';

const task = {
	taskId: 'task',
	model: 'model',
	status: 'completed',
	resultUrls: ['https://files.example/a.png', 'https://files.example/b.png'],
};
type Values = Record<string, unknown>;
const PER_FILE: Values = { outputItems: 'perFile' };
const FILES = [0, 1].map((index) => ({ ...task, file: { index } }));
/** An agent where there is no execution, which is told what to do with links. */
const AGENT: Run = { kept: null, type: 'nodeTool' };
const TOLD = { taskId: 'task', note: expect.stringContaining('![](link)') as string };

it.each<[string, Values, Values, Run, object[]]>([
	['is the task', {}, {}, {}, [task]],
	['is an item for each file', {}, PER_FILE, {}, FILES],
	['is the record with Simplify off', { simplify: false }, PER_FILE, {}, [{ record: 'task' }]],
	['is fitted to an agent', {}, {}, AGENT, [TOLD]],
])('the output %s', async (_, parameters, options, kind, expected) => {
	const context = buildContext(kind);
	const item = buildItem(context, 0, { options });
	Object.assign(item.service, {
		getTask: async (taskId: string) => await Promise.resolve({ ...task, taskId }),
		getTaskRecord: async (taskId: string) => await Promise.resolve({ record: taskId }),
	});
	const all: Values = { taskId: 'task', ...parameters };
	const request = await get.prepare({ ...item, read: (name) => all[name] ?? '' });
	const { outcomes } = await get.run([{ item, request }], context);
	expect(outcomes).toMatchObject([{ items: expected.map((json) => ({ json })) }]);
});
