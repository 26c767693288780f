import { newTask, type Task } from '../../../../nodes/MediaGeneration/api/task';
import { Batch } from '../../../../nodes/MediaGeneration/operations/wait/batch';

const open = newTask('task', 'model');
const completed: Task = { taskId: 'task', status: 'completed', resultUrls: ['https://x/1'] };
const failed: Task = { taskId: 'task', status: 'failed', state: 'canceled' };

const build = (downloads = false, task = open) =>
	new Batch([task], downloads ? { downloads: {} } : {});

it('outputs what the service said last of a task that has not ended, as timedOut', () => {
	const batch = build();
	batch.learn('task', { taskId: 'task', status: 'pending', state: 'generating' });
	expect(batch.toOutput('task')).toStrictEqual([
		{ json: { taskId: 'task', status: 'timedOut', state: 'generating', model: 'model' } },
	]);
	expect(batch).toMatchObject({ isEnded: false, openIds: ['task'] });
});

it('knows the model of its creation where a record has none', () => {
	const batch = build();
	batch.learn('task', { ...open, model: 'model-2' });
	expect(batch.tasks).toEqual([{ ...open, model: 'model-2' }]);
	batch.learn('task', { ...open, model: undefined });
	expect(batch.tasks).toEqual([{ ...open, model: 'model-2' }]);
});

it('keeps the first end, whatever is said later', () => {
	const batch = build();
	batch.learn('task', completed);
	batch.learn('task', failed);
	batch.learnFailure('task', { message: 'gone', code: 404 });
	expect(batch.toOutput('task')).toStrictEqual([{ json: { ...completed, model: 'model' } }]);
	expect(batch).toMatchObject({ isEnded: true, openIds: [] });
});

it('ignores tasks of other batches', () => {
	const batch = build();
	batch.learn('another', completed);
	batch.learnFailure('another', { message: 'gone' });
	batch.learnFiles('another', [{ json: {} }]);
	expect(batch.has('another')).toBe(false);
	expect(batch.isEnded).toBe(false);
});

it('says why the last look failed, until one does not', () => {
	const batch = build();
	batch.learnFailure('task', { message: 'no answer' });
	expect(batch.toOutput('task')[0]?.json).toMatchObject({
		status: 'timedOut',
		lookError: 'no answer',
	});
	expect(batch.failure?.message).toBe('no answer');
	batch.learn('task', open);
	expect(batch.toOutput('task')[0]?.json).not.toHaveProperty('lookError');
	expect(batch.failure).toBeUndefined();
});

it.each([
	[[408, 408], 'failed'],
	[[408], 'timedOut'],
	[[408, 500, 408], 'timedOut'],
	[[500, 500], 'timedOut'],
	[[408, undefined, 408, 408], 'failed'],
])('after looks that failed with the codes %j, a task is %s', (codes, status) => {
	const batch = build();
	for (const code of codes) batch.learnFailure('task', { message: 'nothing came', code });
	expect(batch.toOutput('task')[0]?.json).toMatchObject({
		status,
		...(status === 'failed' && { failCode: '408', failMessage: 'nothing came' }),
	});
});

it('outputs the files of a completed task, or says that they were not complete in time', () => {
	const batch = build(true);
	batch.learn('task', completed);
	expect(batch.toOutput('task')[0]?.json).toMatchObject({
		status: 'completed',
		downloadError: expect.stringContaining('The wait limit passed') as string,
	});
	const output = [{ json: completed, binary: { data: { mimeType: 'image/png', data: 'file' } } }];
	batch.learnFiles('task', output);
	batch.learnFiles('task', [{ json: {} }]);
	expect(batch.toOutput('task')).toBe(output);
});

it.each<[string, Task, boolean]>([
	['without links', { ...completed, resultUrls: [] }, true],
	['that failed', failed, true],
	['of a run that does not download', completed, false],
])('says nothing of files for a task %s', (_, task, downloads) => {
	expect(build(downloads, task).toOutput('task')).toStrictEqual([{ json: task }]);
});

it('outputs an item for each file of a completed task, and one for any other, where that is chosen', () => {
	const resultUrls = ['https://x/1', 'https://x/2'];
	const task = { ...completed, resultUrls, result: { resultUrls } };
	const batch = new Batch([open], { perFile: true });
	batch.learnFailure('task', { message: 'no answer' });
	expect(batch.toOutput('task')).toMatchObject([{ json: { lookError: 'no answer' } }]);
	batch.learn('task', { ...task, model: 'model' });
	expect(batch.toOutput('task')).toStrictEqual(
		resultUrls.map((url, index) => ({
			json: { ...task, model: 'model', file: { index, kind: 'result', url } },
		})),
	);
	const late = new Batch([task], { downloads: {}, perFile: true });
	expect(late.toOutput('task')).toMatchObject(
		resultUrls.map((url) => ({ json: { file: { url }, downloadError: expect.any(String) } })),
	);
	expect(new Batch([failed], { downloads: {}, perFile: true }).toOutput('task')).toStrictEqual([
		{ json: failed },
	]);
});

it('lists its tasks, and those that have not ended', () => {
	const tasks = [completed, { ...failed, taskId: 'other' }, newTask('third', 'model')];
	const batch = new Batch(tasks);
	expect(batch.tasks).toEqual(tasks);
	expect(batch.getTask('other')).toBe(tasks[1]);
	expect(batch.openIds).toEqual(['third']);
	expect(batch.isOpen('other')).toBe(false);
});
