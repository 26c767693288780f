import { NodeApiError, NodeOperationError, UserError } from 'n8n-workflow';
import {
	RefusedRunError,
	SAID,
	toErrorItem,
	toNodeError,
} from '../../../nodes/MediaGeneration/run/errors';
import { ServiceError } from '../../../nodes/MediaGeneration/api/failure';
import { buildFieldError } from '../../../nodes/MediaGeneration/models/field';
import { FailedTaskError } from '../../../nodes/MediaGeneration/run/failedTask';
import { buildCall, refuse, unknown } from '../n8n';

const call = buildCall({ input: [{}, {}, {}, {}] });
const tool = buildCall({ isTool: true });
const refusal = () => new RefusedRunError('Refused', { description: 'Wait.' });
const wrong = new UserError('Refused', { description: 'Wait.' });

it('the error of a run names its item where there are others', () => {
	const { message } = toNodeError(buildCall({ input: [{}] }), wrong, 0);
	expect(message).toBe('Refused');
	expect(toNodeError(buildCall({ input: [{}, {}] }), wrong, 0).message).toBe('Refused [item 0]');
});

const ended = (status: 'failed' | 'timedOut', failCode?: string) => ({
	...{ taskId: 'a', status, resultUrls: [], failMessage: 'blocked', failCode },
});

const unreachable = new ServiceError({
	...{ kind: 'unreachable', certain: true, origin: 'https://api.example' },
	detail: "can't be reached",
});
const cause = refuse(402);

it.each<[string, Error, boolean]>([
	['a field', buildFieldError('Wrong'), false],
	['what the document of the service says', buildFieldError('Wrong', 'Other.', UserError), true],
	['a limit in Options', refusal(), false],
	['a limit that a refusal was in the way of', new RefusedRunError('No', { cause }), true],
	['nobody who answers', unreachable, false],
	['a refusal', refuse(402, 'empty'), true],
	['a failed task', new FailedTaskError(ended('failed'), ['a']), true],
	['what is not ours', new Error('Closed'), true],
])('a model is told whose words it may read, of %s', (_, error, isSaid) => {
	expect(toNodeError(tool, error).message.includes(SAID)).toBe(isSaid);
});

describe('the error of a run', () => {
	it('has a class of n8n, and the words of ours', () => {
		const [ours, own, api] = [refusal(), new Error('Own'), refuse(402, 'empty')].map((error) =>
			toNodeError(call, error, 3),
		);
		expect(ours).toBeInstanceOf(NodeOperationError);
		expect(ours).toMatchObject({ message: 'Refused [item 3]', context: { itemIndex: 3 } });
		expect(own).toMatchObject({ message: 'Own [item 3]', description: undefined });
		expect(api).toBeInstanceOf(NodeApiError);
		expect(api).toMatchObject({
			message: expect.stringMatching(
				/^The account or its access token has too few credits.*\[item 3\]$/,
			) as string,
			description: expect.stringContaining('Top up') as string,
			httpCode: '402',
		});
	});

	it.each<[string[], string]>([
		[[], 'Nothing was created. Wait.'],
		[['a'], 'Nothing more was created. Wait. This task exists. Look at it with Get: a'],
		[['a', 'b'], 'Nothing more was created. Wait. These tasks exist. Look at them with Get: a, b'],
	])('names the tasks that exist: %j', (taskIds, description) => {
		const error = { message: 'Refused', description };
		expect(toNodeError(call, refusal(), undefined, taskIds)).toMatchObject(error);
	});

	it.each([{ isTool: true }, { kept: null }])(
		'has all in its message for a model, which reads nothing else: %j',
		(run) => {
			expect(toNodeError(buildCall(run), refusal(), 0, ['a'])).toMatchObject({
				message: `Refused. Nothing more was created. Wait. This task exists. Look at it with Get: a`,
				description: undefined,
			});
		},
	);
});

it.each<[Error, string | undefined]>([
	[refuse(401), 'credential-invalid'],
	[refuse(402), 'quota-exhausted'],
	[refuse(404), 'configuration-invalid'],
	[refuse(429), 'rate-limited'],
	[refuse(500, 'Too many running tasks'), 'rate-limited'],
	[refuse(455), 'temporarily-unavailable'],
	[refuse(500), 'temporarily-unavailable'],
	[refuse(422), undefined],
	[unreachable, undefined],
	[unknown(), undefined],
	[refusal(), undefined],
])('n8n is told why it failed, unless a second try may pay again: %#', (error, cause) => {
	expect(toNodeError(call, error).failure).toEqual(cause && { cause });
});

it('the error that a model gets has a bound, and still names the task', () => {
	const { message } = toNodeError(tool, new Error('a '.repeat(20_000)), 0, ['b']);
	expect(message.replace(SAID, '')).toMatch(/^(a )+…\. This task exists\. .*: b $/);
	expect(message.length).toBeLessThanOrEqual(4_200);
});

it.each<[typeof call, Error, string | undefined, object]>([
	[call, new Error('Closed'), undefined, { error: 'Closed' }],
	[
		call,
		new Error('Closed'),
		'a1',
		{ error: 'Closed', message: 'This task exists. Look at it with Get: a1' },
	],
	[call, wrong, undefined, { error: 'Refused', message: 'Wait.' }],
	[tool, wrong, undefined, { error: `Refused. Wait. ${SAID}` }],
])('an error item has the keys that n8n knows it by: %#', (run, error, taskId, json) => {
	expect(toErrorItem(run, error, 2, taskId)).toStrictEqual({ json, pairedItem: { item: 2 } });
});

const PAYS =
	'Only a new run of the node that created it, or its Retry On Fail, pays for a new task.';
const STILL = 'It may still end at the service: use Wait with this ID.';

it.each<[object, string, string]>([
	[new FailedTaskError(ended('failed', '501'), ['a']), 'The task failed: blocked (code 501)', PAYS],
	[
		new FailedTaskError(ended('failed', '408'), ['a']),
		'The task failed: blocked (code 408)',
		STILL,
	],
	[
		new FailedTaskError(ended('timedOut'), ['a']),
		'The task had not ended when the wait was over',
		STILL,
	],
	[
		new FailedTaskError(ended('failed'), ['a'], 'no room'),
		'The task failed: blocked',
		'Retry On Fail did not create it again: no room.',
	],
])('a failed task says what happened, one next step, and the IDs: %#', (error, message, next) => {
	const description = `${next} Task ID: a`;
	expect(toNodeError(call, error, 2)).toMatchObject({
		message: `${message} [item 2]`,
		description,
	});
	expect(toNodeError(call, error, 2, ['a', 'b', 'c'])).toMatchObject({
		description: `Other tasks of this run: b, c. To output them, set On Error to Continue, then retry this execution with the currently saved workflow: finished ones aren't paid again. ${description}`,
	});
	expect(toErrorItem(call, error, 2, 'a').json).toMatchObject({ message: description });
});
