import { getFiles } from '../../../nodes/MediaGeneration/operations/getFiles';
import { buildContext, buildItem } from '../n8n';

const resultUrls = ['https://files.example/a.png', 'https://files.example/b.png'];
const task = { taskId: 'task', status: 'completed', resultUrls, result: { resultUrls } };
const parameters: Record<string, unknown> = { taskId: 'task', files: ['result'] };

it('gives links where there is no execution, as n8n has no place for files there', async () => {
	const item = buildItem(buildContext({ kept: null, type: 'nodeTool' }), 0);
	Object.assign(item.service, { getTask: async () => await Promise.resolve(task) });
	const read = (name: string) => parameters[name] ?? 'data';
	const request = await getFiles.prepare({ ...item, read });
	const outcomes = await getFiles.run([{ item, request }], item.call);
	expect(outcomes).toMatchObject([
		{
			items: resultUrls.map((url) => ({
				json: { taskId: 'task', file: { url } },
			})),
		},
	]);
});
