import type { Task } from '../../../../nodes/MediaGeneration/api/task';
import type { FileSource } from '../../../../nodes/MediaGeneration/operations/results/downloadFile';
import {
	FileDownloads,
	listFiles,
} from '../../../../nodes/MediaGeneration/operations/results/resultFiles';
import { buildFileHelpers } from './files.cts';

/** Downloads the file of a task with this ID and link. */
async function download(taskId: string, url: string, baseUrl = 'https://api.example.com') {
	const { helpers, asked } = buildFileHelpers(() => ({ headers: { 'content-type': 'image/png' } }));
	const service = { credentials: { baseUrl } };
	const source = { settings: { timeoutSeconds: 5 }, service, helpers } as unknown as FileSource;
	const task: Task = { taskId, status: 'completed', resultUrls: [url] };
	const [file] = await new FileDownloads().downloadAll(task, ['result'], source, Infinity);
	return { result: file?.result, asked };
}

it("a link into this network is refused by the reach of the service's own address", async () => {
	const link = 'http://127.0.0.1:5678/rest/settings';
	const { result, asked } = await download('task', link);
	const message = 'the service gave a link to http://127.0.0.1:5678, an address inside';
	expect(result).toMatchObject({ reason: { message: expect.stringContaining(message) as string } });
	expect(asked).toEqual([]);
	const allowed = await download('task', link, ' http://127.0.0.1:8787 ');
	expect(allowed.result).toMatchObject({ value: { url: link } });
});

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
