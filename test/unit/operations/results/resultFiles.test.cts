import type { Task } from '../../../../nodes/MediaGeneration/api/task';
import { FileNames } from '../../../../nodes/MediaGeneration/lib/fileName';
import {
	ResultFiles,
	type FileSource,
} from '../../../../nodes/MediaGeneration/operations/results/resultFiles';
import { buildFileHelpers } from './files.cts';

/** Downloads the first file of a task with this ID and link. */
async function download(taskId: string, url: string, baseUrl = 'https://api.example.com') {
	const { helpers, asked } = buildFileHelpers(() => ({ headers: { 'content-type': 'image/png' } }));
	const service = { credentials: { baseUrl } };
	const source = { settings: { timeoutSeconds: 5 }, service, helpers } as unknown as FileSource;
	const task: Task = { taskId, status: 'completed', resultUrls: [url] };
	const files = new ResultFiles(task, source, new FileNames());
	const [link] = files.listLinks(['result']);
	if (!link) throw new Error('no link');
	const result = await files.download(link, Infinity).catch((error: Error) => error.message);
	return { result, asked };
}

it('a file is named after its task, in no folder', async () => {
	const { result } = await download('../../../../etc/cron.d/x', 'https://cdn.example/a.png');
	const name = 'etc-cron-d-x.png';
	expect(result).toMatchObject({ name, binary: { fileName: name } });
});

it("a link into this network is refused by the reach of the service's own address", async () => {
	const link = 'http://127.0.0.1:5678/rest/settings';
	const refused = await download('task', link);
	expect(refused.result).toContain('the service gave a link to http://127.0.0.1:5678, an address');
	expect(refused.asked).toEqual([]);
	const allowed = await download('task', link, ' http://127.0.0.1:8787 ');
	expect(allowed.result).toMatchObject({ url: link });
});
