import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { getSigningSecrets } from '../../callback/verify';
import { isBlank, parseValue, type Field } from '../../models/field';
import type { CreateResult } from '../create/createTasks';
import {
	checkCallback,
	costOptions,
	fineTuningOptions,
	inputFileOptions,
	prepareRequest,
	requestFields,
	type RecalledRequest,
	type TaskRequest,
} from '../create/request';
import { settleBy } from '../../lib/timers';
import { hasExecution, isExecuteNode, isTool, readDeadline, stopsOnError } from '../nodeContext';
import {
	defineOperation,
	hasFailed,
	optionsField,
	readNumberOption,
	type Item,
	type Outcome,
	type OutputItem,
	type Prepared,
} from '../operation';
import { isFurtherFile } from '../results/fileItems';
import type { DownloadOptions } from '../results/resultDownloads';
import { decideWait, sayWhyAwake, type WaitFor } from '../wait/decideWait';
import { openWait } from '../wait/openWait';
import { showOutcome } from '../wait/outcomeHints';
import { addNote, toToolResult } from '../wait/toolResult';
import type { WaitSettings } from '../wait/waitingExecution';
import {
	binaryPropertyName,
	maxSizeOption,
	outputItems,
	readMaxBytes,
	readPerFile,
} from './sharedFields';

const MINUTE = 60_000;
const YEAR_IN_MINUTES = 525_600;

/**
 * If creating took longer than this, in milliseconds, the node checks whether all tasks have ended. n8n answers 409 to callbacks
 * until the execution is parked, so a callback that came too early would cost the time to the first look.
 */
const CHECK_AFTER = 1_000;

/**
 * The time left to n8n before its timeout, in milliseconds, or a fifth of the time if that is less. n8n needs it to store the
 * output and to run the nodes after this one.
 */
const BEFORE_DEADLINE = 3_000;

const waitFor: INodeProperties = {
	displayName: 'How to Wait',
	name: 'waitFor',
	type: 'options',
	options: [
		{
			name: 'Automatic',
			value: 'automatic',
			description:
				'Sleeps if the service can reach this n8n, otherwise keeps asking. A hint at the output says why it kept asking.',
		},
		{
			name: 'Sleep Until Notified',
			value: 'callback',
			description:
				'The execution sleeps until the service sends its callback. The service must be able to reach this n8n.',
		},
		{
			name: 'Keep Asking',
			value: 'polling',
			description:
				'The execution stays awake and asks the service again and again. Works on any n8n.',
		},
	],
	default: 'automatic',
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
	default: true,
	displayOptions: { hide: { '@tool': [true] } },
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
	displayName: 'Agent Wait (Minutes)',
	name: 'toolWaitLimit',
	type: 'number',
	typeOptions: { minValue: 0.01, maxValue: YEAR_IN_MINUTES },
	default: 5,
	description:
		'How many minutes an AI agent waits for this tool where the execution has to stay awake: with Keep Asking, an older agent, an MCP server, or several calls at once',
};

/**
 * The limit is offered to tools only. n8n's Agents may run the node itself in place of its variant for tools, and n8n drops values
 * of options that the node doesn't have, so outside of tools it is hidden.
 */
const toolWaitLimits: INodeProperties[] = [
	{ ...toolWaitLimit, displayOptions: { show: { '@tool': [true] } } },
	{ ...toolWaitLimit, type: 'hidden', displayOptions: { hide: { '@tool': [true] } } },
];

/** The settings of a wait, for all items of a run. */
interface RunSettings extends WaitSettings {
	waitFor: WaitFor;
	/** The longest wait, in milliseconds. */
	limit: number;
	toolLimit: number;
}

/** Reads the limit, in minutes. An item that has a task already must not fail because an expression is blank now. */
function readLimit({ read, recalled }: Item): number {
	const value = read(waitLimit.name);
	return (recalled && isBlank(value) ? waitLimit.default : parseValue(waitLimit, value)) as number;
}

/**
 * Reads the settings with the expressions of this item. A tool's model gets only links. @throws {UserError} when one can't be used
 */
