import type { INodeProperties } from 'n8n-workflow';
import { isTool } from '../../host/execution';
import { modelFields } from '../../models';
import { parseValue, readNumberOption, type Field } from '../../models/field';
import { buildOptionsField, prepareRequest, type CreateRequest } from '../create/request';
import { defineOperation, hasFailed, type Item } from '../operation';
import { openRecord, type RecalledTask } from '../record';
import { decideWait, type HowToWait } from '../wait/decide';
import type { WaitSettings } from '../wait/look';
import type { TaskWork } from '../work';
import {
	binaryPropertyName,
	maxSizeOption,
	outputItems,
	readMaxBytes,
	readPerFile,
} from './sharedFields';

const MINUTE = 60_000;
const YEAR_IN_MINUTES = 525_600;
const howToWait: INodeProperties = {
	displayName: 'How to Wait',
	name: 'howToWait',
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

const agentWait: INodeProperties = {
	displayName: 'Agent Wait (Minutes)',
	name: 'agentWait',
	type: 'number',
	typeOptions: { minValue: 0.01, maxValue: YEAR_IN_MINUTES },
	default: 10,
	description: 'How many minutes an AI agent waits for the result of this tool',
};

/**
 * The limit is offered to tools only. Elsewhere it is hidden, not absent: n8n's Agents may run the
 * node itself as a tool, and n8n drops values of options that a node doesn't have.
 */
const agentWaits: INodeProperties[] = [
	{ ...agentWait, displayOptions: { show: { '@tool': [true] } } },
	{ ...agentWait, type: 'hidden', displayOptions: { hide: { '@tool': [true] } } },
];

/** Reads a run's settings with the expressions of this item. An agent's model gets only links. */
function readSettings(item: Item): WaitSettings & { howToWait: HowToWait } {
	const { context, read, option, settings } = item;
	const limit = parseValue(waitLimit, read(waitLimit.name)) as number;
	const toolLimit = isTool(context) ? readNumberOption(option, agentWait) : Infinity;
	const downloads = !isTool(context) && read(downloadResults.name) === true;
	const field = String(option(outputBinaryField.name) ?? '').trim() || 'data';
	return {
		...settings,
		howToWait: read(howToWait.name) as HowToWait,
		limit: Math.min(limit, toolLimit) * MINUTE,
		perFile: readPerFile(option),
		...(downloads && { downloads: { field, maxBytes: readMaxBytes(option) } }),
	};
}

export const generate = defineOperation<CreateRequest | RecalledTask>({
	resource: 'task',
	value: 'generate',
	name: 'Generate',
	action: 'Generate a video or image',
	description:
		'Create a video, an image, speech or music, and continue with it when it is finished',
	fields: [
		...modelFields,
		howToWait,
		waitLimit,
		downloadResults,
		buildOptionsField([
			...agentWaits,
			outputItems,
			outputBinaryField,
			{ ...maxSizeOption, displayOptions: whenDownloading },
		]),
	],
	creates: true,
	prepare: prepareRequest,
	async run(prepared, context) {
		const first = prepared.find(({ request }) => !('taskId' in request)) ?? prepared[0];
		if (!first) return { outcomes: [] };
		const record = openRecord(context);
		const { woken } = record;
		const wait = record.openWait(() => readSettings(first.item));
		const services = prepared.map(({ item }) => item.service);
		const decision = woken ? {} : await decideWait(context, wait.settings.howToWait, services);
		const { createTasks, showTasks } = await import('../create/createTasks');
		const callBackUrl = decision.resumeUrl;
		const { results, elsewhere, isOver } = await createTasks(
			prepared.map(({ item, request }) => ({ item, request: { ...request, callBackUrl } })),
			context,
		);
		if (isOver) return { outcomes: showTasks(results) };
		const { waitForTasks } = await import('../wait/waitForTasks');
		const how = { record, wait, decision: elsewhere ? CALLED_BACK_ELSEWHERE : decision, woken };
		const works = results.filter((one): one is TaskWork => one !== undefined && !hasFailed(one));
		const { outcomes, fallAsleep } = await waitForTasks(context, works, how);
		const waited = outcomes.values();
		return {
			outcomes: results.map((one) => (!one || hasFailed(one) ? one : waited.next().value)),
			fallAsleep,
		};
	},
});

/** Why a retry stays awake. The service sends callbacks to the execution that created the tasks. */
const CALLED_BACK_ELSEWHERE = {
	reason: 'because tasks of this run were created by an earlier execution',
};
