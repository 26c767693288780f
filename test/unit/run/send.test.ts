import { buildUnknownError, type UnknownOutcome } from '../../../nodes/MediaGeneration/api/failure';
import { pause } from '../../../nodes/MediaGeneration/lib/timers';
import { findUnknownCall } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { sendAll } from '../../../nodes/MediaGeneration/run/send/send';
import { prepare, buildRejection, buildUnknown, type RunSetup } from '../n8n';
import { listResults, open, send } from './sending';

type Answer = Error | string;

/** Of unknown outcome as well: services answer so for a link that they can't read. */
const perhapsRejected = () =>
	buildUnknownError({ message: 'An internal fault' }, 'perhapsRejected');

/** Creates a task for each item, one after the other. @returns the items that were sent, and all results */
async function create(answers: Answer[], tokens: string[] = [], setup: RunSetup = {}) {
	const sent: number[] = [];
	const items = answers.map((answer, index) => ({
		createTask() {
			sent.push(index);
			return answer;
		},
		credentials: { accessToken: tokens[index] ?? 'token' },
		options: { concurrency: 1 },
	}));
	const run = await send(items, { goesOn: true, ...setup });
	return { sent, results: listResults(run) };
}

describe('of one account,', () => {
	const lost = buildUnknown();
	const quick = perhapsRejected();
	const nine = Array<Answer>(9).fill(quick);

	it.each<[string, Answer[]]>([
		['a rejection of the token', [buildRejection(401)]],
		['three unknown outcomes', [lost, lost, lost]],
		['three unknown outcomes, and some that may be rejections', [lost, quick, lost, quick, lost]],
		['ten that may be rejections', [...nine, quick]],
	])('after %s, nothing more is sent', async (_, before) => {
		const { sent } = await create([...before, 'task']);
		expect(sent).toHaveLength(before.length);
	});

	it.each<[string, Answer[]]>([
		['a rejection of a field', [buildRejection(422)]],
		['three unknown outcomes with a task between them', [lost, lost, 'task', lost]],
		[
			'three unknown outcomes with a rejection between them',
			[lost, lost, buildRejection(422), lost],
		],
		['ten that may be rejections, with a task between them', [...nine, 'task', quick]],
	])('after %s, the next one is sent', async (_, before) => {
		const { sent } = await create([...before, 'task']);
		expect(sent).toHaveLength(before.length + 1);
	});

	it('after too few credits, further items say why they were not sent, and what to do', async () => {
		const tokens = ['poor', 'poor', 'rich'];
		const { sent, results } = await create([buildRejection(402, 'empty'), 'b', 'c'], tokens);
		expect(sent).toEqual([0, 2]);
		const message = expect.stringMatching(/^This item was not sent: .*too few credits/) as string;
		const description = expect.stringContaining('Top up') as string;
		expect(results.slice(1)).toMatchObject([{ message, description }, 'c']);
	});
});

it.each<[string, RunSetup, RunSetup, number[]]>([
	['in the next run of a loop', {}, { runIndex: 1 }, [1]],
	['but not in a retry of the execution', {}, { executionId: '2' }, [0, 1]],
	["nor in the next call of n8n's Agents", { contextData: null, executionId: '' }, {}, [0, 1]],
])('unknown outcomes of an account count together %s', async (_, setup, later, expected) => {
	const run = { contextData: {}, ...setup };
	await create([buildUnknown(), buildUnknown(), buildUnknown()], [], run);
	const { sent, results } = await create(['a', 'b'], ['token', 'other'], { ...run, ...later });
	expect(sent).toEqual(expected);
	if (sent.length === 2) return;
	const why =
		/^This item was not sent: for 3 items in a row it is unknown .* \(The service broke off\)$/;
	expect(results[0]).toMatchObject({
		message: expect.stringMatching(why) as string,
		description: expect.stringContaining('retry the execution from the list') as string,
	});
});

it('a rejection of a model that the service does not describe says so at once', async () => {
	const run = open(1);
	const creation = prepare(run.call.context, 0, { createTask: () => buildRejection(422) });
	const request = { ...creation.request, isUndescribed: true };
	await sendAll(run, [{ ...creation, request }]);
	const description = expect.stringMatching(/^The service describes no model "model"\. /) as string;
	expect(run.errors.get(0)).toMatchObject({ description });
});

it('two calls side by side with one run index, as older agents make them, create one task', async () => {
	const contextData = {};
	const createTask = jest.fn(() => 'task');
	const sendings = [1, 2].map(() => {
		const run = open(1, { contextData, isTool: true });
		return { run, creation: prepare(run.call.context, 0, { createTask }) };
	});
	for (const { run, creation } of sendings) await sendAll(run, [creation]);
	expect(createTask).toHaveBeenCalledTimes(1);
	expect(sendings.map(({ run }) => listResults(run))).toEqual([['task'], ['task']]);
});

