import type { CreateTaskRequest } from '../../../nodes/MediaGeneration/api/client';
import { pause } from '../../../nodes/MediaGeneration/lib/timers';
import { InputFile } from '../../../nodes/MediaGeneration/run/inputFile';
import { TaskLimit } from '../../../nodes/MediaGeneration/run/overTasks';
import { CreationSender } from '../../../nodes/MediaGeneration/run/sender';
import { openRecord } from '../../../nodes/MediaGeneration/run/open';
import type { RequestWork } from '../../../nodes/MediaGeneration/operations/work';
import { buildContext, prepare, refuse, unknown } from '../n8n';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const NOTHING = {
	error: { message: expect.stringContaining('no time left'), nothingCreated: true },
};
const MAY_EXIST = { error: { description: expect.stringContaining('may exist') } };

let calls = 0;

/** Creates a task that is to be there in ten seconds, and returns what became of it by then and in the end. */
async function create(
	createTask: (body: CreateTaskRequest) => unknown,
	{ input = {}, passed = 0 }: { input?: object; passed?: number } = {},
) {
	const logged: string[] = [];
	const log = (line: string) => void logged.push(line);
	const run = { kept: null, isTool: true, input: [{}], parameters: { calls } };
	const context = buildContext(run, { logger: { info: log, warn: log } });
	const record = openRecord(context);
	const answerBy = Date.now() + 10_000;
	jest.advanceTimersByTime(passed);
	const sent: CreateTaskRequest[] = [];
	const credentials = { accessToken: `timely-${calls++}` };
	const send = (body: CreateTaskRequest) => {
		sent.push(body);
		return createTask(body);
	};
	const step = prepare(context, 0, { createTask: send as never, credentials });
	step.request.input = input as RequestWork['request']['input'];
	const taskLimit = new TaskLimit(() => Infinity, new AbortController().signal);
	const limits = { requests: 0, taskLimit, answerBy };
	const sender = new CreationSender(record, step.item.service.account, limits);
	const created = sender.create(step);
	await jest.advanceTimersByTimeAsync(10_000);
	const outcome = await created;
	const before = sent.length;
	await jest.advanceTimersByTimeAsync(300_000);
	return { outcome, logged, sent: [before, sent.length], record, context };
}

/** Settles after so many seconds. */
async function after(seconds: number, answer: unknown) {
	await pause(seconds * 1_000);
	if (answer instanceof Error) throw answer;
	return answer;
}

it.each<[string, unknown, object]>([
	['created', 'task', { taskId: 'task' }],
	['refused', refuse(422, 'Wrong'), { error: { kind: 'input' } }],
	['of unknown outcome', unknown(), MAY_EXIST],
])('one that is %s in time is answered as ever', async (_, answer, expected) => {
	const { outcome, sent } = await create(() => answer);
	expect(outcome).toMatchObject(expected);
	expect(sent).toEqual([1, 1]);
});

it('one under way may exist, is finished, and its ID is in the log', async () => {
	const { outcome, logged, sent, record } = await create(async () => await after(20, 'task-late'));
	expect(outcome).toMatchObject(MAY_EXIST);
	expect(sent).toEqual([1, 1]);
	expect(logged).toEqual([
		expect.stringContaining('may have created a task'),
		expect.stringContaining('created task task-late'),
	]);
	expect(record.listTaskIds()).toEqual(['task-late']);
});

it('whoever asks again for one that was finished later gets its ID', async () => {
	const { context } = await create(async () => await after(20, 'task-late'));
	expect(openRecord(context).recall(0)).toMatchObject({
		error: { description: expect.stringContaining('named it task-late. Look at it with Get') },
	});
});

it.each([refuse(500), refuse(429), unknown()])(
	'one under way that fails later, with %s, is not sent again',
	async (error) => {
		const { outcome, sent } = await create(async () => await after(20, error));
		expect(outcome).toMatchObject(MAY_EXIST);
		expect(sent).toEqual([1, 1]);
	},
);

it('one whose file is still being uploaded is not sent any more', async () => {
	const file = Object.create(InputFile.prototype) as InputFile;
	file.upload = async () => (await after(20, { url: 'https://files.example/a.png' })) as never;
	const { outcome, sent } = await create(() => 'task', { input: { file } });
	expect(outcome).toMatchObject(NOTHING);
	expect(sent).toEqual([0, 0]);
});

it('one that was refused for its rate, and waits for its turn, is not sent any more', async () => {
	const { outcome, sent } = await create(() => refuse(429));
	expect(outcome).toMatchObject(NOTHING);
	const [before = 0, all] = sent;
	expect(before).toBeGreaterThan(1);
	expect(all).toBe(before);
});

it('one that waits for other tasks of the account to end is not sent any more', async () => {
	const { outcome, sent } = await create(() => refuse(429, 'Too many running tasks'));
	expect(outcome).toMatchObject(NOTHING);
	expect(sent).toEqual([1, 1]);
});

it('one that begins too late is not sent', async () => {
	const { outcome, sent } = await create(() => 'task', { passed: 10_000 });
	expect(outcome).toMatchObject(NOTHING);
	expect(sent).toEqual([0, 0]);
});

it('one that is said not to be sent is not, though the clock goes back', async () => {
	let refused = 0;
	const { outcome, sent } = await create(() => {
		if (++refused === 1) void pause(9_999).then(() => jest.setSystemTime(Date.now() - 60_000));
		return refuse(429, 'Too many running tasks');
	});
	expect(outcome).toMatchObject(NOTHING);
	expect(sent).toEqual([1, 1]);
});
