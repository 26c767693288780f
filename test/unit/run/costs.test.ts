import type { Attempt } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import {
	beginLedger,
	noteCosts,
	noteLook,
	noteTask,
	noteUnknown,
} from '../../../nodes/MediaGeneration/run/ledger/changes';
import { publishTasks, sumUp } from '../../../nodes/MediaGeneration/run/ledger/costs';
import { measureCpu } from '../cpuTime.cts';
import { prepare, type RunSetup } from '../n8n';
import { open } from './sending';

/** What n8n shows with an execution, and how often the node has set it. */
function buildShown() {
	const shown = new Map<string, string>();
	const set = jest.fn((name: string, text: string) => void shown.set(name, text));
	return { shown, set, customData: { set } };
}

it("each task, and each that may exist, is in n8n's log, and its ID is shown at once", () => {
	const lines: string[] = [];
	const log = (line: string) => void lines.push(line);
	const { shown, customData } = buildShown();
	const run = open(3, { log, customData });
	const buildCreation = (item: number) => prepare(run.call.context, item);
	noteTask(run, buildCreation(0), 'task');
	noteUnknown(run, buildCreation(1), { message: 'The service broke off', taskId: 'named' });
	noteUnknown(run, buildCreation(2), { message: 'No answer' });
	const place = '"Node" (workflow workflow, execution 1, item';
	expect(lines).toEqual([
		`${place} 1) created task task`,
		`${place} 2) may have created task named: The service broke off`,
		`${place} 3) may have created a task: No answer`,
	]);
	expect([...shown.values()]).toEqual(['task']);
});

it('a thousand tasks are not listed anew for each of them', () => {
	const { set, customData } = buildShown();
	const run = open(1_000, { customData });
	for (const item of run.ledger.entries.keys())
		noteTask(run, prepare(run.call.context, item), `task ${item}`);
	expect(set.mock.calls.length).toBeLessThanOrEqual(100);
	expect(set.mock.lastCall?.[1]).toMatch(/^task 0, task 1, /);
});

describe('what an execution shows of its tasks', () => {
	const ended = (taskId: string, creditsConsumed?: number, adopted?: true): Attempt => ({
		taskId,
		adopted,
		end: { taskId, status: 'completed', creditsConsumed },
	});

	/** Shows runs of one execution one after the other. @returns what n8n then shows with the execution */
	function show(runs: Attempt[][][], contextData: RunSetup['contextData'] = {}) {
		const { shown, customData } = buildShown();
		const run = open(0, { contextData, customData });
		for (const items of runs) {
			Object.assign(run.ledger, { entries: items.map((attempts) => ({ attempts })) });
			publishTasks(run);
		}
		return Object.fromEntries(
			[...shown].map(([name, text]) => [name.replace('Media_Generation_', ''), text]),
		);
	}

	it.each<[string, Attempt[][][], object]>([
		['nothing of none', [[[]]], {}],
		['credits of nothing', [[[ended('a', 0)]]], { tasks: 'a', credits: '0' }],
		[
			'the sum over items, a failed task that was created again, and one that items share',
			[[[ended('a', 0.1)], [ended('bad', 0.2), ended('b', 4)], [ended('b', 4)]]],
			{ tasks: 'a, bad, b', credits: '4.3' },
		],
		[
			'the sum over runs, tries and nodes, each task once, those of the last run first',
			[[[ended('a', 1)]], [[ended('a', 1)]], [[ended('b', 2)], [{ taskId: 'c' }]]],
			{ tasks: 'b, c, a', credits: '3' },
		],
		[
			'what a task has cost, though its end is not known any more',
			[[[ended('a', 2)]], [[{ taskId: 'a', adopted: true }]]],
			{ tasks: 'a', credits: '2' },
		],
	])('%s', (_, runs, shown) => {
		expect(show(runs)).toEqual(shown);
	});

	it('what an execution knew when n8n stored it for a sleep', () => {
		const kept = {};
		show([[[ended('a', 1)], [{ taskId: 'b' }]]], kept);
		const shown = show([[[ended('b', 2)]], [[ended('a', 3)]]], JSON.parse(JSON.stringify(kept)));
		expect(shown).toEqual({ tasks: 'a, b', credits: '5' });
	});

	it('as many IDs as n8n keeps', () => {
		const many = Array.from({ length: 40 }, (__, task) => [ended(`task-${task}`, 1)]);
		const { tasks, credits } = show([many]);
		expect(tasks).toMatch(/^task-0, task-1, .*…$/);
		expect(tasks?.length).toBeLessThanOrEqual(255);
		expect(credits).toBe('40');
	});

	it('each round of a long loop without reading the costs of all rounds anew', async () => {
		const rounds = Array.from({ length: 10_000 }, (__, round) => [[ended(`task-${round}`, 0.1)]]);
		const time = await measureCpu(() => expect(show(rounds)).toMatchObject({ credits: '1000' }));
		expect(time).toBeLessThan(3_000);
	});

	it("nothing in n8n's Agents, where there is no execution", () => {
		expect(show([[[ended('a', 1)]]], null)).toEqual({});
	});
});

it('a task that ran at no cost yet is not free at its end, where that names no figure', () => {
	const attempt: Attempt = { taskId: 'task' };
	const entries = [{ account: 'a', attempts: [attempt] }];
	const costs = { 'a task': [] };
	const ledger = beginLedger({ entries, shared: { taskCount: 1, costs, unknownCalls: {} } });
	for (const status of ['pending', 'completed'] as const) {
		const isPending = status === 'pending';
		noteLook(attempt, { taskId: 'task', status, ...(isPending && { creditsConsumed: 0 }) });
		noteCosts(ledger);
	}
	expect(ledger.shared.costs).toEqual({ 'a task': [] });
});

it.each([
	['a later look', [{ status: 'pending' }]],
	['its end', [{ status: 'completed' }]],
	['both', [{ status: 'pending' }, { status: 'failed', failCode: '1' }]],
] as const)('a task costs what the service said last, where %s names no figure', (_, answers) => {
	const attempt: Attempt = { taskId: 'task' };
	const ledger = beginLedger({ entries: [{ attempts: [attempt] }] });
	const first = { status: 'pending', creditsConsumed: 5 } as const;
	for (const answer of [first, ...answers]) noteLook(attempt, { taskId: 'task', ...answer });
	expect(sumUp(ledger).credits).toBe(5);
});