describe('below an MCP server,', () => {
	beforeEach(() => {
		jest.useFakeTimers();
		jest.spyOn(Math, 'random').mockReturnValue(0.5);
	});
	afterEach(() => {
		jest.useRealTimers();
		jest.restoreAllMocks();
	});

	const NOTHING = {
		message: expect.stringContaining('no time left') as string,
		description: 'No task was created. The client may call again.',
	};
	const MAY_EXIST = { description: expect.stringContaining('may exist') as string };

	let calls = 0;

	/** Creates a task within ten seconds, and returns what came of it by then and five minutes later. */
	async function sendInTime(createTask: () => unknown, passed = 0) {
		const logged: string[] = [];
		const log = (line: string) => void logged.push(line);
		const call = { contextData: null, isTool: true, parameters: { calls } };
		const run = open(1, { ...call, log, within: 10_000 });
		jest.advanceTimersByTime(passed);
		const asked = jest.fn(createTask);
		const credentials = { accessToken: `timely-${calls++}` };
		const creation = prepare(run.call.context, 0, { createTask: asked, credentials });
		const sending = sendAll(run, [creation]);
		await jest.advanceTimersByTimeAsync(10_000);
		await sending;
		const [outcome] = listResults(run);
		const before = asked.mock.calls.length;
		await jest.advanceTimersByTimeAsync(300_000);
		/** The agent asks for the same again. */
		const askAgain = () => findUnknownCall({ ...open(1, call), call: run.call }, 0);
		return { outcome, logged, sent: [before, asked.mock.calls.length], run, askAgain };
	}

	/** Settles after so many seconds. */
	async function after(seconds: number, answer: unknown) {
		await pause(seconds * 1_000);
		if (answer instanceof Error) throw answer;
		return answer;
	}

	it('a task of a creation that is under way may exist, and its ID is learned later', async () => {
		const late = async () => await after(20, 'task-late');
		const { outcome, logged, sent, run, askAgain } = await sendInTime(late);
		expect(outcome).toMatchObject(MAY_EXIST);
		expect(sent).toEqual([1, 1]);
		expect(logged).toEqual([
			expect.stringContaining('may have created a task'),
			expect.stringContaining('created task task-late'),
		]);
		expect(run.ledger.entries).toEqual([
			expect.objectContaining({ attempts: [{ taskId: 'task-late' }] }),
		]);
		// Whoever asks again gets its ID.
		const { description } = buildUnknownError(askAgain() as UnknownOutcome);
		expect(description).toContain('named it task-late. Look at it with Get');
	});

	it('a creation that stays unknown counts among the unknown ones in a row', async () => {
		const { run } = await sendInTime(async () => await new Promise(() => {}));
		expect(Object.values(run.ledger.unknownCounts)).toMatchObject([{ unknownInARow: 1 }]);
	});

	it('a creation beside a slow run of the account is sent in time', async () => {
		const credentials = { accessToken: `timely-${calls}` };
		const slow = { createTask: () => 'slow', credentials, options: { tasksPer10Seconds: 2 } };
		const running = send(Array(20).fill(slow));
		await jest.advanceTimersByTimeAsync(1_000);
		expect((await sendInTime(() => 'task')).outcome).toBe('task');
		expect(listResults(await running)).toEqual(Array(20).fill('slow'));
	});

	it('a creation that begins too late is not sent', async () => {
		const { outcome, sent } = await sendInTime(() => 'task', 10_000);
		expect(outcome).toMatchObject(NOTHING);
		expect(sent).toEqual([0, 0]);
	});

	it('a creation that waits for other tasks to end is not sent any more, though the clock goes back', async () => {
		void pause(9_999).then(() => jest.setSystemTime(Date.now() - 60_000));
		const { outcome, sent } = await sendInTime(() => buildRejection(429, 'Too many running tasks'));
		expect(outcome).toMatchObject(NOTHING);
		expect(sent).toEqual([1, 1]);
	});
});

describe('at the rate of their account,', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	it('all runs share the rate, and have no part in that of another account', async () => {
		/** Begins runs that create a task each, at the rate that the node comes with, and notes when. */
		function begin(accessToken: string, count: number) {
			const begun = Date.now();
			const seconds: number[] = [];
			const createTask = () => void seconds.push((Date.now() - begun) / 1000);
			const options = { tasksPer10Seconds: 18 };
			const item = { createTask, credentials: { accessToken }, options };
			for (let run = 0; run < count; run++) void send([item]);
			return seconds;
		}
		const [one, other] = [begin('one', 40), begin('another', 18)];
		await jest.advanceTimersByTimeAsync(20_000);
		const [second, third] = [Array<number>(18).fill(10), Array<number>(4).fill(20)];
		expect(one).toEqual([...Array<number>(18).fill(0), ...second, ...third]);
		expect(other).toEqual(Array(18).fill(0));
	});

	it('a run that an error ends creates none of its items that still wait for the rate', async () => {
		const sent: number[] = [];
		const items = [buildRejection(422), 'b', 'c'].map((answer, index) => ({
			createTask() {
				sent.push(index);
				return answer;
			},
			credentials: { accessToken: 'turns' },
			options: { tasksPer10Seconds: 1 },
		}));
		const sending = send(items);
		await jest.advanceTimersByTimeAsync(60_000);
		expect(listResults(await sending)).toEqual([buildRejection(422), undefined, undefined]);
		expect(sent).toEqual([0]);
	});
});
