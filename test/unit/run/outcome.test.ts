import { describeLeftOut, type Task } from '../../../nodes/MediaGeneration/api/task';
import { Files, listFiles } from '../../../nodes/MediaGeneration/run/files/downloads';
import type { Entry, WaitSettings } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { Looks } from '../../../nodes/MediaGeneration/run/looks';
import { makeOutcomes } from '../../../nodes/MediaGeneration/run/output/output';
import { unknown } from '../n8n';
import { buildEntry, buildWaiting } from './waitingRun';

const resultUrls = ['https://x/1', 'https://x/2'];
const completed: Task = {
	taskId: 'task',
	model: 'model',
	status: 'completed',
	resultUrls,
	result: { resultUrls },
};
const failed: Task = { taskId: 'task', model: 'model', status: 'failed', state: 'canceled' };
const open = buildEntry({ taskId: 'task' });
const ended = (end: Task): Entry => buildEntry({ taskId: 'task', end });
const DOWNLOADS: Partial<WaitSettings> = { downloads: { field: 'data', maxBytes: null } };

interface Given {
	settings?: Partial<WaitSettings>;
	/** What the service says of the task in each look, or why it can't be asked. */
	says?: Array<Task | Error>;
	files?: Files;
}

/** Makes the items of a run's one task at the end of its wait. */
async function show(entry: Entry, { settings, says = [], files }: Given = {}) {
	const run = buildWaiting([entry], {
		settings,
		async getTask() {
			const said = says.shift() as Task | Error;
			if (said instanceof Error) throw said;
			return said;
		},
	});
	const looks = new Looks(run.ledger.entries, { timeoutSeconds: 1 });
	const getService = async () => await run.getService(0);
	for (let left = says.length; left > 0; left--) await looks.look(looks.keys, { getService });
	const [outcome] = makeOutcomes({ ...run, looks, files });
	return outcome && 'items' in outcome ? outcome.items : [];
}

it('outputs what the service said last of a task that has not ended, as timedOut', async () => {
	const says: Task = { taskId: 'task', status: 'pending', state: 'generating' };
	const json = { ...says, status: 'timedOut' };
	expect(await show(open, { says: [{ ...says, model: 'm2' }] })).toStrictEqual([
		{ json: { ...json, model: 'm2' } },
	]);
	// A record may lack the model.
	const items = await show(open, { says: [{ ...says, model: 'm2' }, says] });
	expect(items).toStrictEqual([{ json: { ...json, model: 'model' } }]);
	expect(await show(open)).toMatchObject([{ json: { taskId: 'task', status: 'timedOut' } }]);
});

it.each<[string, Entry['attempts'][number]['end'] | undefined]>([
	['completed', completed],
	['failed', failed],
	['timedOut', undefined],
])('keeps the warning of its creation when the task is %s', async (status, end) => {
	const entry = buildEntry({ taskId: 'task', end });
	const request = { digest: '', model: 'model', warning: 'a mistake?' };
	expect(await show({ ...entry, request })).toMatchObject([
		{ json: { status, warning: 'a mistake?' } },
	]);
	expect((await show(entry))[0]?.json).not.toHaveProperty('warning');
});

it('says why the last look failed, until one does not', async () => {
	const gone = new Error('no answer');
	const goesOn: Task = { taskId: 'task', status: 'pending' };
	const lookError = gone.message;
	expect(await show(open, { says: [goesOn, gone] })).toMatchObject([{ json: { lookError } }]);
	expect((await show(open, { says: [gone, goesOn] }))[0]?.json).not.toHaveProperty('lookError');
});

const downloadError = expect.stringMatching(
	/^The wait limit passed.* Use Get Files with/,
) as string;

it('outputs the files of a completed task, or says that they were not complete in time', async () => {
	const settings = DOWNLOADS;
	expect(await show(ended(completed), { settings })).toMatchObject([
		{ json: { status: 'completed', downloadError } },
	]);
	const output = [{ json: completed, binary: { data: { mimeType: 'image/png', data: 'file' } } }];
	const files = Object.assign(Object.create(Files.prototype) as Files, { find: () => output });
	expect(await show(ended(completed), { settings, files })).toBe(output);
});

it.each<[string, Task, Partial<WaitSettings>]>([
	['whose result is text', { ...completed, resultUrls: [], result: 'a fox' }, DOWNLOADS],
	['of a run that does not download, without a result', { ...completed, resultUrls: [] }, {}],
	['that failed', failed, { ...DOWNLOADS, perFile: true }],
	['of a run that does not download', completed, {}],
])('says nothing of files for a task %s', async (_, task, settings) => {
	expect(await show(ended(task), { settings })).toStrictEqual([{ json: task }]);
});

it.each<[Partial<Task>, string]>([
	[{}, 'The task completed without a result. Get, with'],
	[{ failMessage: 'Blocked.', result: {} }, 'The task completed without a result (Blocked.). Get'],
	[{ result: { resultUrls: [''] } }, 'without a result ({"resultUrls":[""]}). Get'],
	[{ result: { reasons: ['x'.repeat(600)] } }, 'without a result ({"reasons":["xxx'],
])(
	'says of a task that completed without a result what the service says: %j',
	async (more, why) => {
		const task: Task = { ...completed, resultUrls: [], result: undefined, ...more };
		for (const perFile of [false, true]) {
			const settings = { ...DOWNLOADS, perFile };
			const [item, ...others] = await show(ended(task), { settings });
			const { downloadError, ...rest } = item?.json as { downloadError: string };
			expect(downloadError).toContain(why);
			expect(downloadError).toMatch(/\)?\. Get, .* Running Generate again pays for a new task\.$/);
			expect(downloadError.length).toBeLessThan(700);
			expect([rest, others]).toEqual([task, []]);
		}
	},
);

it('says that a file in the answer itself was left out: of what was to be downloaded, else as a warning', async () => {
	const task: Task = { ...completed, resultUrls: [], result: ['data:image/png;base64,…'] };
	const why = describeLeftOut(task);
	const request = { digest: '', model: 'model', warning: 'a mistake?' };
	const entry = { ...ended(task), request };
	expect((await show(ended(task)))[0]?.json).toEqual({ ...task, warning: why });
	expect(await show(entry)).toMatchObject([{ json: { warning: `a mistake? ${why}` } }]);
	const [item] = await show(ended(task), { settings: DOWNLOADS });
	expect(item?.json).toEqual({ ...task, downloadError: why });
	expect(() => listFiles(task, ['result'])).toThrow(
		expect.objectContaining({ description: why }) as Error,
	);
});

it('outputs an item for each file of a completed task, and one for any other, where that is chosen', async () => {
	const settings = { perFile: true };
	expect(await show(open, { settings })).toMatchObject([{ json: { status: 'timedOut' } }]);
	const files = resultUrls.map((url, index) => ({ index, kind: 'result', url }));
	const items = files.map((file) => ({ json: { ...completed, file } }));
	expect(await show(ended(completed), { settings })).toStrictEqual(items);
	const late = await show(ended(completed), { settings: { ...DOWNLOADS, ...settings } });
	expect(late).toMatchObject(files.map((file) => ({ json: { file, downloadError } })));
});

it('where a task is missing, the reason comes first: of the item, of its creation, of the run', () => {
	const entries = [open, { attempts: [], unknown: unknown().facts.outcome }, open];
	const run = buildWaiting(entries);
	run.errors.set(0, new Error('refused'));
	const refusal = { error: new Error('the run') };
	expect(makeOutcomes({ ...run, refusal })).toMatchObject([
		{ error: { message: 'refused' } },
		{ error: unknown() },
		{ error: refusal.error },
	]);
});
