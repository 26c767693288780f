import type { NodeExecutionHint } from 'n8n-workflow';
import { newTask, type Task } from '../../../nodes/MediaGeneration/api/task';
import {
	logObstacle,
	sayAdopted,
	sayWhyAwake,
	showMissing,
	showEnds,
} from '../../../nodes/MediaGeneration/run/output/hints';
import { toFailure } from '../../../nodes/MediaGeneration/run/output/errors';
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
const open: Task = { taskId: 'o', status: 'pending' };
const paid = (creditsConsumed: number): Task => ({
	taskId: 'p',
	status: 'completed',
	creditsConsumed,
});

it.each<[Task[], string[]]>([
	[[{ ...open, status: 'completed' }], []],
	[[failed], ['warning: Tasks that failed: 1 of 1. The first: a ‹b› & c']],
	[
		[{ ...failed, failMessage: undefined }, paid(0)],
		['warning: Tasks that failed: 1 of 2. The first: no reason given', 'info: Credits consumed: 0'],
	],
	[
		[{ ...failed, failMessage: 'x'.repeat(201) }],
		[`warning: Tasks that failed: 1 of 1. The first: ${'x'.repeat(199)}…`],
	],
	[[open], ['warning: Tasks that have not ended: 1 of 1. Use Wait to go on waiting.']],
	[
		[open, newTask('n', 'm'), failed],
		[
			expect.stringMatching(/^warning: Tasks that failed: 1 of 3\. /) as string,
			'warning: Tasks that have not ended: 2 of 3. Use Wait to go on waiting.',
		],
	],
	[[paid(0.1), paid(0.2)], ['info: Credits consumed: 0.3']],
])('hints show how tasks ended, and what they cost: %j', (tasks, expected) => {
	const { context, hints } = buildRun();
	showEnds(context, tasks);
	expect(hints).toEqual(expected);
});

it('the hint of a task that has not ended says why the last look failed', () => {
	const { context, hints } = buildRun();
	showEnds(context, [open], new Error('The service <b> had a fault'));
	expect(hints).toEqual([
		'warning: Tasks that have not ended: 1 of 1. The last look failed: The service ‹b› had a fault. Use Wait to go on waiting.',
	]);
});

it.each<[string, string[], string[]]>([
	['no file', [], []],
	['a file', ['a'], ['warning: Items that lack a file: 1. The first: its host <x> broke off']],
	[
		'files of two',
		['a', 'b'],
		['warning: Items that lack a file: 2. The first: its host <x> broke off'],
	],
])('a hint says that %s is missing, and why', (_, taskIds, expected) => {
	const { context, hints } = buildRun();
	const item = (taskId: string) => ({
		items: [
			{ json: { taskId: 'c' } },
			{ json: { taskId, downloadError: 'its host <x> broke off' } },
		],
	});
	showMissing(context, [undefined, ...taskIds.map(item)]);
	expect(hints).toEqual(expected.map((hint) => hint.replace('<x>', '‹x›')));
});

it('hints say which items have an error without a task, and which a warning', () => {
	const { context, hints } = buildRun();
	const doubtful = { items: [{ json: { taskId: 'c', warning: 'no <b> field' } }] };
	showMissing(context, [{ error: toFailure(failed) }, { error: new Error('No <b>') }, doubtful]);
	showMissing(context, [{ error: new Error('x') }, { error: new Error('y') }]);
	expect(hints).toEqual([
		'warning: Items with an error: 1. The first: No ‹b›',
		'warning: Items with a warning: 1. The first: no ‹b› field',
		'warning: Items with an error: 2. The first: x',
	]);
});

it.each([
	[0, []],
	[2, ['info: Nothing was created for these tasks of the earlier run: 2 of 3']],
])('a hint says of %d of 3 tasks that they are of the earlier run: %j', (count, expected) => {
	const { context, hints } = buildRun();
	sayAdopted(context, count, 3);
	expect(hints).toEqual(expected);
});

it('a hint says why a run stayed awake, and the log what may keep callbacks away while it sleeps', () => {
	const { context, hints, log } = buildRun();
	for (const reason of [undefined, 'r']) {
		sayWhyAwake(context, reason);
		logObstacle(context, reason);
	}
	expect(hints).toEqual(['info: The run stayed awake r.']);
	expect(log).toEqual(['"Node" sleeps, but r.']);
});
