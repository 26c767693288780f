import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import { buildContext } from '../../n8n';
import { newTask, type Task } from '../../../../nodes/MediaGeneration/api/task';
import type { WaitSettings } from '../../../../nodes/MediaGeneration/operations/record/wait';
import { pause } from '../../../../nodes/MediaGeneration/lib/timers';
import { Looker, type Source } from '../../../../nodes/MediaGeneration/run/look';

afterEach(() => jest.useRealTimers());

const IDS = ['one', 'two', 'three'];
const completed: Partial<Task> = { status: 'completed', resultUrls: ['https://x/1'] };

/** Waits for downloads, which are repeated after pauses. */
async function passTime(work: Promise<void>) {
	await jest.advanceTimersByTimeAsync(60_000);
	await work;
}

/** Looks at three tasks; by default the second goes on. */
function build({
	answer = async (taskId: string): Promise<Partial<Task>> =>
		taskId === 'two' ? { status: 'pending' } : completed,
	downloads = undefined as WaitSettings['downloads'],
	httpRequest = undefined as jest.Mock | undefined,
	sawOpen = false,
} = {}) {
	const asked: string[] = [];
	const tasks = IDS.map((taskId) => newTask(taskId, 'model'));
	const looker = new Looker({ limit: 1, timeoutSeconds: 1, downloads, failedTasks: 'output' });
	looker.known.setTasks(tasks);
	const getTask = async (taskId: string) => {
		asked.push(taskId);
		return { taskId, ...(await answer(taskId)) };
	};
	const service = { getTask, credentials: { baseUrl: 'https://x' } } as unknown as TaskService;
	const helpers = httpRequest && ({ httpRequest } as unknown as Source['helpers']);
	const getSource = () => ({ getService: async () => service, helpers, sawOpen });
	const look = async (more: object = {}, taskIds = IDS) =>
		await looker.look(taskIds, { getSource, ...more });
	/** Looks, waits for the files, and shows what is known of the first task. */
	const fetchFiles = async () => {
		await look();
		await passTime(looker.collectFiles(getSource));
		return looker.known.toOutput('one')[0]?.json;
	};
	return { known: looker.known, asked, look, fetchFiles };
}

const ONE_BY_ONE = { concurrency: 1 };

it.each<[string, object, string[], string[]]>([
	['at all', {}, IDS, ['two']],
	['until one goes on', { ...ONE_BY_ONE, untilOpen: true }, ['one', 'two'], ['two', 'three']],
	[
		'at no more once it is aborted',
		{ ...ONE_BY_ONE, signal: AbortSignal.abort() },
		['one'],
		['two', 'three'],
	],
])('it looks %s', async (_, options, expected, open) => {
	const { asked, look, known } = build();
	await look(options);
	expect(asked).toEqual(expected);
	expect(known.openIds).toEqual(open);
});

it('asks again for a task that has not ended, also after a look that failed', async () => {
	let fails = true;
	const { look, known, asked } = build({
		answer: async (taskId) => {
			if (taskId === 'two' && fails) throw new Error('no answer');
			return completed;
		},
	});
	await look();
	expect(known.failure?.message).toBe('no answer');
	fails = false;
	await look();
	expect(known).toMatchObject({ haveEnded: true, failure: undefined });
	expect(asked).toEqual([...IDS, 'two']);
});

it('an answer that comes late changes nothing of an end that is known', async () => {
	const answers: Array<(task: Partial<Task>) => void> = [];
	const answer = async () =>
		await new Promise<Partial<Task>>((resolve) => void answers.push(resolve));
	const { look, asked, known } = build({ answer });
	const looks = [look({}, ['one']), look({}, ['one'])];
	await pause(0);
	expect(asked).toEqual(['one', 'one']);
	answers[1]?.(completed);
	await looks[1];
	expect(known.isOpen('one')).toBe(false);
	answers[0]?.({ status: 'pending' });
	await looks[0];
	expect(known.getTask('one')).toMatchObject(completed);
});

