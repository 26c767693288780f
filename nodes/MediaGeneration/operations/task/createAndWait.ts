import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { isBlank, parseValue, type Field } from '../../models/field';
import { isTool, stopsOnError } from '../nodeContext';
import {
	defineOperation,
	optionsField,
	readNumberOption,
	type Item,
	type Outcome,
	type OutputItem,
	type RunResult,
} from '../operation';
import type { CreateResult } from '../create/createTasks';
import { binaryPropertyName, maxSizeOption, readMaxBytes } from './download';
import {
	creationOptions,
	prepareRequest,
	requestFields,
	type TaskRequest,
} from '../create/request';
import type { DownloadOptions } from '../results/resultDownloads';
import { findResumeUrl } from '../wait/resumeUrl';
import { toToolResult } from '../wait/toolResult';
import type { CreatedTask } from '../wait/poll';

const MINUTE = 60_000;

/**
 * The milliseconds of creating after which it is worth checking whether all tasks have ended: n8n answers 409
 * to callbacks while the execution is not parked yet. Senders retry, and media take longer than this.
 */
const CHECK_AFTER = 1_000;

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
		"How the end of the tasks is noticed. Callbacks are verified with the 'Webhook HMAC Key' of the credential; without one, the secret in the resume URL and the task details are what is trusted.",
};

const waitLimit: Field = {
	displayName: 'Limit Wait Time (Minutes)',
	name: 'waitLimit',
	type: 'number',
	typeOptions: { minValue: 0.01 },
	default: 30,
	required: true,
	description:
		'The longest wait, for all items together. Tasks that have not ended by then are output with the status timedOut; look at them later with Get. While waiting for a callback, n8n checks this once a minute.',
};

const downloadResults: INodeProperties = {
	displayName: 'Download Results',
	name: 'downloadResults',
	type: 'boolean',
	noDataExpression: true,
	default: false,
	description:
		"Whether to get the files of completed tasks as binary data of their items. If a file can't be downloaded, you get its link, and the reason in downloadError.",
};

const whenDownloading = { show: { '/downloadResults': [true] } };

const outputBinaryField: INodeProperties = {
	...binaryPropertyName,
	name: 'outputBinaryField',
	required: false,
	displayOptions: whenDownloading,
	description: 'The next files of the same task are named after it, as data_1',
};

const toolWaitLimit: INodeProperties = {
	displayName: 'Limit Wait Time of Agents (Minutes)',
	name: 'toolWaitLimit',
	type: 'number',
	typeOptions: { minValue: 0.01 },
	default: 5,
	description:
		'How many minutes an AI agent waits for this tool where the execution has to stay awake: with polling, an older agent, an MCP server, or several calls at once',
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
	description: 'Create a new task and continue with its result when it has ended',
	fields: [
		...requestFields,
		waitFor,
		waitLimit,
		downloadResults,
		optionsField([
			...creationOptions,
			outputBinaryField,
			{ ...maxSizeOption, displayOptions: whenDownloading },
			toolWaitLimit,
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
		const callBackUrl =
			first.request.waitFor === 'callback' ? await findResumeUrl(context, services) : undefined;
		const requests = prepared.map(({ item, request }) => ({
			item,
			request: { ...request, callBackUrl },
		}));
		const { createTasks } = await import('../create/createTasks');
		const begun = Date.now();
		const { results, elsewhere } = await createTasks(requests, context);
		const isStopped = context.getExecutionCancelSignal()?.aborted;
		if (isStopped || (stopsOnError(context) && results.some((result) => !isTask(result))))
			return { outcomes: results.map((result) => toOutcome(result)) };

		const created = prepared.flatMap(({ item }, index) => {
			const result = results[index];
			return isTask(result) ? [{ item, task: result.task }] : [];
		});
		const { hasEnded, checkUntilPending, markAllTimedOut, pollUntilEnded } = await import(
			'../wait/poll'
		);
		const download = first.request.downloads && (await openDownloads(first.request.downloads));
		/** Makes the items of tasks, with their files once they are there. */
		const toItems = async (tasks: Task[]): Promise<OutputItem[]> =>
			await Promise.all(
				created.map(async ({ item }, index) => {
					const task = tasks[index] as Task;
					const output = (await download?.({ item, task })) ?? { json: task };
					return asTool ? { ...output, json: toToolResult(output.json as Task) } : output;
				}),
			);
		const finish = async (tasks: Task[]): Promise<RunResult> => {
			showCost(context, tasks);
			return { outcomes: withItems(results, await toItems(tasks)) };
		};
		if (!callBackUrl || elsewhere) {
			const toolLimit = readNumberOption(first.item.option, toolWaitLimit) * MINUTE;
			return await finish(
				await pollUntilEnded(created, {
					limit: asTool ? Math.min(limit, toolLimit) : limit,
					signal: context.getExecutionCancelSignal(),
					onEnded: (ended) => void download?.(ended),
				}),
			);
		}
		const tasks =
			Date.now() - begun > CHECK_AFTER
				? await checkUntilPending(created)
				: created.map(({ task }) => task);
		if (tasks.every(hasEnded)) return await finish(tasks);
		const parked = markAllTimedOut(tasks).map((task) => ({
			json: asTool ? toToolResult(task) : task,
		}));
		return {
			outcomes: withItems(results, parked),
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

/** Opens the downloads of a run. What it takes is loaded only for runs that download. */
async function openDownloads(
	options: DownloadOptions,
): Promise<(ended: CreatedTask) => Promise<OutputItem>> {
	const { ResultDownloads } = await import('../results/resultDownloads');
	const { toFileSource } = await import('../results/resultFiles');
	const downloads = new ResultDownloads(options);
	return async ({ item, task }) => await downloads.start(task, toFileSource(item));
}

/** Says at the node's output what its tasks cost. n8n takes no hints from the webhook that resumes an execution. */
function showCost(context: IExecuteFunctions, tasks: Task[]): void {
	const costs = tasks.flatMap(({ creditsConsumed }) => creditsConsumed ?? []);
	if (!costs.length) return;
	const sum = Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));
	context.addExecutionHints({
		type: 'info',
		location: 'outputPane',
		message: `${costs.length === 1 ? 'The task' : `${costs.length} tasks`} consumed ${sum} credits.`,
	});
}
