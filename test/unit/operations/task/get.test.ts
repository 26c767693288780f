import { get } from '../../../../nodes/MediaGeneration/operations/task/get';
import { buildContext, type Run } from '../../context';
import { buildItem } from '../creations';

const task = {
	taskId: 'task',
	model: 'model',
	status: 'completed',
	resultUrls: ['https://files.example/a.png', 'https://files.example/b.png'],
};

/** Gets a task with these parameters and Options. */
async function run(parameters: Record<string, unknown>, options = {}, kind: Run = {}) {
	const context = buildContext({ ...kind, goesOn: true });
	const item = buildItem(context, 0, { options });
	Object.assign(item.service, {
		getTask: async (taskId: string) => await Promise.resolve({ ...task, taskId }),
		getTaskRecord: async (taskId: string) => await Promise.resolve({ record: taskId }),
	});
	const read = (name: string) => parameters[name] ?? '';
	const request = await get.prepare({ ...item, read });
	const { outcomes } = await get.run([{ item, request }], context);
	return (outcomes[0] as { items: Array<{ json: object }> }).items.map(({ json }) => json);
}

const PER_FILE = { outputItems: 'perFile' };
const AGENT: Run = { kept: null, type: 'nodeTool' };

it.each<[string, object, object, Run, object[]]>([
	['is the task', {}, {}, {}, [task]],
	[
		'is an item for each file',
		{},
		PER_FILE,
		{},
		[{ taskId: 'task', file: { index: 0 } }, { file: { index: 1 } }],
	],
	['is the record with Simplify off', { simplify: false }, PER_FILE, {}, [{ record: 'task' }]],
	[
		'has a note on links where there is no execution',
		{},
		{},
		AGENT,
		[{ taskId: 'task', note: expect.stringContaining('![](link)') as string }],
	],
])('the output %s', async (_, parameters, options, kind, expected) => {
	const items = await run({ taskId: ' task ', ...parameters }, options, kind);
	expect(items).toHaveLength(expected.length);
	expect(items).toMatchObject(expected);
	expect(items[0]).not.toHaveProperty(kind === AGENT ? 'model' : 'note');
});
