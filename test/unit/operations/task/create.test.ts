import { create } from '../../../../nodes/MediaGeneration/operations/task/create';
import { buildCreator, buildItem } from '../creations';

const PUBLIC = 'https://n8n.example/webhook/a/webhook';
/** Starts tasks with these callback URLs, and returns what came out. */
async function run(urls: string[]) {
	const context = buildCreator();
	const prepared = urls.map((callBackUrl, index) => ({
		item: buildItem(context, index),
		request: { model: 'model', input: {}, callBackUrl },
	}));
	return await create.run(prepared, context);
}

it('each task is output as it was created', async () => {
	const { outcomes } = await run([PUBLIC, PUBLIC]);
	const json = (taskId: string) => ({ taskId, model: 'model', status: 'pending', resultUrls: [] });
	expect(outcomes).toEqual(['task-0', 'task-1'].map((id) => ({ items: [{ json: json(id) }] })));
});

it('a callback URL that is none is refused', async () => {
	const item = buildItem(buildCreator(), 0);
	const read = () => 'my-webhook';
	await expect(create.prepare({ ...item, read })).rejects.toThrow("'Callback URL' must be a URL");
});
