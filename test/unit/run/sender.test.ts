import type { CreateTaskRequest } from '../../../nodes/MediaGeneration/api/client';
import { buildDoubt, type UnknownOutcome } from '../../../nodes/MediaGeneration/api/failure';
import { pause } from '../../../nodes/MediaGeneration/lib/timers';
import { InputFile } from '../../../nodes/MediaGeneration/run/input/inputFile';
import {
	listTaskIds,
	mergeEntry,
	stateOf,
	type Entry,
} from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { sendAll } from '../../../nodes/MediaGeneration/run/send/send';
import { findUnknownCall } from '../../../nodes/MediaGeneration/run/ledger/here';
import { prepare, refuse, unknown, type Run } from '../n8n';
import { listResults, open, send } from './sending';

type Answer = Error | string;

/** Unknown as well: it is how services answer for a link that they can't read. */
const perhapsRefused = () => buildDoubt({ message: 'An internal fault' }, 'perhapsRefused');

/** Creates a task for each item, one after the other; its answers come in turn, the last one again and again. */
async function create(items: Answer[][], credentials: object[] = [], place: Run = {}) {
	const sent: Array<{ index: number }> = [];
	const sending = items.map(([...answers], index) => ({
		createTask() {
			sent.push({ index });
			return answers.length > 1 ? answers.shift() : answers[0];
		},
		credentials: credentials[index] ?? {},
		options: { concurrency: 1 },
	}));
	const run = await send(sending, { goesOn: true, ...place });
	return { sent, results: listResults(run) };
}

describe('after the outcomes of earlier items', () => {
	const lost = [unknown()];
	const quick = [perhapsRefused()];
	const nine = Array<Answer[]>(9).fill(quick);
	it.each<[string, Answer[][], number]>([
		['a task', [['task']], 2],
		['a refusal of the token', [[refuse(401)]], 1],
		['one with the code of too many requests', [[refuse(429, 'Insufficient credits')]], 1],
		['the usage limit of the token', [[refuse(433)]], 1],
		['maintenance', [[refuse(455)]], 1],
		['a refusal of a field', [[refuse(422)]], 2],
		['two unknown outcomes', [lost, lost], 3],
		['three unknown outcomes', [lost, lost, lost], 3],
		['three with a task between them', [lost, lost, ['task'], lost], 5],
		['three with a refusal between them', [lost, lost, [refuse(422)], lost], 5],
		['nine that may be refusals', nine, 10],
		['ten that may be refusals', [...nine, quick], 10],
		['ten with a refusal between them', [...nine, [refuse(422)], quick], 11],
		['ten with a task between them', [...nine, ['task'], quick], 12],
		['three with one that may be a refusal between them', [lost, quick, lost, quick, lost], 5],
	])('%s, the last one is sent or not', async (_, before, requests) => {
		const { sent } = await create([...before, ['task']]);
		expect(sent).toHaveLength(requests);
	});

	it('nothing more is sent for that account, and its items say why and what to do', async () => {
		const accounts = ['poor', 'poor', 'rich'].map((accessToken) => ({ accessToken }));
		const { sent, results } = await create([[refuse(402, 'empty')], ['b'], ['c']], accounts);
		expect(sent.map(({ index }) => index)).toEqual([0, 2]);
		const message = expect.stringMatching(/^This item was not sent: .*too few credits/) as string;
		const description = expect.stringContaining('Top up') as string;
		expect(results.slice(1)).toMatchObject([{ message, description }, 'c']);
	});
});