function readSettings(item: Item): RunSettings {
	const { context, read, option, settings } = item;
	const downloads = !isTool(context) && read(downloadResults.name) === true;
	return {
		...settings,
		waitFor: read(waitFor.name) as WaitFor,
		limit: readLimit(item) * MINUTE,
		toolLimit: readNumberOption(option, toolWaitLimit) * MINUTE,
		...(readPerFile(option) && { perFile: true }),
		...(downloads && { downloads: readDownloadOptions(option) }),
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
	name: 'Generate',
	action: 'Generate a video or image',
	description:
		'Create a video, an image, speech or music, and continue with it when it is finished',
	fields: [
		...requestFields,
		waitFor,
		waitLimit,
		downloadResults,
		optionsField([
			...costOptions,
			...toolWaitLimits,
			outputItems,
			outputBinaryField,
			{ ...maxSizeOption, displayOptions: whenDownloading },
			...inputFileOptions,
			...fineTuningOptions,
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
		const deadline = readDeadline(context);
		const services = prepared.map(({ item }) => item.service);
		const { resumeUrl, reason: whyAwake } = await decideWait(context, settings, services);
		for (const { request } of prepared)
			if (!('recalled' in request))
				checkCallback(
					request,
					resumeUrl,
					whyAwake === undefined
						? `Set '${waitFor.displayName}' to Sleep Until Notified: with Keep Asking, the service gets none.`
						: `Here the node can only keep asking: ${whyAwake}. Use Start Without Waiting with a Callback URL.`,
				);
		const { createTasks } = await import('../create/createTasks');
		const { results, elsewhere } = await createTasks(
			prepared.map(({ item, request }) => ({
				item,
				request: { ...request, callBackUrl: resumeUrl },
			})),
			context,
		);
		const stopped = context.getExecutionCancelSignal();
		if (stopped?.aborted || (stopsOnError(context) && results.some(hasFailed)))
			return { outcomes: toOutcomes(results, (task) => [{ json: task }]) };

		const { openAwakeWait } = await import('../wait/awake');
		const { batch, look, checkUntilOpen, collectFiles } = await openAwakeWait(
			prepared.flatMap(({ item }, index) => {
				const result = results[index];
				return isTask(result) ? [{ item, task: result.task }] : [];
			}),
			settings,
		);
		const input = context.getInputData();
		const toItems = ({ taskId }: Task, order: number): OutputItem[] => {
			const { index, recalled } = (prepared[order] as Prepared<unknown>).item;
			// The input of a retry may be the items of an earlier execution. A task's first item makes the items of all its files.
			if (
				recalled &&
				'elsewhere' in recalled &&
				recalled.elsewhere &&
				isFurtherFile(input[index]?.json)
			)
				return [];
			const output = batch.toOutput(taskId);
			return output.map(({ json, ...files }) => {
				const task = json as Task;
				if (isTool(context))
					return { ...files, json: toToolResult(task, { linksOnly: !hasExecution(context) }) };
				return { ...files, json: isExecuteNode(context) ? addNote(task) : task };
			});
		};
		const { limit, toolLimit } = settings;
		const begun = (wait.begun ??= Date.now());
		const endBy = deadline - Math.min(BEFORE_DEADLINE, (deadline - Date.now()) / 5);

		const collect = async (): Promise<Outcome[]> => {
			await settleBy(endBy, collectFiles());
			showOutcome(context, batch.tasks);
			return toOutcomes(results, toItems);
		};
		const stayAwake = async (reason?: string): Promise<Outcome[]> => {
			if (reason !== undefined) sayWhyAwake(context, reason);
			const { pollUntilEnded } = await import('../wait/poll');
			const longest = isTool(context) ? Math.min(limit, toolLimit) : limit;
			await pollUntilEnded(batch, { ...look, until: begun + longest, endBy, stopped });
			if (!batch.isEnded && endBy < begun + longest) sayEndedEarly(context);
			return await collect();
		};
		if (resumeUrl === undefined) return { outcomes: await stayAwake(whyAwake) };
		if (elsewhere) return { outcomes: await stayAwake(CALLED_BACK_ELSEWHERE) };
		if (Date.now() - started > CHECK_AFTER) await settleBy(endBy, checkUntilOpen());
		const [taskId] = batch.openIds;
		if (taskId === undefined) return { outcomes: await collect() };
		const secret = getSigningSecrets(first.item.service.credentials)?.current;
		return {
			outcomes: toOutcomes(results, toItems),
			park: { until: begun + limit, look: { url: resumeUrl, taskId, secret }, stayAwake },
		};
	},
});

/** Why a retry polls. The service sends callbacks to the execution that created the tasks. */
const CALLED_BACK_ELSEWHERE = 'tasks of this run were created by an earlier execution';

const isTask = (result: CreateResult): result is { task: Task } =>
	result !== undefined && 'task' in result;

/** Puts the output of each task at its item's position. */
const toOutcomes = (
	results: CreateResult[],
	toItems: (task: Task, order: number) => OutputItem[],
): Outcome[] =>
	results.map((result, order) =>
		isTask(result) ? { items: toItems(result.task, order) } : result,
	);

function sayEndedEarly(context: IExecuteFunctions): void {
	context.addExecutionHints({
		type: 'info',
		message:
			"The wait ended before 'Limit Wait Time', because n8n would soon have ended the execution by a timeout, such as 'Timeout Workflow' in the workflow's settings.",
	});
}
