import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { listFileLinks } from '../../../nodes/MediaGeneration/run/files/taskFiles';
import type { Entry, WaitSettings } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { makeOutcomes } from '../../../nodes/MediaGeneration/run/output/output';
import { WAIT, type RunSetup } from '../n8n';
import { open } from './sending';

const resultUrls = ['https://x/1', 'https://x/2'];
const completed: Task = { taskId: 'task', model: 'model', status: 'completed', resultUrls };
const DOWNLOADS: Partial<WaitSettings> = { downloads: { field: 'data', maxBytes: null } };

/** Makes the items of a run's one task at the end of its wait. By then no file was complete. */
function makeItems(end: Task | undefined, settings: Partial<WaitSettings> = {}, warning?: string) {
	const request: Entry['request'] = { digest: '', model: 'model', warning };
	const entries: Entry[] = [{ request, attempts: [{ taskId: 'task', end }] }];
	const run = open(1, { ledger: { entries, settings: { ...WAIT, ...settings } } });
	const [outcome] = makeOutcomes(run, { hasWaited: true });
	return outcome && 'items' in outcome ? outcome.items : [];
}

it.each<[string, Task, Partial<WaitSettings>]>([
	['whose result is text', { ...completed, resultUrls: [], result: 'a fox' }, DOWNLOADS],
	['that failed', { taskId: 'task', status: 'failed' }, { ...DOWNLOADS, perFile: true }],
	['of a run that does not download', completed, {}],
])('a task %s says nothing of files', (_, task, settings) => {
	expect(makeItems(task, settings)).toStrictEqual([{ json: { ...task, model: 'model' } }]);
});

it.each<[Partial<Task>, string]>([
	[{}, 'The task completed without a result. Get, with'],
	[{ failMessage: 'Blocked.', result: {} }, 'The task completed without a result (Blocked.). Get'],
	[{ result: { reasons: ['x'.repeat(600)] } }, 'without a result ({"reasons":["xxx'],
])('a task that completed without a result says what the service says: %j', (more, why) => {
	const task: Task = { ...completed, resultUrls: [], ...more };
	for (const perFile of [false, true]) {
		const [item, ...others] = makeItems(task, { ...DOWNLOADS, perFile });
		const { downloadError } = item?.json as { downloadError: string };
		expect(downloadError).toContain(why);
		expect(downloadError).toMatch(/Running Generate again pays for a new task\.$/);
		expect(downloadError.length).toBeLessThan(700);
		expect([item?.json, others]).toEqual([{ ...task, downloadError }, []]);
	}
});

it('a file in the answer itself is left out, and its task says so, whatever is to be downloaded', () => {
	const result = ['data:image/png;base64,…'];
	const why = 'left out';
	const task: Task = { ...completed, resultUrls: [], result, downloadError: why };
	for (const settings of [{}, DOWNLOADS])
		expect(makeItems(task, settings)).toEqual([{ json: task }]);
	expect(makeItems(task, {}, 'a mistake?')).toEqual([{ json: { ...task, warning: 'a mistake?' } }]);
	expect(() => listFileLinks(task, ['result'])).toThrow(
		expect.objectContaining({ description: why }) as Error,
	);
});

it('where that is chosen, each file of a completed task is an item, and any other task is one', () => {
	const perFile = true;
	expect(makeItems(undefined, { perFile })).toMatchObject([{ json: { status: 'timedOut' } }]);
	const files = resultUrls.map((url, index) => ({ index, kind: 'result', url }));
	expect(makeItems(completed, { perFile })).toEqual(
		files.map((file) => ({ json: { ...completed, file } })),
	);
	const downloadError = expect.stringContaining('limit passed') as string;
	const late = makeItems(completed, { ...DOWNLOADS, perFile });
	expect(late).toMatchObject(files.map((file) => ({ json: { file, downloadError } })));
});

it.each<[string, RunSetup, 'error' | 'output', boolean]>([
	['a workflow', {}, 'error', true],
	['a workflow with Failed Tasks Output', {}, 'output', false],
	['an agent, whatever Failed Tasks says', { isTool: true }, 'error', false],
	["n8n's Agents", { contextData: null }, 'error', false],
])('a failed task is the error of its item for %s: %j, %s', (_, call, failedTasks, isError) => {
	const end: Task = { taskId: 'task', status: 'failed' };
	const entries: Entry[] = [{ attempts: [{ taskId: 'task', end }] }];
	const run = open(1, { ...call, ledger: { entries, settings: { ...WAIT, failedTasks } } });
	expect(makeOutcomes(run, { hasWaited: true })).toMatchObject([
		isError ? { error: {} } : { items: [{}] },
	]);
});