describe('unknown outcomes count together, each account for itself,', () => {
	const [poor, rich] = [{ accessToken: 'poor' }, { accessToken: 'rich' }];
	const lost = unknown();
	const tasks = (count: number) => Array<Answer[]>(count).fill(['task']);

	/** Three of one account, in a run and in its next try. Then another call has six more items of that account. */
	async function createLater(later: Run, place: Run = { kept: {} }) {
		const first = await create([[lost], [lost], [refuse(400)]], [poor, poor, rich], place);
		expect(first.sent).toHaveLength(3);
		const items = [[lost], [lost], ['a'], [lost], ['b']];
		const second = await create(items, [poor, poor, rich, poor, rich], place);
		// The first two are known from before.
		expect(second.sent.map(({ index }) => index)).toEqual(place.kept ? [2, 3, 4] : [0, 1, 2, 3, 4]);
		return await create(tasks(6), Array(6).fill(poor), { ...place, ...later });
	}

	it.each<[string, Run]>([
		['in the tries of a run', {}],
		['in the next run of a loop', { run: 1 }],
	])('%s', async (_, later) => {
		const { sent, results } = await createLater(later);
		expect(sent).toEqual([]);
		expect(results[5]).toMatchObject({
			message: expect.stringMatching(
				/^This item was not sent: for 3 items in a row it is unknown .* \(The service broke off\)$/,
			) as string,
			description: expect.stringContaining('retry the execution from the list') as string,
		});
	});

	it.each<[string, Run, Run]>([
		['but not in a retry of the execution', { executionId: '2' }, { kept: {} }],
		["nor in the next call of n8n's Agents", {}, { kept: null, executionId: '' }],
	])('%s', async (_, later, place) => {
		const { sent } = await createLater(later, place);
		expect(sent).toHaveLength(6);
	});
});

it.each<[string, boolean, number, RegExp]>([
	['does not describe', true, 422, /^The service describes no model "model"\. Check its name, or/],
	['describes', false, 422, /^Correct what/],
	['does not describe, for another reason', true, 402, /^Top up/],
])(
	'a refusal of a model that the service %s says so at once',
	async (_, isUndescribed, code, next) => {
		const run = open(1);
		const plan = prepare(run.call.context, 0, { createTask: () => refuse(code) });
		await sendAll(run, [{ ...plan, request: { ...plan.request, isUndescribed } }]);
		expect(run.errors.get(0)).toMatchObject({
			description: expect.stringMatching(next) as string,
		});
	},
);

it('a creation without an answer is sent once', async () => {
	const { sent } = await create([[unknown(), 'task']]);
	expect(sent).toEqual([{ index: 0 }]);
});

