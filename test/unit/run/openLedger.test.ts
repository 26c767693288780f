import { openDownloads } from '../../../nodes/MediaGeneration/run/files/taskFiles';
import { generate } from '../../../nodes/MediaGeneration/run/generate';
import {
	updateUnknownCounts,
	keepSettings,
	noteTask,
	noteUnknown,
	noteCost,
	reserveTask,
} from '../../../nodes/MediaGeneration/run/ledger/changes';
import {
	findUnknownCall,
	listTaskIds,
	type Ledger,
} from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { leaveRun } from '../../../nodes/MediaGeneration/run/ledger/openLedger';
import { settle } from '../corpus';
import { buildCall, buildDetails, prepare, buildUnknown, WAIT, type RunSetup } from '../n8n';
import { open } from './sending';

type Opening = Parameters<typeof open>[1];
type Run = ReturnType<typeof open>;

/** Runs the node with two items, with what n8n has stored for it, by default nothing. */
const begin = (token: string | undefined, opening: Opening = {}) =>
	open(2, { ...opening, more: { runExecutionData: { resumeToken: token } } });

const note = (run: Run, item: number, taskId: string) =>
	noteTask(run, prepare(run.call.context, item), taskId);
const listIds = ({ ledger }: Run) => listTaskIds(ledger.entries);
const count = (unknownInARow: number) => ({ unknownInARow, perhapsRejected: 0 });

// A slot of the concurrency limit that comes late: n8n runs the node with the data of before.
it('a run that n8n begins again with older data has its tasks, their count, and how it waits', () => {
	const first = begin('older');
	note(first, 1, 'task');
	reserveTask(first.ledger);
	reserveTask(first.ledger);
	keepSettings(first.ledger, () => WAIT);
	updateUnknownCounts(first.ledger, 'account', buildUnknown());
	const again = begin('older');
	expect(again.ledger.unknownCounts).toBe(first.ledger.unknownCounts);
	expect(again.ledger).toMatchObject({ shared: { taskCount: 2 }, settings: WAIT });
	note(again, 0, 'other');
	for (const run of [first, again]) expect(listIds(run)).toEqual(['other', 'task']);
});

it('of two calls of a run, the one that finds all tasks created waits for them as the other does', async () => {
	const create = jest.fn(() => ({
		statusCode: 200,
		body: '{"code":200,"data":{"taskId":"task"}}',
	}));
	const call = () =>
		buildCall(
			{
				input: [{}],
				contextData: {},
				credentials: { baseUrl: 'https://api.example', accessToken: 'beside' },
				answer: ({ path }) =>
					path.endsWith('createTask') ? create() : buildDetails('task', 'success'),
			},
			{ runExecutionData: { resumeToken: 'beside' } },
		);
	const setup = {
		fields: [],
		buildRequest: async () => ({ model: 'model', input: {}, userInput: 0 }),
		readSettings: () => ({ ...WAIT, howToWait: 'polling' as const }),
	};
	jest.useFakeTimers();
	const calls = [call(), call()].map(async (one) => await generate(one, setup));
	const outputs = await settle(Promise.all(calls));
	jest.useRealTimers();
	for (const output of outputs) expect(output).toMatchObject([{ json: { status: 'completed' } }]);
	expect(create).toHaveBeenCalledTimes(1);
});

it('what another process has stored of a run is added to what is known here', () => {
	const nodeContext: { run?: Ledger } = {};
	const beginWith = (context: object) =>
		begin('elsewhere', { contextData: { 'node:Node': context } });
	const first = beginWith(nodeContext);
	note(first, 0, 'here');
	const [key = ''] = Object.keys(first.ledger.shared.costs);
	noteCost(first.ledger, key, { creditsConsumed: 7 });
	const [copy, older] = [structuredClone(nodeContext), structuredClone(nodeContext)];
	const unknown = { message: 'The service broke off' };
	Object.assign(copy.run?.entries[1] ?? {}, { attempts: [{ taskId: 'there' }], unknown });
	const stored = { poor: count(2), rich: count(0) };
	Object.assign(copy.run ?? {}, {
		shared: { taskCount: 5, costs: { [key]: [], there: [3] }, unknownCalls: {} },
		unknownCounts: stored,
	});
	Object.assign(first.ledger, { unknownCounts: { rich: count(1) } });
	const second = beginWith(copy);
	for (const run of [first, second]) {
		expect(listIds(run)).toEqual(['here', 'there']);
		expect(run.ledger.shared).toMatchObject({ taskCount: 5, costs: { [key]: [7], there: [3] } });
		expect(run.ledger.unknownCounts).toEqual({ poor: count(2), rich: count(1) });
	}
	expect(beginWith(older).ledger.shared.taskCount).toBe(5);
	// A task of this process settles no unknown outcome of the other one.
	note(first, 1, 'late');
	expect(second.ledger.entries[1]).toMatchObject({ unknown });
});

