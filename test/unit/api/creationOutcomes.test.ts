import { ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import { ok, openService, REQUEST, SETTINGS, stream, type Answer } from './service';

/**
 * What the answer to a creation means: a task, certainly none, or that nobody knows. Codes and texts
 * are in `failures.test`.
 */

/** Creates a task of an input, at a service that gives this answer after some seconds. */
async function create(answer: Answer, input = {}, seconds = 0): Promise<string | Error> {
	const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
	const { service, requests } = openService(() => {
		clock.mockReturnValue(seconds * 1000);
		return answer;
	});
	const creation = service.createTask({ ...REQUEST, input }, SETTINGS);
	const outcome = await creation.catch((error: Error) => error);
	expect(requests).toHaveLength(1);
	clock.mockRestore();
	return outcome;
}

const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

const NAMED = { taskId: 'task' };
const LONG_ID = '12345678901234567890';

it.each<[string, Answer, string]>([
	['text', [200, ok(NAMED)], 'task'],
	['a long number', [200, `{"code":200,"data":{"taskId":${LONG_ID}}}`], LONG_ID],
	['text beside a failure code', [200, { code: 505, data: NAMED }], 'task'],
])('a task was created where its ID is %s', async (_, answer, taskId) => {
	expect(await create(answer)).toBe(taskId);
});

const EARLIER = { taskId: 'earlier', task_id: 7 };
const UNREAD = { detail: [{ loc: ['body', 'input'], msg: 'Invalid', input: EARLIER }] };

it('an ID that was sent is of another task', async () => {
	expect(await create([422, UNREAD], EARLIER)).toMatchObject({ kind: 'input' });
	for (const [answer, taskId] of [
		[[200, ok({ input: EARLIER })], undefined],
		[[422, { ...UNREAD, task_id: 'new' }], 'new'],
	] as Array<[Answer, string | undefined]>)
		expect(await create(answer, EARLIER)).toMatchObject({ facts: { unknown: { taskId } } });
});

const CUT = '{"code":200,"data":{"taskId":"task","more":"';

const NOT_AN_ID = 'data.taskId is missing or has another form';
const REDIRECT = 'is not followed';
const NO_JSON = "isn't JSON from the task service";

async function* flood() {
	yield* stream(CUT);
	for (;;) yield* stream('x'.repeat(1024 * 1024));
}

interface Said {
	words: string;
	/** The ID that is known. */
	taskId?: string;
	/** Something in the credential is to be checked. */
	checks?: true;
}

it.each<[string, Answer, Said]>([
	['a page', [200, '<html>'], { words: NO_JSON, checks: true }],
	['a redirect that follows a creation', [303, ''], { words: REDIRECT, checks: true }],
	['a redirect', [300, ok(NAMED)], { words: REDIRECT, taskId: 'task', checks: true }],
	['HTTP 422 with an ID', [422, { code: 422, data: NAMED }], { words: '(422)', taskId: 'task' }],
	['an ID beside data', [200, { code: 200, taskId: 'a' }], { words: 'no task ID', taskId: 'a' }],
	['an ID by another name', [200, ok({ task_id: 7 })], { words: NOT_AN_ID, taskId: '7' }],
	['an answer that breaks off', [200, stream(CUT, reset)], { words: 'broke off', taskId: 'task' }],
	['too many chunks', [200, flood()], { words: 'larger than 2 MB', taskId: 'task', checks: true }],
])('a task may have been created after %s', async (_, answer, { words, taskId, checks }) => {
	const error = (await create(answer)) as ServiceError;
	const message = expect.stringContaining(words) as string;
	expect(error).toMatchObject({
		kind: 'unknown',
		message,
		facts: { unknown: { message, taskId } },
	});
	const next = taskId ? `the service named it ${taskId}.` : 'look at the recent tasks';
	expect(error.description).toMatch(`The task may exist and may have been paid for: ${next}`);
	expect(error.description).toMatch(checks ? /again\. .*'Base URL'/ : /again\.$/);
});

const INTERNAL_ERROR = { code: 500, msg: 'Server exception, please try again later', data: null };

describe("an internal error may be the rejection of a link that the service can't read", () => {
	it.each<[string, Answer, number, boolean]>([
		['with HTTP 200 and no data, at once', [200, INTERNAL_ERROR], 4.9, true],
		['but not after five seconds', [200, INTERNAL_ERROR], 5, false],
		['but not with another HTTP status', [500, INTERNAL_ERROR], 0, false],
		['but not beside the ID of a task', [200, { code: 500, data: { taskId: 'a\nb' } }], 0, false],
	])('%s', async (_, answer, seconds, mayBeRejection) => {
		const error = (await create(answer, {}, seconds)) as ServiceError;
		expect(error).toMatchObject({ kind: mayBeRejection ? 'perhapsRejected' : 'unknown' });
		expect(error.description).toContain('The task may exist');
		expect(error.description.includes("can't read a link")).toBe(mayBeRejection);
	});
});
