import { newTask, type Task } from '../../../../nodes/MediaGeneration/api/task';
import { KnownTasks } from '../../../../nodes/MediaGeneration/operations/wait/known';
import { fail } from '../../fail';

const open = newTask('task', 'model');
const resultUrls = ['https://x/1', 'https://x/2'];
const completed: Task = {
	taskId: 'task',
	model: 'model',
	status: 'completed',
	resultUrls,
	result: { resultUrls },
};
const failed: Task = { taskId: 'task', model: 'model', status: 'failed', state: 'canceled' };

type Settings = ConstructorParameters<typeof KnownTasks>[0];
const DOWNLOADS: Settings = { downloads: {} };

/** What is known of one task, and how its output is shown. */
function build(task = open, settings?: Settings) {
	const known = new KnownTasks(settings);
	known.setTasks([task]);
	const show = () => known.toOutput('task');
	return { known, show };
}

it('outputs what the service said last of a task that has not ended, as timedOut', () => {
	const { known, show } = build();
	known.learn('task', { taskId: 'task', status: 'pending', state: 'generating', model: 'm2' });
	const json = { taskId: 'task', status: 'timedOut', state: 'generating', model: 'm2' };
	expect(show()).toStrictEqual([{ json }]);
	// A record may lack the model.
	known.learn('task', { taskId: 'task', status: 'pending', state: 'generating' });
	expect(show()).toStrictEqual([{ json }]);
	expect(known).toMatchObject({ haveEnded: false, openIds: ['task'] });
});

it.each([['completed'], ['failed'], ['pending']] as const)(
	'keeps the warning of its creation when the service says %s, through a sleep too',
	(status) => {
		const task = newTask('task', 'model', 'a mistake?');
		const { known, show } = build(task);
		expect(known.toStoredOutput('task')).toMatchObject([{ json: { warning: 'a mistake?' } }]);
		known.learn('task', { taskId: 'task', status });
		expect(show()).toMatchObject([{ json: { warning: 'a mistake?' } }]);
		const woken = build(task);
		woken.known.restore(JSON.parse(JSON.stringify(known.ended)) as Task[]);
		expect(woken.show()).toMatchObject([{ json: { warning: 'a mistake?' } }]);
	},
);

it('outputs no warning where there is none', () => {
	const { known, show } = build();
	known.learn('task', completed);
	expect(show()[0]?.json).not.toHaveProperty('warning');
});

it('keeps the first end, whatever is said later', () => {
	const { known, show } = build();
	known.learn('task', completed);
	known.learn('task', failed);
	known.learnFailure('task', new Error('gone'));
	expect(show()).toStrictEqual([{ json: completed }]);
	expect(known).toMatchObject({ haveEnded: true, openIds: [] });
});

it('ignores tasks of other runs', () => {
	const { known } = build();
	known.learn('another', completed);
	known.learnFailure('another', new Error('gone'));
	known.learnFiles('another', [{ json: {} }]);
	expect(known).toMatchObject({ tasks: [open], haveEnded: false });
});

it('says why the last look failed, until one does not', () => {
	const { known, show } = build();
	known.learnFailure('task', new Error('no answer'));
	expect(show()).toMatchObject([{ json: { status: 'timedOut', lookError: 'no answer' } }]);
	expect(known.failure?.message).toBe('no answer');
	known.learn('task', open);
	expect(show()[0]?.json).not.toHaveProperty('lookError');
	expect(known.failure).toBeUndefined();
});

it('a task has not failed because the service said, however often, that its upstream is silent', () => {
	const { known, show } = build();
	const silent = fail('fault', { code: 408, answeredBy: 'service', what: 'nothing came' });
	for (let looks = 0; looks < 3; looks++) known.learnFailure('task', silent);
	expect(show()).toMatchObject([{ json: { status: 'timedOut', lookError: 'nothing came' } }]);
	expect(known.haveEnded).toBe(false);
});

