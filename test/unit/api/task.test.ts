import { taskRecord } from '../../../nodes/MediaGeneration/api/answers';
import { findStatus, REQUEST, toTask } from '../../../nodes/MediaGeneration/api/task';

const at = (name: string) => `https://cdn.example/${name}`;

const result = { resultUrls: [at('a.png')], seed: 7 };
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
		expect(failed).toMatchObject({ failCode: '501', failMessage: 'blocked', resultUrls: [] });
		const unexplained = { failCode: null, failMsg: '' };
		const { failCode, failMessage } = task({ state: 'fail', ...unexplained });
		expect([failCode, failMessage]).toEqual([undefined, undefined]);
	});

	it.each([
		['', 'none'],
		[{ text: 'A fox.' }, undefined],
		[result, undefined],
	])('says of a completed task with the result %j why it has none: %s', (resultJson, why) => {
		expect(task({ resultJson })).toMatchObject({ status: 'completed' });
		expect(task({ resultJson }).failMessage).toBe(why);
		expect(task({ resultJson, state: 'generating' })).not.toHaveProperty('failMessage');
	});

	it('has words of the service on one line, and not too long', () => {
		const failMsg = `a\r\n\u0000b\u2028c\u202ed ${'x'.repeat(1_000)}`;
		const { failMessage, state } = task({ state: 'fail\n', failMsg });
		expect(state).toBe('fail');
		expect(failMessage).toMatch(/^a b c d x+…$/);
		expect(failMessage).toHaveLength(500);
	});

	it('has as its result the unknown keys of a record without a result', () => {
		const unknownKeys = { output: at('a.png') };
		const { resultUrls, result } = task({ resultJson: '', ...unknownKeys });
		expect(resultUrls).toEqual([unknownKeys.output]);
		expect(result).toEqual({ ...unknownKeys, costTime: 12_000, progress: 100 });
	});

	it('has as its result the text of a response where the result itself is empty', () => {
		const response = { text: 'A fox.' };
		expect(task({ resultJson: '{}', response })).toMatchObject({ result: response });
	});

	it('keeps a text result beside links under unknown keys', () => {
		const payload = JSON.stringify({ audio: at('sent.mp3') });
		const { result } = task({ resultJson: '{"text":"A fox."}', payload });
		expect(result).toMatchObject({ resultJson: { text: 'A fox.' }, payload });
	});

	const input = { prompt: 'A fox' };
	it.each<[string, object, string | undefined]>([
		['an object', { param: { input } }, 'A fox'],
		['text', { param: JSON.stringify({ input: JSON.stringify(input) }) }, 'A fox'],
		['of the newer name', { param: undefined, paramJson: JSON.stringify({ input }) }, 'A fox'],
		['without a prompt', {}, undefined],
	])('names its files by the request that the service stored, %s', (_, more, prompt) => {
		expect(task(more)[REQUEST]?.prompt).toBe(prompt);
	});

	it.each([
		[1_763_640_012, '2025-11-20T12:00:12.000Z'],
		[1_763_640_012_345, '2025-11-20T12:00:12.345Z'],
		[0, undefined],
		[-1e20, undefined],
		['soon', undefined],
	])('reads the time %j, of seconds or milliseconds', (completeTime, iso) => {
		expect(task({ completeTime }).completedAt).toBe(iso);
	});

	it('leaves out what is not known', () => {
		const known = { taskId: 'task', state: 'generating' };
		const running = toTask('task', taskRecord.parse(known));
		expect(running).toStrictEqual({ ...known, status: 'pending', resultUrls: [] });
	});

	const text = { resultObject: { text: 'hi' } };
	const songs = { data: [{ audio_url: at('a'), stream_audio_url: at('s') }, { title: 'x' }] };
	const frame = { firstFrameUrl: at('f') };
	it.each<[string, object, string[], unknown]>([
		['text that is no JSON', { resultJson: 'done' }, [], 'done'],
		['one without links', { resultJson: JSON.stringify(text) }, [], text],
		['text in a newer one alone', { resultJson: undefined, response: text }, [], text],
		['one beside text', { resultJson: 'done', response: songs }, ['a'], songs],
		['one beside a frame', { resultJson: frame, response: songs }, ['a'], songs],
		['an empty one', { response: {} }, ['a.png'], result],
	])('reads a result that is %s', (_, more, links, whole) => {
		const { resultUrls, result } = task(more);
		expect([resultUrls, result]).toEqual([links.map(at), whole]);
	});
});

it.each([
	['completed', ['success', 'SUCCEEDED', 'complete', 'done', 'Finished']],
	['failed', ['fail', 'failed', 'failure', 'error', 'terminated', 'canceled', 'Cancelled']],
	['failed', ['aborted', 'expired', 'rejected', 'timeout', 'timed_out', 'timed out']],
	['pending', ['waiting', 'queuing', 'generating', 'in_progress', 'an unknown word']],
])('a task is %s in the states %j', (status, states) => {
	for (const state of states) expect([state, task({ state }).status]).toEqual([state, status]);
});

it('a state that no list has means nothing', () => {
	expect(['unheard-of', 'Queued'].map(findStatus)).toEqual([undefined, 'pending']);
});
