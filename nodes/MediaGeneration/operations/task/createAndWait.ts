import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { valueOf, type Field } from '../../models/field';
import type { TaskService } from '../../service/client';
import type { Task } from '../../service/task';
import {
	defineOperation,
	OperationError,
	optionsField,
	timeoutOption,
	type Outcome,
} from '../operation';
import type { CreateOutcome, CreateRequest } from './createAll';
import { paceOptions } from './pace';
import { isInternalUrl } from './reachable';
import { requestFields, requestOf, requestOptions } from './request';

const MINUTE = 60_000;

/**
 * How long creating may take, in milliseconds, until it is worth a look whether all tasks have ended by now: n8n answers 409
 * to callbacks while the execution is not parked yet. Senders call again, and media take longer than this.
 */
const LOOK_AFTER = 1_000;

/** The longest that an agent is kept waiting for its tool, in milliseconds. */
const TOOL_LIMIT = 5 * MINUTE;

const waitFor: INodeProperties = {
	displayName: 'Wait For',
	name: 'waitFor',
	type: 'options',
	options: [
		{
			name: 'Callback',
			value: 'callback',
			description:
				'The execution sleeps until the service calls. The service must be able to reach this n8n.',
		},
		{
			name: 'Polling',
			value: 'polling',
			description:
				'The execution stays awake and asks the service again and again. Works on any n8n.',
		},
	],
	default: 'callback',
	description:
		'How the end of the tasks is noticed. Calls are verified with the Webhook HMAC Key of the credential; without one, the secret in the resume URL and the task details are what is trusted.',
};

const waitLimit: Field = {
	displayName: 'Wait Limit (Minutes)',
	name: 'waitLimit',
	type: 'number',
	typeOptions: { minValue: 0.01 },
	default: 30,
	required: true,
	description:
		'How many minutes to wait at the most, for all items together. When the limit passes, tasks that have not ended come out with status timedOut and their ID, to look at them later with Get. While waiting for a callback, n8n looks at the limit once a minute.',
};

export const createAndWait = defineOperation({
	resource: 'task',
	value: 'createAndWait',
	name: 'Create and Wait',
	action: 'Create task and wait',
	description: 'Start a task and go on with its result when it is finished',
	fields: [
		...requestFields,
		waitFor,
		waitLimit,
		optionsField([...requestOptions, ...paceOptions, timeoutOption]),
	],
	creates: true,
	check: async (item) => ({
		...(await requestOf(item)),
		limit: (valueOf(waitLimit, item.read(waitLimit.name)) as number) * MINUTE,
		waitFor: item.read(waitFor.name) as string,
	}),
	async run(entries, batch) {
		const { context, service } = batch;
		const [first] = entries;
		if (!first) return { outcomes: [] };
		const { settings } = first.item;
		const { limit } = first.checked;
		const asTool = isTool(context);
		const byCallback = first.checked.waitFor === 'callback' && !asTool;
		const callBackUrl = byCallback ? reachableResumeUrl(context, service) : undefined;
		const requests = entries.map(({ item, checked: { model, input, files } }) => ({
			item,
			checked: { model, input, files, callBackUrl } satisfies CreateRequest,
		}));
		const { createAll } = await import('./createAll');
		const begun = Date.now();
		const { outcomes, elsewhere } = await createAll(requests, batch);
		const created = tasksOf(outcomes);
		if (batch.stopsOnError && created.length < outcomes.length) return { outcomes };

		const { allEnded, asTimedOut, lookUntilPending, pollUntilEnded } = await import('./wait');
		if (!byCallback || elsewhere) {
			const tasks = await pollUntilEnded(created, service, {
				limit: asTool ? Math.min(limit, TOOL_LIMIT) : limit,
				settings,
				signal: context.getExecutionCancelSignal(),
			});
			return { outcomes: withTasks(outcomes, asTool ? tasks.map(withAdvice) : tasks) };
		}
		const tasks =
			Date.now() - begun > LOOK_AFTER
				? await lookUntilPending(created, service, settings)
				: created;
		return allEnded(tasks)
			? { outcomes: withTasks(outcomes, tasks) }
			: {
					outcomes: withTasks(outcomes, asTimedOut(tasks)),
					parkUntil: new Date(Date.now() + limit),
				};
	},
});

const tasksOf = (outcomes: CreateOutcome[]): Task[] =>
	outcomes.flatMap((outcome) => (outcome && 'json' in outcome ? [outcome.json] : []));

/** The outcomes with these tasks in place of those that were created, in their order. */
function withTasks(outcomes: CreateOutcome[], tasks: Task[]): Outcome[] {
	const rest = tasks.values();
	return outcomes.map((outcome) =>
		outcome && 'json' in outcome ? { json: rest.next().value as Task } : outcome,
	);
}

/** Whether an AI agent calls the node: n8n 2 runs such a node as any other, by the name of its tool variant. */
const isTool = (context: IExecuteFunctions): boolean =>
	context.isToolExecution() || context.getNode().type.endsWith('Tool');

/** What an agent is told about a task that goes on. */
const withAdvice = (task: Task): Task & { note?: string } =>
	task.status === 'timedOut'
		? {
				...task,
				note: 'The task goes on. Do not create it again: look at it later by its taskId, with the operation Get.',
			}
		: task;

/**
 * The address by which the service takes up this execution.
 * @throws {OperationError} before anything is created, when the service can't reach it
 */
function reachableResumeUrl(context: IExecuteFunctions, service: TaskService): string {
	const url = context.evaluateExpression('{{ $execution.resumeUrl }}', 0) as string;
	if (isInternalUrl(url) && !isInternalUrl(service.credentials.baseUrl))
		throw new OperationError(
			`The service can not reach this n8n: callbacks would go to ${new URL(url).origin}`,
			'Nothing was created. Set the environment variable WEBHOOK_URL of n8n to the address by which the internet reaches it, or set Wait For to Polling.',
		);
	return url;
}
