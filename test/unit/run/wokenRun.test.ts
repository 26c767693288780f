import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import type { Sleep, Wait } from '../../../nodes/MediaGeneration/operations/record/wait';
import { buildContext, WAIT } from '../n8n';
import { create } from './creatingRun';
import { buildFileHelpers, type Served } from './fileHost.cts';

const REQUEST = { model: 'model', input: {} };
const URL = 'https://files.example/file.png';
const file: Served = { headers: { 'content-type': 'image/png' }, chunks: [Buffer.from('file')] };

const completed = (taskId: string): Task => ({
	taskId,
	model: 'model',
	status: 'completed',
	resultUrls: [URL],
});

interface Woken {
	/** The task of each item. */
	taskIds: string[];
	/** What the service said of the one task. */
	task?: Task;
	/** Those that had ended when the execution was woken; the limit woke it if there are others. */
	ended?: string[];
	settings?: Partial<Wait['settings']>;
	/** The host of the files. */
	serve?: () => Served;
	readCredential?: (item: number) => unknown;
}

afterEach(() => jest.useRealTimers());

let executions = 0;

/** Runs a node that slept for its tasks and was woken; notes what it reads. */
async function wake({
	taskIds,
	task,
	ended = taskIds,
	settings,
	serve = () => file,
	readCredential,
}: Woken) {
	const kept = {};
	const executionId = `woken-${executions++}`;
	const record = openRecord(buildContext({ kept, executionId }));
	for (const [item, taskId] of taskIds.entries()) record.addTask(item, REQUEST, taskId);
	record.openWait(() => ({ ...WAIT, limit: 0, ...settings })).begun = Date.now();
	record.sleep({ until: Date.now(), input: [], failures: {} });
	const woken = ended.map((taskId) => task ?? completed(taskId));
	(record.asleep as Sleep).woken = woken;

	const read: { credentials: number[]; parameters: string[] } = { credentials: [], parameters: [] };
	const asked: string[] = [];
	const files = buildFileHelpers(serve);
	const httpRequestWithAuthentication = async (_: string, { url }: { url: string }) => {
		asked.push(url);
		const taskId = /taskId=(.*)/.exec(url)?.[1];
		const body = JSON.stringify({ code: 200, data: { taskId, state: 'waiting' } });
		return { statusCode: 200, body };
	};
	const run = await create({
		kept,
		executionId,
		input: taskIds.map(() => ({})),
		readWait: () => WAIT,
		more: {
			async getCredentials(_: string, item: number) {
				read.credentials.push(item);
				readCredential?.(item);
				return { baseUrl: 'https://api.example', accessToken: 'token' };
			},
			getNodeParameter(name: string) {
				read.parameters.push(name);
				return {};
			},
			getWorkflowSettings: () => ({}),
			helpers: {
				...files.helpers,
				httpRequestWithAuthentication,
				constructExecutionMetaData: (items: object[]) => items,
			},
		},
	});
	expect(run.error).toBeUndefined();
	return { ...run, read, asked, files: files.asked };
}

const IDS = ['a', 'b', 'c'];
const downloads = { field: 'data', maxBytes: null };

it('outputs tasks that have ended without reading credential or parameters', async () => {
	const { output, read, asked } = await wake({ taskIds: IDS });
	expect(output).toMatchObject(IDS.map((taskId) => ({ json: completed(taskId) })));
	expect(read).toEqual({ credentials: [], parameters: [] });
	expect(asked).toEqual([]);
});

it('downloads their files without reading them either', async () => {
	const { output, read, files } = await wake({ taskIds: IDS, settings: { downloads } });
	expect(output).toMatchObject(IDS.map(() => ({ binary: { data: { data: 'file' } } })));
	expect(files).toHaveLength(3);
	expect(read).toEqual({ credentials: [], parameters: [] });
});

it('reads the credential of an item once if the link to its file is refused', async () => {
	jest.useFakeTimers();
	const waking = wake({
		taskIds: IDS.slice(0, 1),
		settings: { downloads },
		serve: () => ({ statusCode: 403 }),
	});
	await jest.advanceTimersByTimeAsync(60_000);
	const { output, read, asked, files } = await waking;
	// The run saw its task open, so its file is new.
	expect(files).toHaveLength(4);
	// It asks for a fresh link, and for the task.
	expect(asked.length).toBeGreaterThan(1);
	expect(output).toMatchObject([{ json: { downloadError: expect.any(String) as string } }]);
	expect(read).toEqual({ credentials: [0], parameters: [] });
});

it('reads the credential of an item once to judge a link into this network', async () => {
	const task = {
		...completed('a'),
		resultUrls: ['http://10.0.0.1/a.png', 'http://10.0.0.1/b.png'],
	};
	const { output, read, files } = await wake({ taskIds: ['a'], settings: { downloads }, task });
	expect(output).toMatchObject([
		{ json: { downloadError: expect.stringContaining('inside') as string } },
	]);
	expect(files).toEqual([]);
	expect(read).toEqual({ credentials: [0], parameters: [] });
});

it('reads the credential of tasks that have not ended at its limit, once for each that it asks for', async () => {
	const { output, read, asked } = await wake({ taskIds: ['a', 'b', 'c', 'b'], ended: ['a'] });
	const statuses = output.map(({ json }) => json.status);
	expect(statuses).toEqual(['completed', 'timedOut', 'timedOut', 'timedOut']);
	expect(asked).toHaveLength(2);
	expect(read.credentials).toHaveLength(2);
	expect(read.credentials).not.toContain(0);
	expect(read.parameters).toEqual([]);
});

it('outputs the task with the reason why it could not ask for it, if its credential can not be read', async () => {
	const readCredential = () => {
		throw new Error('The vault is closed');
	};
	const { output } = await wake({ taskIds: ['a'], ended: [], readCredential });
	const lookError = 'The vault is closed';
	expect(output).toMatchObject([{ json: { taskId: 'a', status: 'timedOut', lookError } }]);
});
