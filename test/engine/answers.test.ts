import type { INodeParameters } from 'n8n-workflow';
import { editImage, useService } from './engine';
import { startRawService } from './rawService.cts';

jest.mock('../../nodes/MediaGeneration/api/service', () => ({
	...jest.requireActual<object>('../../nodes/MediaGeneration/api/service'),
	CREATION_TIMEOUT: 1,
}));

const engine = useService();
let raw: Awaited<ReturnType<typeof startRawService>>;

beforeAll(async () => void (raw = await startRawService()));
afterAll(() => raw.close());

/** Runs the node with a credential whose endpoints are one of the raw service's paths. */
const run = async (what: string, parameters: INodeParameters, options: object = {}) =>
	await engine.run(
		{ ...parameters, options: { ...options, timeoutSeconds: 1 } },
		{
			credentials: () => ({
				baseUrl: raw.url,
				advancedSettings: true,
				createTaskPath: `/${what}`,
				taskDetailsPath: `/${what}/{taskId}`,
			}),
		},
	);

it.each([
	['is 105 MB in 100 kB', 'bomb', 'larger than 2 MB', 'named it created'],
	['breaks off', 'cut', 'broke off the connection', 'named it created'],
	['never ends', 'dribble', 'no answer within 1 s', 'recent tasks of your account'],
])(
	'the error of a creation names the task, where it is known, in an answer that %s',
	async (_, what, message, next) => {
		const { error } = await run(what, editImage);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
	},
);

it('a download takes a file that is shorter than its compressed form, with a name that is no path', async () => {
	const download = { resource: 'task', operation: 'getFiles', taskId: 'etc cron.d:x' };
	const { output, error } = await run('compressed', download);
	expect(error).toBeUndefined();
	const fileName = expect.stringMatching(/^etc-cron-d-x-[a-z]{8}\.bin$/) as string;
	expect(output[0]?.binary?.data).toMatchObject({ fileName, fileSize: '4 B' });
	expect(output[0]?.binary?.data).not.toHaveProperty('directory');
});

it('a file whose host says nothing of its type is what n8n knows its name for', async () => {
	const download = { resource: 'task', operation: 'getFiles', taskId: 'task' };
	const { output } = await run('untyped', download, { outputItems: 'perFile' });
	const types = ['image/jpeg', 'audio/x-flac', 'video/x-m4v', 'application/octet-stream'];
	const facts = [...types, ...types].map((mimeType) => ({
		json: { file: { mimeType } },
		binary: { data: { mimeType } },
	}));
	expect(output).toMatchObject(facts);
	const kinds = ['image', 'audio', 'video', undefined];
	expect(output.map(({ binary }) => binary?.data?.fileType)).toEqual([...kinds, ...kinds]);
});
