import { start } from '../../../../nodes/MediaGeneration/operations/task/start';
import { buildContext } from '../../context';
import { buildItem, prepare } from '../creations';

it('each task is output as it was created', async () => {
	const context = buildContext();
	const prepared = [0, 1].map((index) => prepare(context, index));
	const { outcomes } = await start.run(prepared, context);
	const json = (taskId: string) => ({ taskId, model: 'model', status: 'pending', resultUrls: [] });
	expect(outcomes).toEqual(['task-0', 'task-1'].map((id) => ({ items: [{ json: json(id) }] })));
});

it('a callback URL that is none is refused', async () => {
	const item = buildItem(buildContext(), 0);
	const read = () => 'my-webhook';
	await expect(start.prepare({ ...item, read })).rejects.toThrow("'Callback URL' must be a URL");
});
