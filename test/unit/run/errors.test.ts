import { NodeApiError, NodeOperationError, UserError } from 'n8n-workflow';
import {
	buildRunError,
	ABOUT_SERVICE_TEXTS,
	toErrorItem,
	toNodeError,
	buildFailedTaskError,
} from '../../../nodes/MediaGeneration/run/output/errors';
import { beginLedger } from '../../../nodes/MediaGeneration/run/ledger/changes';
import type { Task } from '../../../nodes/MediaGeneration/api/task';
import { buildCall, buildRejection } from '../n8n';

const call = buildCall({ input: [{}, {}, {}, {}] });
const tool = buildCall({ isTool: true });
/** A run with tasks, each of an item of its own, that cost 4 credits if they have completed. */
const withTasks = (tasks: Record<string, Task['status']>) =>
	beginLedger({
		entries: Object.entries(tasks).map(([taskId, status]) => ({
			attempts: [
				{
					taskId,
					...(status !== 'pending' && {
						end: { taskId, status, creditsConsumed: status === 'completed' ? 4 : 0 },
					}),
				},
			],
		})),
	});
const runError = () => buildRunError('Refused', 'Wait.');
const userError = new UserError('Refused', { description: 'Wait.' });

it('the error of a run names its item where there are others, and gives the editor no number to add', () => {
	const { message } = toNodeError(buildCall({ input: [{}] }), userError, undefined, 0);
	expect(message).toBe('Refused');
	for (const error of [userError, buildRejection(402), new Error('Own')]) {
		const { message, context } = toNodeError(buildCall({ input: [{}, {}] }), error, undefined, 0);
		expect(message).toMatch(/ \[item 1 of 2\]$/);
		expect(context.itemIndex).toBeUndefined();
	}
});

const ended = (status: 'failed' | 'timedOut', failCode?: string) => ({
	taskId: 'a',
	status,
	resultUrls: [],
	failMessage: 'blocked',
	failCode,
});

describe('the error of a run', () => {
	it('is of a class of n8n, and has our words', () => {
		const [ours, api] = [runError(), buildRejection(402, 'empty')].map((error) =>
			toNodeError(call, error),
		);
		expect(ours).toBeInstanceOf(NodeOperationError);
		expect(ours).toMatchObject({ message: 'Refused', description: 'No task was created. Wait.' });
		expect(api).toBeInstanceOf(NodeApiError);
		expect(api).toMatchObject({
			message: expect.stringMatching(/^The account .* has too few credits/) as string,
			description: expect.stringContaining('Top up') as string,
			httpCode: '402',
		});
	});

	it.each([{ isTool: true }, { contextData: null }])(
		'has all in its message for an agent, which reads nothing else: %j',
		(run) => {
			expect(toNodeError(buildCall(run), runError(), withTasks({ a: 'pending' }), 0)).toMatchObject(
				{
					message: `Refused. No further task was created. Wait. Tasks that exist (look at them with Get): a (created) ${ABOUT_SERVICE_TEXTS}`,
					description: undefined,
				},
			);
		},
	);
});

it('the error of one item says how to go on without paying again, where other items have tasks', () => {
	const { description } = toNodeError(
		call,
		runError(),
		withTasks({ a: 'pending', b: 'pending' }),
		2,
	);
	expect(description?.split('<br>')[0]).toBe(
		'No further task was created. Retry in Executions pays for none again. Wait.',
	);
});

it('the error that an agent gets is cut, and still names the task', () => {
	const { message } = toNodeError(
		tool,
		new Error('a '.repeat(20_000)),
		withTasks({ b: 'pending' }),
		0,
	);
	expect(message.replace(ABOUT_SERVICE_TEXTS, '')).toMatch(
		/^(a )+a… Tasks that exist .*: b \(created\) $/,
	);
	expect(message.length).toBeLessThanOrEqual(4_200);
});

it.each<[string, typeof call, Error, string | undefined, object]>([
	['without a remedy', call, new Error('Closed'), undefined, { error: 'Closed' }],
	[
		'beside a task',
		call,
		new Error('Closed'),
		'a1',
		{ error: 'Closed', message: 'Tasks that exist (look at them with Get): a1 (created)' },
	],
	['with a remedy', call, userError, undefined, { error: 'Refused', message: 'Wait.' }],
	['for an agent', tool, userError, undefined, { error: `Refused. Wait. ${ABOUT_SERVICE_TEXTS}` }],
])('an error item %s has the keys by which n8n knows it', (_, run, error, taskId, json) => {
	const [entry] = taskId ? withTasks({ [taskId]: 'pending' }).entries : [];
	expect(toErrorItem(run, error, 2, entry)).toStrictEqual({ json, pairedItem: { item: 2 } });
});

const NEW_TASK =
	'Change the prompt, then run the node that created it again: that pays for a new task for each of its items.';
const WAIT_FOR_TASK = 'It may still end at the service: use Wait with this ID.';
const OTHER_TASKS =
	/^To output the other tasks .* set On Error of the Media Generation node that created them to Continue, and retry/;

it.each<[string, Task, string]>([
	['The task failed: blocked (code 501)', ended('failed', '501'), NEW_TASK],
	['The task had not ended when the wait was over', ended('timedOut'), WAIT_FOR_TASK],
])(
	'a failed task says in short lines what happened, what to do, and the IDs: %s',
	(message, task, remedy) => {
		const error = buildFailedTaskError(task);
		const read = (tasks: Record<string, Task['status']>) =>
			toNodeError(call, error, withTasks(tasks), 2).description?.split('<br>');
		expect(toNodeError(call, error, undefined, 2).message).toBe(`${message} [item 3 of 4]`);
		expect(read({ a: 'pending' })).toEqual([remedy, 'Task ID: a']);
		expect(read({ b: 'completed', a: 'pending', c: 'failed', d: 'completed' })).toEqual([
			expect.stringMatching(OTHER_TASKS),
			remedy,
			'Tasks that exist (look at them with Get): b (completed), c (failed), d (completed)',
			'Credits consumed by this run: 8',
			'Task ID: a',
		]);
		const [entry] = withTasks({ a: 'failed' }).entries;
		expect(toErrorItem(call, error, 2, entry).json.message).toBe(`${remedy} Task ID: a`);
	},
);

it.each([
	['Image fetch failed: 404', 'Image fetch failed: 404'],
	['The generation failed: the prompt was rejected.', 'the prompt was rejected'],
	['Too busy...', 'Too busy...'],
	[' ', 'no reason given'],
	[undefined, 'no reason given'],
])('a failed task says why, or that no reason is given: %j', (failMessage, reason) => {
	const error = buildFailedTaskError({ ...ended('failed', '501'), failMessage });
	expect(toNodeError(tool, error).message).toMatch(`The task failed: ${reason} (code 501). `);
});

it('the error of a run that created a failed task again says how often, and names all the tasks', () => {
	const ids = ['a', 'b', 'c'];
	const attempts = ids.map((taskId) => ({ taskId, end: { ...ended('failed'), taskId } }));
	const error = buildFailedTaskError({ ...ended('failed'), taskId: 'c' });
	const ledger = beginLedger({ entries: [{ attempts }] });
	expect(toNodeError(call, error, ledger, 0).description?.split('<br>')).toEqual([
		NEW_TASK,
		'Tasks that exist (look at them with Get): a (failed), b (failed)',
		'Tried 3 times; failed tasks: 3',
		'Task ID: c',
	]);
});