it('of a run that is over, this process keeps what decides a payment, and neither results nor words', () => {
	const first = begin('over');
	const other = begin('over');
	note(first, 0, 'good');
	note(first, 1, 'bad');
	const [good, bad] = first.ledger.entries.map(({ attempts }) => attempts.at(-1));
	const failed = { taskId: 'bad', status: 'failed', failCode: '501' } as const;
	Object.assign(good ?? {}, { end: { taskId: 'good', status: 'completed', result: 'a text' } });
	Object.assign(bad ?? {}, { end: failed, reported: true });
	leaveRun(first);
	// The other call of it is still under way.
	const third = begin('over');
	expect(third.ledger.entries[0]?.attempts[0]?.end).toMatchObject({ result: 'a text' });
	for (const run of [other, third]) leaveRun(run);
	const stored = JSON.parse(JSON.stringify(begin('over').ledger.entries)) as object;
	const digest = expect.any(String) as string;
	expect(stored).toMatchObject([
		{ account: digest, request: { digest }, attempts: [{ taskId: 'good' }] },
		{ attempts: [{ taskId: 'bad', reported: true, end: failed }] },
	]);
	expect(JSON.stringify(stored)).not.toMatch(/prompt|completed|a text/);
});

it('an answer that comes after its run settles the unknown outcome in what this process keeps', () => {
	const contextData = {};
	const first = begin('late', { contextData });
	const creation = prepare(first.call.context, 0);
	noteUnknown(first, creation, { message: 'The service took so long' });
	leaveRun(first);
	noteTask(first, creation, 'late');
	// A try has what n8n has in memory. A run that n8n begins again has older data.
	for (const stored of [contextData, {}]) {
		const [entry] = begin('late', { contextData: stored }).ledger.entries;
		expect(entry).toMatchObject({ attempts: [{ taskId: 'late' }] });
		expect(entry?.unknown).toBeUndefined();
	}
});

it('the files of a run are there for its tries, and go when the next run of a loop begins', () => {
	const { call, ledger } = begin('files', { contextData: {} });
	const find = () => openDownloads(call, ledger);
	const files = find();
	expect(find()).toBe(files);
	for (const run of [1, 0]) {
		Object.assign(ledger, { runIndex: run });
		expect(find()).not.toBe(files);
	}
});

it.each<[string, string | undefined, Opening]>([
	['another execution', 'token of another', {}],
	['a retry, which has the token of the first', 'same', { executionId: '2' }],
	['another run of the node', 'same', { runIndex: 1 }],
	['an n8n without tokens', undefined, {}],
	["an agent's call", 'same', { isTool: true }],
])('%s begins with nothing', (_, token, opening) => {
	note(begin('same'), 0, 'task');
	note(begin(undefined), 0, 'task');
	expect(listIds(begin(token, opening))).toEqual([]);
});

describe('a call by an agent', () => {
	/** Of n8n's Agents. */
	const AGENT: RunSetup = { contextData: null, executionId: '', type: 'nodeTool' };
	const outcome = { message: 'The service broke off', taskId: 'named' };

	it.each<[string, RunSetup, RunSetup, object | undefined]>([
		['gets the error in a tool', { isTool: true }, {}, outcome],
		["gets the error in n8n's Agents", AGENT, {}, outcome],
		[
			'with its values in another order gets the error',
			{ isTool: true },
			{ input: [{ seed: 1, prompt: 'A cat' }] },
			outcome,
		],
		['gets none for something else', { isTool: true }, { input: [{ prompt: 'A dog' }] }, undefined],
		['gets none in another execution', { isTool: true }, { executionId: '2' }, undefined],
		['gets none from another set-up', AGENT, { parameters: { prompt: 'x' } }, undefined],
		['gets none where a workflow runs the node', {}, {}, undefined],
	])('that asks again for what is of unknown outcome %s', (_, kind, again, unknown) => {
		const contextData = {};
		const call = (runIndex: number, more: RunSetup = {}) =>
			open(1, {
				contextData,
				input: [{ prompt: 'A cat', seed: 1, toolCallId: runIndex }],
				...kind,
				runIndex,
				...more,
			});
		const first = call(0);
		noteUnknown(first, prepare(first.call.context, 0), outcome);
		const second = call(1, again);
		expect(findUnknownCall(second, 0)).toEqual(unknown);
	});
});