const downloadError = expect.stringMatching(
	/^The wait limit passed.* Use Get Files with/,
) as string;

it('outputs the files of a completed task, or says that they were not complete in time', () => {
	const { known, show } = build(open, DOWNLOADS);
	known.learn('task', completed);
	expect(show()).toMatchObject([{ json: { status: 'completed', downloadError } }]);
	const output = [{ json: completed, binary: { data: { mimeType: 'image/png', data: 'file' } } }];
	known.learnFiles('task', output);
	known.learnFiles('task', [{ json: {} }]);
	expect(show()).toBe(output);
});

it.each<[string, Task, Settings]>([
	['whose result is text', { ...completed, resultUrls: [], result: 'a fox' }, DOWNLOADS],
	['of a run that does not download, without a result', { ...completed, resultUrls: [] }, {}],
	['that failed', failed, { ...DOWNLOADS, perFile: true }],
	['of a run that does not download', completed, {}],
])('says nothing of files for a task %s', (_, task, settings) => {
	expect(build(task, settings).show()).toStrictEqual([{ json: task }]);
});

it.each<[Partial<Task>, string]>([
	[{}, 'The task completed without a result. Get, with'],
	[{ failMessage: 'Blocked.', result: {} }, 'The task completed without a result (Blocked.). Get'],
	[{ result: { resultUrls: [''] } }, 'without a result ({"resultUrls":[""]}). Get'],
	[{ result: { reasons: ['x'.repeat(600)] } }, 'without a result ({"reasons":["xxx'],
])('says of a task that completed without a result what the service says: %j', (more, why) => {
	const task: Task = { ...completed, resultUrls: [], result: undefined, ...more };
	for (const perFile of [false, true]) {
		const [item, ...others] = build(task, { ...DOWNLOADS, perFile }).show();
		const { downloadError, ...rest } = item?.json as { downloadError: string };
		expect(downloadError).toContain(why);
		expect(downloadError).toMatch(/\)?\. Get, .* Running Generate again pays for a new task\.$/);
		expect(downloadError.length).toBeLessThan(700);
		expect([rest, others]).toEqual([task, []]);
	}
});

it('outputs an item for each file of a completed task, and one for any other, where that is chosen', () => {
	const { known, show } = build(open, { perFile: true });
	known.learnFailure('task', new Error('no answer'));
	expect(show()).toMatchObject([{ json: { lookError: 'no answer' } }]);
	known.learn('task', completed);
	const files = resultUrls.map((url, index) => ({ index, kind: 'result', url }));
	expect(show()).toStrictEqual(files.map((file) => ({ json: { ...completed, file } })));
	const late = build(completed, { ...DOWNLOADS, perFile: true }).show();
	expect(late).toMatchObject(files.map((file) => ({ json: { file, downloadError } })));
});

it('lists its tasks, and those that have not ended', () => {
	const tasks = [completed, { ...failed, taskId: 'other' }, newTask('third', 'model')];
	const known = new KnownTasks();
	known.setTasks(tasks);
	expect(known.tasks).toEqual(tasks);
	expect(known.getTask('other')).toBe(tasks[1]);
	expect(known.openIds).toEqual(['third']);
	expect(known.isOpen('other')).toBe(false);
});

it('keeps what it knows of the tasks of a later try, and drops those that it has no more', () => {
	const { known, show } = build(open, DOWNLOADS);
	const [gone, quiet] = [newTask('gone', 'model'), newTask('quiet', 'model')];
	known.setTasks([open, gone, quiet]);
	const output = [{ json: completed, binary: { data: { mimeType: 'image/png', data: 'file' } } }];
	known.learn('task', completed);
	known.learnFiles('task', output);
	known.learnFailure('quiet', new Error('no answer'));
	known.setTasks([quiet, open]);
	expect(known.tasks).toEqual([quiet, completed]);
	expect(known.openIds).toEqual(['quiet']);
	expect(known.failure?.message).toBe('no answer');
	expect(show()).toBe(output);
});
