import { UserError, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';
import { CREDENTIAL, type TaskService } from '../../api/client';
import type { Task } from '../../api/task';
import { isBlank, parseValue, type Field } from '../../models/field';
import { isTool, stopsOnError } from '../nodeContext';
import {
	defineOperation,
	optionsField,
	type Item,
	type Outcome,
	type OutputItem,
} from '../operation';
import type { CreateResult } from './createTasks';
import { binaryPropertyName, maxSizeOption, readMaxBytes } from './download';
import { isInternalUrl } from './isInternalUrl';
import { creationOptions, prepareRequest, requestFields, type TaskRequest } from './request';
import type { DownloadOptions } from './resultDownloads';

const MINUTE = 60_000;

/**
 * How long creating may take, in milliseconds, until it is worth checking whether all tasks have ended: n8n answers 409
 * to callbacks while the execution is not parked yet. Senders retry, and media take longer than this.
 */
const CHECK_AFTER = 1_000;

/** The longest that an agent waits for its tool, in milliseconds. */
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
				'The execution sleeps until the service sends its callback. The service must be able to reach this n8n.',
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
		'How the end of the tasks is noticed. Callbacks are verified with the Webhook HMAC Key of the credential; without one, the secret in the resume URL and the task details are what is trusted.',
};

const waitLimit: Field = {
	displayName: 'Wait Limit (Minutes)',
	name: 'waitLimit',
	type: 'number',
	typeOptions: { minValue: 0.01 },
	default: 30,
	required: true,
	description:
		'How many minutes to wait at the most, for all items together. When the limit passes, tasks that have not ended are output with status timedOut and their ID, to look at them later with Get. While waiting for a callback, n8n checks the limit once a minute.',
};

const downloadResults: INodeProperties = {
	displayName: 'Download Results',
	name: 'downloadResults',
	type: 'boolean',
	noDataExpression: true,
	default: false,
	description:
		"Whether to get the files of completed tasks as binary data of their items. A file that can't be had leaves its link, and the reason in downloadError.",
};

const whenDownloading = { show: { '/downloadResults': [true] } };

const outputBinaryField: INodeProperties = {
	...binaryPropertyName,
	name: 'outputBinaryField',
	required: false,
	displayOptions: whenDownloading,
	description: 'The next files of the same task are named after it, as data_1',
};

interface WaitRequest extends TaskRequest {
	/** In milliseconds. */
	limit: number;
	waitFor: string;
	downloads?: DownloadOptions;
}

function readDownloadOptions({ read, option, settings }: Item): DownloadOptions | undefined {
	if (read(downloadResults.name) !== true) return undefined;
	const field = option(outputBinaryField.name);
	return {
		field: isBlank(field) ? (outputBinaryField.default as string) : String(field).trim(),
		maxBytes: readMaxBytes(option),
		timeoutSeconds: settings.timeoutSeconds,
	};
}

