import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { getSigningSecrets } from '../../callback/signature';
import { isBlank, parseValue, type Field } from '../../models/field';
import type { CreateResult } from '../create/createTasks';
import {
	creationOptions,
	prepareRequest,
	requestFields,
	type RecalledRequest,
	type TaskRequest,
} from '../create/request';
import { isTool, stopsOnError } from '../nodeContext';
import {
	defineOperation,
	hasFailed,
	optionsField,
	readNumberOption,
	type Item,
	type Outcome,
	type OutputItem,
} from '../operation';
import type { DownloadOptions } from '../results/resultDownloads';
import type { Batch } from '../wait/batch';
import { openWait } from '../wait/openWait';
import { findResumeUrl } from '../wait/resumeUrl';
import { toToolResult } from '../wait/toolResult';
import type { WaitSettings } from '../wait/waitingExecution';
import { binaryPropertyName, maxSizeOption, readMaxBytes } from './download';

const MINUTE = 60_000;
const YEAR_IN_MINUTES = 525_600;

/**
 * The milliseconds of creating after which it is worth checking whether all tasks have ended: n8n answers 409
 * to callbacks while the execution is not parked yet. A callback that came too early costs the time to the first look.
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
	typeOptions: { minValue: 0.01, maxValue: YEAR_IN_MINUTES },
	default: 30,
	required: true,
	description:
		'The longest wait, for all items together. Tasks that have not ended by then are output with the status timedOut. Look at them later with Get.',
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
	typeOptions: { minValue: 0.01, maxValue: YEAR_IN_MINUTES },
	default: 5,
	description:
		'How many minutes an AI agent waits for this tool where the execution has to stay awake: with polling, an older agent, an MCP server, or several calls at once',
};

/** The settings of a wait, for all items of a run. */
interface RunSettings extends WaitSettings {
	waitFor: string;
	/** The longest wait, in milliseconds; for a tool that has to stay awake too. */
	limit: number;
	toolLimit: number;
}

/** Reads the limit, in minutes. An item that has a task already must not fail for an expression that is blank now. */
function readLimit({ read, recalled }: Item): number {
	const value = read(waitLimit.name);
	return (recalled && isBlank(value) ? waitLimit.default : parseValue(waitLimit, value)) as number;
}

/** Reads them by the expressions of this item. @throws {UserError} when one can't be used */
function readSettings(item: Item): RunSettings {
	const { read, option, settings } = item;
	return {
		...settings,
		waitFor: read(waitFor.name) as string,
		limit: readLimit(item) * MINUTE,
		toolLimit: readNumberOption(option, toolWaitLimit) * MINUTE,
		...(read(downloadResults.name) === true && { downloads: readDownloadOptions(option) }),
	};
}

function readDownloadOptions(option: Item['option']): DownloadOptions {
	const field = option(outputBinaryField.name);
	return {
		field: isBlank(field) ? (outputBinaryField.default as string) : String(field).trim(),
		maxBytes: readMaxBytes(option),
	};
}

export const createAndWait = defineOperation<TaskRequest | RecalledRequest>({
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
	creates: true,
	prepare: prepareRequest,
	async run(prepared, context) {
		const [first] = prepared;
		if (!first) return { outcomes: [] };
		const { item: asked } = prepared.find(({ item }) => !item.recalled) ?? first;
		const wait = openWait(context, () => readSettings(asked));
		const { settings } = wait;
		const started = Date.now();
		const services = prepared.map(({ item }) => item.service);
		const callBackUrl =
			settings.waitFor === 'callback' ? await findResumeUrl(context, services) : undefined;
		const { createTasks } = await import('../create/createTasks');
		const { results, elsewhere } = await createTasks(
			prepared.map(({ item, request }) => ({ item, request: { ...request, callBackUrl } })),
			context,
		);
		const stopped = context.getExecutionCancelSignal();
		if (stopped?.aborted || (stopsOnError(context) && results.some(hasFailed)))
			return { outcomes: toOutcomes(results, (task) => ({ json: task })) };

		const { openAwakeWait } = await import('../wait/awake');
		const { batch, look, checkUntilOpen, collectFiles } = await openAwakeWait(
			prepared.flatMap(({ item }, index) => {
				const result = results[index];
				return isTask(result) ? [{ item, task: result.task }] : [];
			}),
			settings,
		);
		const toItem = ({ taskId }: Task): OutputItem => {
			const output = batch.toOutput(taskId);
			return isTool(context) ? { ...output, json: toToolResult(output.json as Task) } : output;
		};
		const { limit, toolLimit } = settings;
		const begun = (wait.begun ??= Date.now());
		if (!callBackUrl || elsewhere) {
			const { pollUntilEnded } = await import('../wait/poll');
			const longest = isTool(context) ? Math.min(limit, toolLimit) : limit;
			await pollUntilEnded(batch, { ...look, until: begun + longest, stopped });
		} else {
			if (Date.now() - started > CHECK_AFTER) await checkUntilOpen();
			const [taskId] = batch.openIds;
			const secret = getSigningSecrets(first.item.service.credentials)?.current;
			if (taskId !== undefined)
				return {
					outcomes: toOutcomes(results, toItem),
					park: { until: begun + limit, look: { url: callBackUrl, taskId, secret } },
				};
		}
		await collectFiles();
		showCost(context, batch);
		return { outcomes: toOutcomes(results, toItem) };
	},
});

const isTask = (result: CreateResult): result is { task: Task } =>
	result !== undefined && 'task' in result;

/** Puts the output of each task in its item's place. */
const toOutcomes = (results: CreateResult[], toItem: (task: Task) => OutputItem): Outcome[] =>
	results.map((result) => (isTask(result) ? { items: [toItem(result.task)] } : result));

/** Says at the node's output what its tasks cost. n8n takes no hints from the webhook that resumes an execution. */
function showCost(context: IExecuteFunctions, batch: Batch): void {
	const { costs } = batch;
	if (!costs.length) return;
	const sum = Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));
	context.addExecutionHints({
		type: 'info',
		location: 'outputPane',
		message: `${costs.length === 1 ? 'The task' : `${costs.length} tasks`} consumed ${sum} credits.`,
	});
}
