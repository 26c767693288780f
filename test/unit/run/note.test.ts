import type { Attempt } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { noteTask, noteUnknown, showTasks } from '../../../nodes/MediaGeneration/run/ledger/note';
import { measureCpu } from '../cpuTime.cts';
import { prepare, type Run } from '../n8n';
import { open } from './sending';
import { buildEntry, buildWaiting } from './waitingRun';

it("each task, and each that may exist, is in n8n's log, and its ID is shown at once", () => {
	const lines: string[] = [];
	const log = (line: string) => void lines.push(line);
	const customData = new Map<string, string>();
	const getWorkflowDataProxy = () => ({ $runIndex: 0, $execution: { customData } });
	const run = open(3, { more: { logger: { info: log, warn: log }, getWorkflowDataProxy } });
	const [first, second, third] = [0, 1, 2].map((item) => prepare(run.call.context, item));
	noteTask(run, first!, 'task');
	noteUnknown(run, second!, { message: 'The service broke off', taskId: 'named' });
	noteUnknown(run, third!, { message: 'No answer' });
	const place = '"Node" (workflow workflow, execution 1, item';
	expect(lines).toEqual([
		`${place} 1) created task task`,
		`${place} 2) may have created task named: The service broke off`,
		`${place} 3) may have created a task: No answer`,
	]);
	expect([...customData.values()]).toEqual(['task']);
});

it('a thousand tasks are not listed anew for each of them', () => {
	const set = jest.fn();
	const getWorkflowDataProxy = () => ({ $runIndex: 0, $execution: { customData: { set } } });
	const run = open(1_000, { more: { getWorkflowDataProxy } });
	for (const item of run.ledger.entries.keys())
		noteTask(run, prepare(run.call.context, item)!, `task ${item}`);
	expect(set.mock.calls.length).toBeLessThanOrEqual(100);
	expect(set.mock.lastCall?.[1]).toMatch(/^task 0, task 1, /);
});

describe('what an execution shows of its tasks', () => {
	const ended = (taskId: string, creditsConsumed?: number, elsewhere?: true): Attempt => ({
		taskId,
		elsewhere,
		end: { taskId, status: 'completed', creditsConsumed },
	});

	/** Shows runs of one execution after each other. @returns what n8n then has of it */
	function show(runs: Attempt[][][], run: Run = {}, kept: object = {}) {
		const customData = new Map<string, string>();
		for (const items of runs) {
			const entries = items.map((attempts) => ({ ...buildEntry({ taskId: '' }), attempts }));
			const more = { getWorkflowDataProxy: () => ({ $runIndex: 0, $execution: { customData } }) };
			showTasks(buildWaiting(entries, { kept, more, ...run }));
		}
		return Object.fromEntries(customData);
	}

	it.each<[string, Attempt[][][], object]>([
		['nothing of none', [[[]]], {}],
		['an ID alone where nothing has ended', [[[{ taskId: 'a' }]]], { tasks: 'a' }],
		['an ID alone where the service says no credits', [[[ended('a')]]], { tasks: 'a' }],
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
			'once what a retry waits for again, or a Wait after a Generate',
			[
				[[{ taskId: 'a' }], [ended('b', 2)]],
				[[ended('a', 1, true)], [ended('b', 2, true)]],
			],
			{ tasks: 'a, b', credits: '3' },
		],
		[
			'what a task has cost, though its end is not known any more',
			[[[ended('a', 2)]], [[{ taskId: 'a', elsewhere: true }]]],
			{ tasks: 'a', credits: '2' },
		],
	])('%s', (_, runs, shown) => {
		const named = Object.entries(shown).map(([name, text]) => [`Media_Generation_${name}`, text]);
		expect(show(runs)).toEqual(Object.fromEntries(named));
	});

	it('the sum over two accounts in which one ID is of two tasks, which it names once', () => {
		const entries = ['one', 'other', 'one'].map((account) => ({
			...buildEntry(ended('17', 2)),
			account,
		}));
		const customData = new Map<string, string>();
		const more = { getWorkflowDataProxy: () => ({ $runIndex: 0, $execution: { customData } }) };
		showTasks(buildWaiting(entries, { more }));
		expect([...customData.values()]).toEqual(['17', '4']);
	});

	it('what a sleep has stored in an older form, as pairs', () => {
		const kept = {
			flow: {
				Media_Generation: [
					['a', 2],
					['b', null],
				],
			},
		};
		expect(show([[[{ taskId: 'a' }, ended('b', 1)]]], { kept })).toEqual({
			Media_Generation_tasks: 'a, b',
			Media_Generation_credits: '3',
		});
	});

	it('as many IDs as n8n keeps', () => {
		const many = Array.from({ length: 40 }, (__, task) => [ended(`task-${task}`, 1)]);
		const { Media_Generation_tasks: ids, Media_Generation_credits: credits } = show([many]);
		expect(ids).toMatch(/^task-0, task-1, .*…$/);
		expect(ids?.length).toBeLessThanOrEqual(255);
		expect(credits).toBe('40');
	});

	it('what an execution knew when n8n stored it for a sleep', () => {
		const stored = { flow: { Media_Generation: JSON.parse('[["a",1],["b",null]]') as unknown } };
		expect(show([[[ended('b', 2)]], [[ended('a', 3)]]], {}, stored)).toEqual({
			Media_Generation_tasks: 'a, b',
			Media_Generation_credits: '5',
		});
		expect(JSON.stringify(stored.flow.Media_Generation)).toBe('[["a",3],["b",2]]');
	});

	it('each round of a long loop without reading the costs of all rounds anew', async () => {
		const rounds = Array.from({ length: 10_000 }, (__, round) => [[ended(`task-${round}`, 0.1)]]);
		const time = await measureCpu(() =>
			expect(show(rounds)).toMatchObject({ Media_Generation_credits: '1000' }),
		);
		expect(time).toBeLessThan(3_000);
	});

	it('nothing where n8n or another version keeps something else: a paid task is not lost by it', () => {
		const warn = jest.fn();
		const kept = { Media_Generation: 'no list' };
		const context = { getContext: () => kept, logger: { info() {}, warn } };
		showTasks(buildWaiting([buildEntry({ taskId: 'a' })], { kept, more: context }));
		expect(warn).toHaveBeenCalledWith(expect.stringContaining("The tasks can't be shown"));
	});

	it("nothing in n8n's Agents, where there is no execution", () => {
		expect(show([[[ended('a', 1)]]], { kept: null })).toEqual({});
	});
});
