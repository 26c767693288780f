import fc from 'fast-check';
import { newTask, taskRecord, toStatus, toTask } from '../../nodes/MediaGeneration/api/task';

const result = { resultUrls: ['https://cdn.example/a.png'], seed: 7 };
const record = {
	taskId: 'task',
	model: 'beta2/image-edit',
	state: 'success',
	param: '{}',
	resultJson: JSON.stringify(result),
	failCode: '',
	failMsg: null,
	costTime: 12_000,
	createTime: 1_763_640_000_000,
	completeTime: 1_763_640_012_000,
	creditsConsumed: 12.5,
	progress: 100,
};

const task = (more: object = {}) => toTask(taskRecord.parse({ ...record, ...more }));

describe('toTask', () => {
	it('returns a completed task', () => {
		expect(task()).toEqual({
			taskId: 'task',
			model: 'beta2/image-edit',
			status: 'completed',
			state: 'success',
			resultUrls: result.resultUrls,
			result,
			creditsConsumed: 12.5,
			createdAt: '2025-11-20T12:00:00.000Z',
			completedAt: '2025-11-20T12:00:12.000Z',
		});
	});

	it('returns why a task failed', () => {
		expect(
			task({
				state: 'fail',
				resultJson: '',
				failCode: 501,
				failMsg: 'blocked',
				completeTime: null,
			}),
		).toMatchObject({ status: 'failed', failCode: '501', failMessage: 'blocked', resultUrls: [] });
	});

	it('leaves out what is not known', () => {
		const running = toTask(taskRecord.parse({ taskId: 'task', state: 'generating' }));
		expect(running).toEqual({
			taskId: 'task',
			status: 'pending',
			state: 'generating',
			resultUrls: [],
		});
	});

	it.each([
		['an object', { resultUrls: ['u'] }, ['u'], { resultUrls: ['u'] }],
		['a single link', '{"resultUrls":"u"}', ['u'], { resultUrls: 'u' }],
		['text that is no JSON', 'done', [], 'done'],
		[
			'a result without links',
			'{"resultObject":{"text":"hi"}}',
			[],
			{ resultObject: { text: 'hi' } },
		],
		['null', null, [], undefined],
	])('reads a result that is %s', (_, resultJson, resultUrls, result) => {
		const { resultUrls: urls, result: whole } = task({ resultJson });
		expect(urls).toEqual(resultUrls);
		expect(whole).toEqual(result);
	});

	const songs = {
		data: [{ audio_url: 'a', stream_audio_url: 's' }, { stream_audio_url: 'b' }, { title: 'x' }],
	};
	it.each<[string, object, string[], unknown]>([
		['alone', { resultJson: '', response: songs }, ['a', 'b'], songs],
		['as text', { resultJson: null, response: JSON.stringify(songs) }, ['a', 'b'], songs],
		['beside an empty result', { resultJson: {}, response: songs }, ['a', 'b'], songs],
		['beside text', { resultJson: 'done', response: { resultUrls: 'u' } }, ['u'], 'done'],
		['that is empty', { response: {} }, result.resultUrls, result],
	])('reads the newer response %s', (_, more, resultUrls, result) =>
		expect(task(more)).toMatchObject({ resultUrls, result }),
	);

	it.each([
		['generating', undefined],
		['a word that is not known', undefined],
		['success', 12.5],
		['fail', 12.5],
	])('has in state %s the credits %s, as they are final', (state, creditsConsumed) =>
		expect(task({ state }).creditsConsumed).toBe(creditsConsumed),
	);

	it.each([0, -1e20, 'soon', undefined])('leaves out the time %j', (completeTime) => {
		expect(task({ completeTime })).not.toHaveProperty('completedAt');
	});

	it('tolerates whatever stands beside id and state', () => {
		const other = fc.dictionary(
			fc.constantFrom(...Object.keys(record).filter((key) => key !== 'taskId' && key !== 'state')),
			fc.anything(),
		);
		fc.assert(
			fc.property(other, (rest) => {
				expect(toTask(taskRecord.parse({ ...rest, taskId: 't', state: 'success' }))).toMatchObject({
					taskId: 't',
					status: 'completed',
				});
			}),
		);
	});
});

describe('toStatus', () => {
	it.each([
		['waiting', 'pending'],
		['queuing', 'pending'],
		['generating', 'pending'],
		['pending', 'pending'],
		['running', 'pending'],
		['success', 'completed'],
		['SUCCESS', 'completed'],
		['completed', 'completed'],
		['fail', 'failed'],
		['failed', 'failed'],
		['a word that is not known', 'pending'],
	])('%s is %s', (state, status) => expect(toStatus(state)).toBe(status));
});

describe('newTask', () => {
	it('is pending, with no results yet', () => {
		expect(newTask('task', 'beta2/image-edit')).toEqual({
			taskId: 'task',
			model: 'beta2/image-edit',
			status: 'pending',
			resultUrls: [],
		});
	});
});