describe('files', () => {
	const downloads = { field: 'data', maxBytes: null };
	const httpRequest = jest.fn().mockRejectedValue(new Error('gone'));
	beforeEach(() => {
		jest.useFakeTimers();
		httpRequest.mockClear();
	});

	it('of tasks that have completed are fetched once, where there is a place for them', async () => {
		const { fetchFiles } = build({ downloads, httpRequest });
		const downloadError = expect.stringContaining('its host x') as string;
		expect(await fetchFiles()).toMatchObject({ ...completed, downloadError });
		const { length } = httpRequest.mock.calls;
		await fetchFiles();
		expect(httpRequest).toHaveBeenCalledTimes(length);
	});

	it.each<[string, boolean, Partial<Task>[], number]>([
		['had ended before the run', false, [completed], 1],
		['the run saw open', false, [{ status: 'pending' }, completed], 4],
		['the run has created', true, [completed], 4],
	])('that are refused are tried again for a task that %s', async (_, sawOpen, answers, count) => {
		const refuse = jest.fn().mockResolvedValue({ statusCode: 404, headers: {}, body: [] });
		const { look, fetchFiles } = build({
			downloads,
			httpRequest: refuse,
			answer: async (id) => (id === 'one' && answers.shift()) || { status: 'failed' },
			sawOpen,
		});
		if (answers.length > 1) await look();
		const downloadError = expect.stringContaining('has expired or is refused') as string;
		expect(await fetchFiles()).toMatchObject({ downloadError });
		expect(refuse).toHaveBeenCalledTimes(count);
	});

	it('are not fetched with nowhere to put them, which their task says', async () => {
		const downloadError = expect.stringContaining('The wait limit passed') as string;
		expect(await build({ downloads }).fetchFiles()).toMatchObject({ downloadError });
	});

	it('are not fetched if nobody wishes for them', async () => {
		expect(await build({ httpRequest }).fetchFiles()).not.toHaveProperty('downloadError');
		expect(httpRequest).not.toHaveBeenCalled();
	});
});

it.each<[string, boolean, 'error' | 'output', number]>([
	['ends with an error', false, 'error', 0],
	['continues', true, 'error', 1],
	['outputs failed tasks', false, 'output', 1],
])(
	'files are fetched beside a task that has not ended as far as the run %s',
	async (_, goesOn, failedTasks, count) => {
		const httpRequest = jest.fn(async () => await Promise.reject(new Error('reset')));
		const settings = {
			limit: 1,
			timeoutSeconds: 1,
			failedTasks,
			downloads: { field: 'data', maxBytes: null },
		};
		const looker = new Looker(settings, buildContext({ goesOn }));
		const resultUrls = ['https://files.example/a.png'];
		const done = { ...newTask('done', 'model'), status: 'completed' as const, resultUrls };
		looker.known.setTasks([done, newTask('open', 'model')]);
		const service = { credentials: { baseUrl: 'https://api.example' } };
		const getService = async () => service as unknown as TaskService;
		const source = { getService, helpers: { httpRequest }, settings };
		jest.useFakeTimers();
		await passTime(looker.collectFiles(() => source as unknown as Source));
		expect(Math.min(httpRequest.mock.calls.length, 1)).toBe(count);
	},
);

it('files of a run that was woken may take as long as its Request Timeout says', async () => {
	const timeouts: unknown[] = [];
	const helpers = {
		httpRequest: async ({ timeout }: { timeout?: number }) => {
			timeouts.push(timeout);
			throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
		},
	};
	const service = { credentials: { baseUrl: 'https://api.example', accessToken: 'token' } };
	const looker = new Looker({
		limit: 1,
		timeoutSeconds: 300,
		failedTasks: 'output',
		downloads: { field: 'data', maxBytes: null },
	});
	const task = newTask('task', 'model');
	const resultUrls = ['https://files.example/a.png'];
	looker.known.setTasks([{ ...task, status: 'completed', resultUrls }]);
	// Of an item that has a task, no options are read.
	const settings = { timeoutSeconds: 60 };
	const getService = async () => service as unknown as TaskService;
	const source = { getService, helpers, settings };
	jest.useFakeTimers();
	await passTime(looker.collectFiles(() => source as unknown as Source));
	expect(timeouts.length).toBeGreaterThan(0);
	expect(new Set(timeouts)).toEqual(new Set([300_000]));
});
