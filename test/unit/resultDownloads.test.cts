import type { IHttpRequestOptions } from 'n8n-workflow';
import { Readable } from 'node:stream';
import type { Task } from '../../nodes/MediaGeneration/api/task';
import { ResultDownloads } from '../../nodes/MediaGeneration/operations/task/resultDownloads';
import type { FileSource } from '../../nodes/MediaGeneration/operations/task/resultFiles';

const HOST = 'https://cdn.example';

const completed = (...names: string[]): Task => ({
	taskId: 'task',
	status: 'completed',
	resultUrls: names.map((name) => `${HOST}/${name}`),
});

/** A host that has every file but those whose names say otherwise, and a service that knows no fresh links. */
function serve() {
	const asked: string[] = [];
	const source = {
		settings: { timeoutSeconds: 60 },
		service: {
			credentials: { baseUrl: 'https://api.example', accessToken: 'token' },
			getDownloadUrl: async () => await Promise.reject(new Error('no such endpoint')),
			getTask: async () => await Promise.resolve(completed()),
		},
		helpers: {
			async httpRequest({ url }: IHttpRequestOptions) {
				asked.push(url.slice(HOST.length + 1));
				const statusCode = Number(/\d{3}/.exec(url)?.[0] ?? 200);
				const headers = { 'content-type': 'image/png' };
				return await Promise.resolve({
					statusCode,
					headers,
					body: Readable.from([Buffer.from(url)]),
				});
			},
			async prepareBinaryData(stream: Readable, fileName: string) {
				return { fileName, data: String(Buffer.concat(await stream.toArray())) };
			},
		},
	} as unknown as FileSource;
	return { asked, source };
}

const start = async (task: Task, { field = 'data', maxBytes = null as number | null } = {}) => {
	const { asked, source } = serve();
	const downloads = new ResultDownloads({ field, maxBytes });
	const [item, again] = await Promise.all([
		downloads.start(task, source),
		downloads.start(task, source),
	]);
	expect(again).toBe(item);
	return { asked, item };
};

it('names the files of a task after its first, and asks for each once', async () => {
	const task = completed('a', 'b', 'c');
	const { asked, item } = await start(task, { field: 'film' });
	expect(asked).toEqual(['a', 'b', 'c']);
	expect(item).toMatchObject({
		json: task,
		binary: {
			film: { fileName: 'task-result-1.png', data: `${HOST}/a` },
			film_1: { fileName: 'task-result-2.png', data: `${HOST}/b` },
			film_2: { fileName: 'task-result-3.png', data: `${HOST}/c` },
		},
	});
});

it.each<[string, Task]>([
	['failed', { taskId: 'task', status: 'failed', resultUrls: [`${HOST}/a`] }],
	['has gone on', { taskId: 'task', status: 'timedOut', resultUrls: [] }],
	['has no files', completed()],
])('asks for nothing of a task that %s', async (_, task) => {
	const { asked, item } = await start(task);
	expect(asked).toEqual([]);
	expect(item).toEqual({ json: task });
});

it.each([
	['500', 'its host cdn.example answered 500. Run the node again later'],
	['404', 'has expired or is refused, also after the service was asked'],
])(
	'has the other files and the reason when a host answers %s, without a gap in their names',
	async (name, reason) => {
		const { item } = await start(completed(name, 'b', 'c'));
		expect(item.json).toMatchObject({ downloadError: expect.stringContaining(reason) as string });
		expect(Object.entries(item.binary ?? {}).map(([field, { data }]) => [field, data])).toEqual([
			['data', `${HOST}/b`],
			['data_1', `${HOST}/c`],
		]);
	},
);

it('takes no larger file than it may', async () => {
	const { item } = await start(completed('a'), { maxBytes: 3 });
	expect(item).toEqual({
		json: {
			...completed('a'),
			downloadError: expect.stringContaining("'Maximum File Size' in Options") as string,
		},
	});
});