describe('below an MCP server, a creation', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const NOTHING = {
		message: expect.stringContaining('no time left') as string,
		description: 'No task was created. The client may call again.',
	};
	const MAY_EXIST = { description: expect.stringContaining('may exist') as string };

	let calls = 0;

	/** Creates a task that is to be there in ten seconds, and returns what became of it by then and in the end. */
	async function sendInTime(
		createTask: (body: CreateTaskRequest) => unknown,
		{ input, passed = 0 }: { input?: object; passed?: number } = {},
	) {
		const logged: string[] = [];
		const log = (line: string) => void logged.push(line);
		const call = { kept: null, isTool: true, parameters: { calls } };
		const more = { logger: { info: log, warn: log } };
		const run = open(1, { ...call, more, within: 10_000 });
		jest.advanceTimersByTime(passed);
		const sent: CreateTaskRequest[] = [];
		const credentials = { accessToken: `timely-${calls++}` };
		const item = (body: CreateTaskRequest) => {
			sent.push(body);
			return createTask(body);
		};
		const plan = prepare(run.call.context, 0, { createTask: item, credentials });
		Object.assign(plan.request, input && { input });
		const sending = sendAll(run, [plan]);
		await jest.advanceTimersByTimeAsync(10_000);
		await sending;
		const [outcome] = listResults(run);
		const before = sent.length;
		const [older] = structuredClone(run.ledger.entries);
		await jest.advanceTimersByTimeAsync(300_000);
		/** The model asks for the same again. */
		const askAgain = () => findUnknownCall(run.call, open(1, call).ledger.shared, 0);
		return { outcome, logged, sent: [before, sent.length], run, older: older as Entry, askAgain };
	}

	/** Settles after so many seconds. */
	async function after(seconds: number, answer: unknown) {
		await pause(seconds * 1_000);
		if (answer instanceof Error) throw answer;
		return answer;
	}

	it.each<[string, unknown, unknown]>([
		['created', 'task', 'task'],
		['refused', refuse(422, 'Wrong'), { kind: 'input' }],
		['of unknown outcome', unknown(), MAY_EXIST],
	])('one that is %s in time is answered as ever', async (_, answer, expected) => {
		const { outcome, sent } = await sendInTime(() => answer);
		expect([outcome]).toMatchObject([expected]);
		expect(sent).toEqual([1, 1]);
	});

	it('one under way may exist, is finished, and its ID is in the log', async () => {
		const { outcome, logged, sent, run } = await sendInTime(
			async () => await after(20, 'task-late'),
		);
		expect(outcome).toMatchObject(MAY_EXIST);
		expect(sent).toEqual([1, 1]);
		expect(logged).toEqual([
			expect.stringContaining('may have created a task'),
			expect.stringContaining('created task task-late'),
		]);
		expect(listTaskIds(run.ledger.entries)).toEqual(['task-late']);
	});

	it('one that was finished later is in doubt no more, also where n8n has stored that it is', async () => {
		const { run, older } = await sendInTime(async () => await after(20, 'task-late'));
		const [entry] = run.ledger.entries as [Entry];
		expect([stateOf(older), stateOf(entry)]).toEqual(['unknown', 'open']);
		mergeEntry(entry, older);
		expect(entry.unknown).toBeUndefined();
	});

	it('whoever asks again for one that was finished later gets its ID', async () => {
		const { askAgain } = await sendInTime(async () => await after(20, 'task-late'));
		expect(buildDoubt(askAgain() as UnknownOutcome).description).toContain(
			'named it task-late. Look at it with Get',
		);
	});

	it('one beside a slow run of the account is sent in time', async () => {
		const credentials = { accessToken: `timely-${calls}` };
		const slow = { createTask: () => 'slow', credentials, options: { tasksPer10Seconds: 2 } };
		const running = send(Array(20).fill(slow));
		await jest.advanceTimersByTimeAsync(1_000);
		expect((await sendInTime(() => 'task')).outcome).toBe('task');
		expect(listResults(await running)).toEqual(Array(20).fill('slow'));
	});

	it.each([refuse(500), refuse(429), unknown()])(
		'one under way that fails later, with %s, is not sent again',
		async (error) => {
			const { outcome, sent } = await sendInTime(async () => await after(20, error));
			expect(outcome).toMatchObject(MAY_EXIST);
			expect(sent).toEqual([1, 1]);
		},
	);

	it('one whose file is still being uploaded is not sent any more', async () => {
		const file = Object.create(InputFile.prototype) as InputFile;
		file.upload = async () => (await after(20, { url: 'https://files.example/a.png' })) as never;
		const { outcome, sent } = await sendInTime(() => 'task', { input: { file } });
		expect(outcome).toMatchObject(NOTHING);
		expect(sent).toEqual([0, 0]);
	});

	it('one that was refused for its rate, and waits for its turn, is not sent any more', async () => {
		const { outcome, sent } = await sendInTime(() => refuse(429));
		expect(outcome).toMatchObject(NOTHING);
		const [before = 0, all] = sent;
		expect(before).toBeGreaterThan(1);
		expect(all).toBe(before);
	});

	it('one that waits for other tasks of the account to end is not sent any more', async () => {
		const { outcome, sent } = await sendInTime(() => refuse(429, 'Too many running tasks'));
		expect(outcome).toMatchObject(NOTHING);
		const [before = 0, all] = sent;
		expect(before).toBeGreaterThan(0);
		expect(all).toBe(before);
	});

	it('one that begins too late is not sent', async () => {
		const { outcome, sent } = await sendInTime(() => 'task', { passed: 10_000 });
		expect(outcome).toMatchObject(NOTHING);
		expect(sent).toEqual([0, 0]);
	});

	it('one that is said not to be sent is not, though the clock goes back', async () => {
		let refused = 0;
		const { outcome, sent } = await sendInTime(() => {
			if (++refused === 1) void pause(9_999).then(() => jest.setSystemTime(Date.now() - 60_000));
			return refuse(429, 'Too many running tasks');
		});
		expect(outcome).toMatchObject(NOTHING);
		const [before = 0, all] = sent;
		expect(before).toBeGreaterThan(0);
		expect(all).toBe(before);
	});
});
