import { create } from '../../../../nodes/MediaGeneration/operations/task/create';
import { buildCreator, buildItem } from '../creations';

const PUBLIC = 'https://n8n.example/webhook/a/webhook';
const INTERNAL = 'http://localhost:5678/webhook/a/webhook';

/** Starts tasks with these callback URLs, and returns the hints at the output and what came out. */
async function run(urls: Array<string | undefined>, baseUrl = 'https://api.example') {
	const hints: string[] = [];
	const addExecutionHints = ({ message }: { message: string }) => hints.push(message);
	const context = buildCreator({}, { addExecutionHints });
	const prepared = urls.map((callBackUrl, index) => ({
		item: buildItem(context, index, { credentials: { baseUrl } }),
		request: { model: 'model', input: {}, callBackUrl },
	}));
	return { hints, ...(await create.run(prepared, context)) };
}

it('warns once of callback URLs that are inside the network of n8n', async () => {
	const { hints } = await run([INTERNAL, undefined, PUBLIC, `${INTERNAL}/other`]);
	expect(hints).toEqual([expect.stringContaining('http://localhost:5678 is an address inside')]);
});

it('a service in the same network may reach an address there', async () => {
	expect((await run([INTERNAL], 'http://10.0.0.1')).hints).toEqual([]);
});

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
