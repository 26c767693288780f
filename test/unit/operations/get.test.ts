import { get } from '../../../nodes/MediaGeneration/operations/get';
import { buildContext, buildItem } from '../n8n';

const task = {
	taskId: 'task',
	model: 'model',
	status: 'completed',
	resultUrls: ['https://files.example/a.png', 'https://files.example/b.png'],
};
type Values = Record<string, unknown>;
const PER_FILE: Values = { outputItems: 'perFile' };
const FILES = [0, 1].map((index) => ({ ...task, file: { index } }));

it.each<[string, Values, Values, object[]]>([
	['is the task', {}, {}, [task]],
	['is an item for each file', {}, PER_FILE, FILES],
	['is the record with Simplify off', { simplify: false }, PER_FILE, [{ record: 'task' }]],
])('the output %s', async (_, parameters, options, expected) => {
	const item = buildItem(buildContext(), 0, { options });
	Object.assign(item.service, {
		getTask: async (taskId: string) => await Promise.resolve({ ...task, taskId }),
		getTaskRecord: async (taskId: string) => await Promise.resolve({ record: taskId }),
	});
	const all: Values = { taskId: ' task\n', ...parameters };
	const request = await get.prepare({ ...item, read: (name) => all[name] ?? '' });
	const outcomes = await get.run([{ item, request }], item.call);
	expect(outcomes).toMatchObject([{ items: expected.map((json) => ({ json })) }]);
});
