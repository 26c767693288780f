import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { toFileItems } from '../../../nodes/MediaGeneration/run/files/fileItems';
import { FileDownloads } from '../../../nodes/MediaGeneration/run/files/downloads';
import type { FileSource } from '../../../nodes/MediaGeneration/run/files/fetchFile';
import { buildFileHelpers } from './fileHost.cts';

const HOST = 'https://cdn.example';

// What may pass is tried again after pauses.
beforeEach(() => void jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const completed = (...names: string[]): Task => ({
	taskId: 'task',
	status: 'completed',
	resultUrls: names.map((name) => `${HOST}/${name}`),
});

interface Options {
	field?: string;
	maxBytes?: number;
	perFile?: boolean;
	/** A fresh link that the service has; by default it has none. */
	fresh?: string;
	/** The links of the task when it is read again. */
	renewed?: string[];
}

/** Downloads the files of a task, from a host that answers with the status that a file's name says. */
async function fetchItems(
	task: Task,
	{ field = 'data', maxBytes = Infinity, perFile = false, fresh, renewed = [] }: Options = {},
) {
	const { helpers, asked } = buildFileHelpers(({ url }) => ({
		statusCode: Number(/\d{3}/.exec(url)?.[0] ?? 200),
		headers: { 'content-type': 'image/png' },
		chunks: [Buffer.from(url)],
	}));
	const service = {
		credentials: { baseUrl: 'https://api.example', accessToken: 'token' },
		async getDownloadUrl() {
			if (fresh === undefined) throw new Error('no such endpoint');
			return `${HOST}/${fresh}`;
		},
		getTask: async () => completed(...renewed),
	};
	const getService = async () => service;
	const settings = { timeoutSeconds: 60 };
	const source = { settings, getService, helpers } as unknown as FileSource;
	const downloading = new FileDownloads().downloadAll(task, source, {
		kinds: ['result'],
		maxBytes,
		name: 'task',
	});
	await jest.advanceTimersByTimeAsync(60_000);
	const files = await downloading;
	const items = toFileItems(task, files, { field, perFile });
	const [item = { json: {} }] = items;
	return { asked: asked.map(({ url }) => url.slice(HOST.length + 1)), items, item };
}

it('names the files of a task after its first, and asks for each once', async () => {
	const task = completed('a', 'b', 'c');
	const { asked, item } = await fetchItems(task, { field: 'film' });
	expect(asked).toEqual(['a', 'b', 'c']);
	expect(item).toMatchObject({
		json: task,
		binary: {
			film: { fileName: 'task.png', data: `${HOST}/a` },
			film_1: { fileName: 'task-2.png', data: `${HOST}/b` },
			film_2: { fileName: 'task-3.png', data: `${HOST}/c` },
		},
	});
});

it.each([
	['500', 'its host cdn.example answered 500. Try again later'],
	['404', 'has expired or is refused, also after the service was asked'],
])('has the other files, without a gap, and why a host answers %s', async (name, reason) => {
	const { item } = await fetchItems(completed(name, 'b', 'c'));
	expect(item.json).toMatchObject({ downloadError: expect.stringContaining(reason) as string });
	// Running the node again would create the task again.
	const { downloadError } = item.json as { downloadError: string };
	expect(downloadError).toMatch(/\. Use Get Files with this task ID\. Running Generate again pays/);
	expect(Object.entries(item.binary ?? {}).map(([field, { data }]) => [field, data])).toEqual([
		['data', `${HOST}/b`],
		['data_1', `${HOST}/c`],
	]);
});

it.each<[string, Options]>([
	['the service has a fresh one for it', { fresh: 'new' }],
	['the task has a fresh one', { renewed: ['b', 'new'] }],
])('takes a fresh link for one that has expired, when %s', async (_, options) => {
	const { asked, item } = await fetchItems(completed('b', '403'), options);
	expect(asked).toEqual(['b', '403', 'new']);
	expect(item.binary).toMatchObject({ data_1: { data: `${HOST}/new` } });
	expect(item.json).not.toHaveProperty('downloadError');
});

it('takes no larger file than it may', async () => {
	const { item } = await fetchItems(completed('a'), { maxBytes: 3 });
	const downloadError = expect.stringContaining("'Maximum File Size' in Options") as string;
	expect(item).toStrictEqual({ json: { ...completed('a'), downloadError } });
});

it('makes an item of each file, with its own file or the reason why it is missing', async () => {
	const task = completed('a', '400', 'b');
	const { items } = await fetchItems(task, { perFile: true, field: 'film' });
	const file = (index: number, name: string) => ({ index, kind: 'result', url: `${HOST}/${name}` });
	expect(items).toMatchObject([
		{ json: { ...task, file: file(0, 'a') }, binary: { film: { data: `${HOST}/a` } } },
		{ json: { ...task, file: file(1, '400'), downloadError: expect.any(String) as string } },
		{ json: { ...task, file: file(2, 'b') }, binary: { film: { data: `${HOST}/b` } } },
	]);
	expect(items.map(({ binary = {} }) => Object.keys(binary))).toEqual([['film'], [], ['film']]);
});
