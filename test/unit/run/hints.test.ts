import type { NodeExecutionHint } from 'n8n-workflow';
import { newTask, type Task } from '../../../nodes/MediaGeneration/api/task';
import {
	logObstacle,
	sayAdopted,
	sayWhyAwake,
	showMissing,
	showEnds,
} from '../../../nodes/MediaGeneration/run/hints';
import { buildContext } from '../n8n';

/** A run that keeps its hints and lines of the log. */
function buildRun() {
	const hints: string[] = [];
	const log: string[] = [];
	const context = buildContext(
		{},
		{
			addExecutionHints: ({ type, message }: NodeExecutionHint) =>
				hints.push(`${type}: ${message}`),
			logger: { warn: (line: string) => log.push(line) },
		},
	);
	return { context, hints, log };
}

const failed: Task = { taskId: 'f', status: 'failed', failMessage: 'a <b> & c' };
const open: Task = { taskId: 'o', status: 'timedOut' };
const paid = (creditsConsumed: number): Task => ({
	taskId: 'p',
	status: 'completed',
	creditsConsumed,
});

it.each<[Task[], string[]]>([
	[[{ ...open, status: 'completed' }], []],
	[[failed], ['warning: The task failed: a ‹b› & c']],
	[[{ ...failed, failMessage: 'The generation failed: no.' }], ['warning: The task failed: no']],
	[
		[{ ...failed, failMessage: undefined }, paid(0)],
		['warning: 1 of 2 tasks failed: no reason given', 'info: The task consumed 0 credits.'],
	],
	[
		[{ ...failed, failMessage: 'x'.repeat(201) }],
		[`warning: The task failed: ${'x'.repeat(199)}…`],
	],
	[[open], ['warning: The task has not ended. Use Wait to go on waiting.']],
	[
		[open, newTask('n', 'm'), failed],
		[
			expect.stringMatching(/^warning: 1 of 3 tasks failed/) as string,
			'warning: 2 of 3 tasks have not ended. Use Wait to go on waiting.',
		],
	],
	[[paid(0.1), paid(0.2)], ['info: 2 tasks consumed 0.3 credits.']],
])('hints show how tasks ended, and what they cost: %j', (tasks, expected) => {
	const { context, hints } = buildRun();
	showEnds(context, tasks);
	expect(hints).toEqual(expected);
});

it('the hint of a task that has not ended says why the last look failed', () => {
	const { context, hints } = buildRun();
	showEnds(context, [open], new Error('The service <b> had a fault'));
	expect(hints).toEqual([
		'warning: The task has not ended. The last look failed: The service ‹b› had a fault. Use Wait to go on waiting.',
	]);
});

it.each<[unknown, boolean]>([
	['A fox', true],
	[{ resultObject: { text: 'A fox', language: 'en' } }, true],
	[{ resultObject: 'A fox' }, true],
	[{ text: 'A fox' }, true],
	[' ', false],
	[{ resultObject: '', resultUrls: [] }, false],
	[{ resultObject: {}, resultUrls: [''] }, false],
	[{ resultUrls: [], reason: 'moderated' }, false],
	[undefined, false],
	[[], false],
])('a hint says where the result %j is: %j, because it is a text', (result, isText) => {
	const completed: Task = { taskId: 'c', status: 'completed', resultUrls: [], result };
	const file = { ...completed, resultUrls: ['https://x.example/a.png'] };
	for (const [task, isTold] of [[completed, isText] as const, [file, false] as const]) {
		const { context, hints } = buildRun();
		showEnds(context, [task, { ...task, status: 'pending' as const }]);
		expect(hints.includes('info: The result is text: see result.')).toBe(isTold);
	}
});

it.each<[string, string[], string[]]>([
	['no file', [], []],
	['a file', ['a'], ['warning: A file is missing: its host <x> broke off']],
	['files of two', ['a', 'b'], ['warning: 2 items lack a file: its host <x> broke off']],
])('a hint says that %s is missing, and why', (_, taskIds, expected) => {
	const { context, hints } = buildRun();
	const item = (taskId: string) => ({
		items: [
			{ json: { taskId: 'c' } },
			{ json: { taskId, downloadError: 'its host <x> broke off' } },
		],
	});
	showMissing(context, [undefined, { error: new Error('x') }, ...taskIds.map(item)]);
	expect(hints).toEqual(expected.map((hint) => hint.replace('<x>', '‹x›')));
});

it.each([
	[0, 2, true, []],
	[1, 1, false, ['info: Nothing was created: this task is of the earlier run.']],
	[2, 2, false, ['info: Nothing was created: these tasks are of the earlier run.']],
	[
		...([1, 2, true] as const),
		['info: 1 of 2 tasks was created by the earlier run, and not paid for again.'],
	],
	[
		...([2, 2, true] as const),
		['info: 2 of 2 tasks were created by the earlier run, and not paid for again.'],
	],
])(
	'a hint says of %d of %d tasks that they are of the earlier run, beside others: %s',
	(count, all, hasCreated, expected) => {
		const { context, hints } = buildRun();
		sayAdopted(context, { count, all, hasCreated });
		expect(hints).toEqual(expected);
	},
);

it('a hint says why a run stayed awake, and the log what may keep callbacks away while it sleeps', () => {
	const { context, hints, log } = buildRun();
	for (const reason of [undefined, 'r']) {
		sayWhyAwake(context, reason);
		logObstacle(context, reason);
	}
	expect(hints).toEqual(['info: The run stayed awake r.']);
	expect(log).toEqual(['"Node" sleeps, but r.']);
});
