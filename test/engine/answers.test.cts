import type { INodeParameters } from 'n8n-workflow';
import { setTimeout as pause } from 'node:timers/promises';
import { editImage, useService } from './engine';
import { startRaw } from './raw.cts';

jest.mock('../../nodes/MediaGeneration/api/service', () => ({
	...jest.requireActual<object>('../../nodes/MediaGeneration/api/service'),
	CREATION_TIMEOUT: 1,
}));

/** Shortens the pauses before a file is asked for again. */
jest.mock('n8n-workflow', () => {
	const actual = jest.requireActual<typeof import('n8n-workflow')>('n8n-workflow');
	return {
		...actual,
		sleep: async (length: number) => await actual.sleep(Math.min(length, 1_000)),
	};
});

const engine = useService();
let raw: Awaited<ReturnType<typeof startRaw>>;

beforeAll(async () => void (raw = await startRaw()));
afterAll(() => raw.close());

/** Runs the node with the raw service, which gives a creation the answer of this name. */
const run = async (parameters: INodeParameters, creation = '', options: object = {}) =>
	await engine.run(
		{ ...parameters, options: { ...options, timeoutSeconds: 1 } },
		{
			credentials: () => ({
				baseUrl: raw.url,
				advancedSettings: true,
				createTaskPath: `/${creation}`,
				taskDetailsPath: '/details/{taskId}',
			}),
		},
	);

/** Downloads these files of a task, an item for each. */
const download = async (...files: string[]) =>
	await run({ resource: 'task', operation: 'getFiles', taskId: files.join(',') }, '', {
		...{ outputItems: 'perFile', maxSizeMegabytes: 1 },
	});

it.each([
	['is 105 MB in 100 kB', 'bomb', 'larger than 2 MB', 'named it created'],
	['breaks off', 'cut', 'broke off the connection', 'named it created'],
	['never ends', 'dribble', 'no answer within 1 s', 'recent tasks of your account'],
])(
	'the error of a creation names the task, where it is known, in an answer that %s',
	async (_, answer, message, remedy) => {
		const { error } = await run(editImage, answer);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(remedy);
	},
);

it.each([
	['is 105 MB in 100 kB', 'bomb', 'too large'],
	['breaks off', 'cut', 'broke off before the file was complete'],
	['never ends', 'dribble', 'sent nothing for 1 s'],
])('no file comes from an answer that %s, and no connection stays open', async (_, answer, why) => {
	const { error } = await download(answer);
	expect(error?.message).toContain(why);
	// A connection ends a moment after the node leaves it. One stays open for the service.
	for (let wait = 0; (await raw.countConnections()) > 1 && wait < 20; wait++) await pause(10);
	expect(await raw.countConnections()).toBeLessThanOrEqual(1);
});

it('a file may be shorter than its compressed form, and gets neither a path nor cookies of its host', async () => {
	const { output, error } = await download('small/a.bin', 'cookie');
	expect(error).toBeUndefined();
	expect(output).toMatchObject([{ binary: { data: { fileSize: '4 B' } } }, {}]);
	for (const { binary } of output) {
		expect(binary?.data?.fileName).toMatch(/^[a-z\d-]+\.(bin|txt)$/);
		expect(binary?.data).not.toHaveProperty('directory');
	}
	expect(raw.cookies.filter(Boolean)).toEqual([]);
});

it("where a host says nothing of a file's type, n8n takes the type from its name", async () => {
	const names = ['jpeg', 'flac', 'm4v', 'bin'].map((ending) => `a.${ending}`);
	const { output } = await download(
		...['octet', 'blank'].flatMap((how) => names.map((name) => `${how}/${name}`)),
	);
	const types = ['image/jpeg', 'audio/x-flac', 'video/x-m4v', 'application/octet-stream'];
	const facts = [...types, ...types].map((mimeType) => ({
		json: { file: { mimeType } },
		binary: { data: { mimeType } },
	}));
	expect(output).toMatchObject(facts);
	const kinds = ['image', 'audio', 'video', undefined];
	expect(output.map(({ binary }) => binary?.data?.fileType)).toEqual([...kinds, ...kinds]);
});
