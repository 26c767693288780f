import fc from 'fast-check';
import { PROMPT, taskRecord, toStatus, toTask } from '../../../nodes/MediaGeneration/api/task';

const result = { resultUrls: ['https://cdn.example/a.png'], seed: 7 };
const record = {
	taskId: 'task',
	model: 'beta2/image-edit',
	state: 'success',
	param: '{}',
	resultJson: JSON.stringify(result),
	failCode: '0',
	failMsg: 'none',
	costTime: 12_000,
	createTime: 1_763_640_000_000,
	completeTime: 1_763_640_012_000,
	creditsConsumed: 12.5,
	progress: 100,
};

const task = (more: object = {}) => toTask('task', taskRecord.parse({ ...record, ...more }));

describe('toTask', () => {
	it('returns a completed task', () => {
		expect(task()).toStrictEqual({
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
		const failed = task({ state: 'fail', resultJson: '', failCode: 501, failMsg: 'blocked' });
		const reason = { failCode: '501', failMessage: 'blocked' };
		expect(failed).toMatchObject({ status: 'failed', ...reason, resultUrls: [] });
	});

	it('has words of the service on one line, and not too long', () => {
		const failMsg = `a\r\n\u0000b\u2028c\u202ed ${'x'.repeat(1_000)}`;
		const { failMessage, state, failCode, model } = task({
			state: 'fail\n',
			failMsg,
			failCode: 'E\t7',
			model: 'm\u0007',
		});
		expect({ state, failCode, model }).toEqual({ state: 'fail', failCode: 'E 7', model: 'm' });
		expect(failMessage).toMatch(/^a b c d x+…$/);
		expect(failMessage).toHaveLength(500);
	});

	it('has as its result what is left of a record without one', () => {
		const left = { output: 'https://cdn.example/a.png' };
		const { resultUrls, result } = task({ resultJson: '', ...left });
		expect(resultUrls).toEqual([left.output]);
		expect(result).toEqual({ ...left, costTime: 12_000, progress: 100 });
	});

	it('reads the prompt of the request that the service stored, to name files by', () => {
		expect(task({ param: '{"input":{"prompt":"A fox"}}' })[PROMPT]).toBe('A fox');
		expect(task()).not.toHaveProperty([PROMPT]);
	});

	it('leaves out what is not known', () => {
		const known = { taskId: 'task', state: 'generating' };
		const running = toTask('task', taskRecord.parse(known));
		expect(running).toStrictEqual({ ...known, status: 'pending', resultUrls: [] });
	});

	const text = { resultObject: { text: 'hi' } };
	const songs = {
		data: [{ audio_url: 'a', stream_audio_url: 's' }, { stream_audio_url: 'b' }, { title: 'x' }],
	};
	it.each<[string, object, string[], unknown]>([
		['an object', { resultJson: { resultUrls: ['u'] } }, ['u'], { resultUrls: ['u'] }],
		['a single link', { resultJson: '{"resultUrls":"u"}' }, ['u'], { resultUrls: 'u' }],
		['text that is no JSON', { resultJson: 'done' }, [], 'done'],
		['a number', { resultJson: 7 }, [], 7],
		['one without links', { resultJson: JSON.stringify(text) }, [], text],
		['null', { resultJson: null }, [], undefined],
		['a newer response', { resultJson: '', response: songs }, ['a', 'b'], songs],
		['text in a newer one alone', { resultJson: undefined, response: text }, [], text],
		['one as text', { resultJson: null, response: JSON.stringify(songs) }, ['a', 'b'], songs],
		['one beside {}', { resultJson: {}, response: songs }, ['a', 'b'], songs],
		['one beside text', { resultJson: 'done', response: { resultUrls: 'u' } }, ['u'], 'done'],
		['an empty one', { response: {} }, result.resultUrls, result],
	])('reads a result that is %s', (_, more, links, whole) => {
		const { resultUrls, result } = task(more);
		expect([resultUrls, result]).toEqual([links, whole]);
	});

	it.each([
		['generating', undefined],
		['success', 12.5],
		['fail', 12.5],
	])('has in state %s the credits %s, as they are final', (state, creditsConsumed) =>
		expect(task({ state }).creditsConsumed).toBe(creditsConsumed),
	);

	it.each([0, -1e20, 'soon', undefined])('leaves out the time %j', (completeTime) => {
		expect(task({ completeTime })).not.toHaveProperty('completedAt');
	});

	it('tolerates whatever stands beside ID and state', () => {
		const { taskId, state, ...others } = record;
		const rest = fc.dictionary(fc.constantFrom(...Object.keys(others)), fc.anything());
		fc.assert(
			fc.property(rest, (more) => {
				const read = toTask(taskId, taskRecord.parse({ ...more, taskId, state }));
				expect(read).toMatchObject({ taskId, status: 'completed' });
			}),
		);
	});
});

it.each([
	['completed', ['success', 'SUCCESS', 'succeeded', 'completed']],
	['failed', ['fail', 'failed', 'failure', 'FAILED', 'error', 'errored', 'terminated']],
	['failed', ['canceled', 'cancelled', 'aborted', 'expired', 'rejected', 'Cancelled']],
	['failed', ['timeout', 'timed_out', 'timedOut', 'time-out', 'timed out']],
	['pending', ['waiting', 'queuing', 'generating', 'pending', 'running', 'an unknown word']],
])('a task is %s in the states %j', (status, states) => {
	for (const state of states) expect([state, toStatus(state)]).toEqual([state, status]);
});

it('a state that no list has counts as what the caller says, and others as what they are', () => {
	const states = ['done', 'success', 'fail', 'Queued', 'processing', 'in_progress'];
	expect(states.map((state) => toStatus(state, 'failed'))).toEqual([
		'failed',
		'completed',
		'failed',
		'pending',
		'pending',
		'pending',
	]);
});