export const createAndWait = defineOperation<WaitRequest>({
	resource: 'task',
	value: 'createAndWait',
	name: 'Create and Wait',
	action: 'Create task and wait',
	description: 'Start a task and go on with its result when it is finished',
	fields: [
		...requestFields,
		waitFor,
		waitLimit,
		downloadResults,
		optionsField([
			...creationOptions,
			outputBinaryField,
			{ ...maxSizeOption, displayOptions: whenDownloading },
		]),
	],
	prepare: async (item) => ({
		...(await prepareRequest(item)),
		limit: (parseValue(waitLimit, item.read(waitLimit.name)) as number) * MINUTE,
		waitFor: item.read(waitFor.name) as string,
		downloads: readDownloadOptions(item),
	}),
	async run(prepared, context) {
		const [first] = prepared;
		if (!first) return { outcomes: [] };
		const { limit } = first.request;
		const asTool = isTool(context);
		const services = prepared.map(({ item }) => item.service);
		const byCallback =
			first.request.waitFor === 'callback' && !asTool && (await canSleep(context, services));
		const callBackUrl = byCallback ? findResumeUrl(context, services) : undefined;
		const requests = prepared.map(({ item, request }) => ({
			item,
			request: { ...request, callBackUrl },
		}));
		const { createTasks } = await import('./createTasks');
		const begun = Date.now();
		const { results, elsewhere } = await createTasks(requests, context);
		const isStopped = context.getExecutionCancelSignal()?.aborted;
		if (isStopped || (stopsOnError(context) && results.some((result) => !isTask(result))))
			return { outcomes: results.map((result) => toOutcome(result)) };

		const created = prepared.flatMap(({ item }, index) => {
			const result = results[index];
			return isTask(result) ? [{ item, task: result.task }] : [];
		});
		const { hasEnded, checkUntilPending, markAllTimedOut, pollUntilEnded } = await import('./wait');
		const { ResultDownloads } = await import('./resultDownloads');
		const { toFileSource } = await import('./resultFiles');
		const downloads = first.request.downloads && new ResultDownloads(first.request.downloads);
		/** Makes the items of tasks, with their files once they are there. */
		const toItems = async (tasks: Task[]): Promise<OutputItem[]> =>
			await Promise.all(
				created.map(async ({ item }, index) => {
					const task = tasks[index] as Task;
					return (await downloads?.start(task, toFileSource(item))) ?? { json: task };
				}),
			);
		if (!byCallback || elsewhere) {
			const tasks = await pollUntilEnded(created, {
				limit: asTool ? Math.min(limit, TOOL_LIMIT) : limit,
				signal: context.getExecutionCancelSignal(),
				onEnded: ({ item, task }) => void downloads?.start(task, toFileSource(item)),
			});
			return { outcomes: withItems(results, await toItems(asTool ? tasks.map(addAdvice) : tasks)) };
		}
		const tasks =
			Date.now() - begun > CHECK_AFTER
				? await checkUntilPending(created)
				: created.map(({ task }) => task);
		return tasks.every(hasEnded)
			? { outcomes: withItems(results, await toItems(tasks)) }
			: {
					outcomes: withItems(
						results,
						markAllTimedOut(tasks).map((json) => ({ json })),
					),
					park: { until: new Date(Date.now() + limit), settings: first.request.downloads },
				};
	},
});

const isTask = (result: CreateResult): result is { task: Task } =>
	result !== undefined && 'task' in result;

const toOutcome = (result: CreateResult): Outcome =>
	isTask(result) ? { items: [{ json: result.task }] } : result;

/** Puts these items in place of the tasks that were created, in their order. */
function withItems(results: CreateResult[], items: OutputItem[]): Outcome[] {
	const rest = items.values();
	return results.map((result) =>
		isTask(result) ? { items: [rest.next().value as OutputItem] } : result,
	);
}

/** Tells an agent's model what to do about a task that goes on. */
const addAdvice = (task: Task): Task & { note?: string } =>
	task.status === 'timedOut'
		? {
				...task,
				note: 'The task goes on. Do not create it again: look at it later by its taskId, with the operation Get.',
			}
		: task;

/**
 * Checks that the webhook of a parked execution will read the same credential. n8n resolves expressions in a credential for it
 * without the run's data, so one that depends on an item, or on another node, can't be read then. The credential is read here as
 * n8n does it for a webhook: without input data.
 */
async function canSleep(context: IExecuteFunctions, services: TaskService[]): Promise<boolean> {
	const asWebhook = Object.create(context, {
		connectionInputData: { value: undefined },
	}) as IExecuteFunctions;
	const credentials = JSON.stringify(
		await asWebhook.getCredentials(CREDENTIAL).catch(() => undefined),
	);
	if (services.every((service) => JSON.stringify(service.credentials) === credentials)) return true;
	context.addExecutionHints({
		type: 'info',
		message:
			"The credential has expressions that n8n can't resolve while an execution sleeps, so the node polled instead of waiting for the callback.",
	});
	return false;
}

/**
 * Finds the URL by which the service resumes this execution.
 * @throws {UserError} before anything is created, when the service can't reach it
 */
function findResumeUrl(context: IExecuteFunctions, services: TaskService[]): string {
	const url = context.evaluateExpression('{{ $execution.resumeUrl }}', 0) as string;
	if (
		isInternalUrl(url) &&
		!services.every(({ credentials }) => isInternalUrl(credentials.baseUrl))
	)
		throw new UserError(
			`The service can't reach this n8n: callbacks would go to ${new URL(url).origin}`,
			{
				description:
					'Nothing was created. Set the environment variable WEBHOOK_URL of n8n to the address by which the internet reaches it, or set Wait For to Polling.',
			},
		);
	return url;
}
