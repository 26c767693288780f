import type { INodeProperties } from 'n8n-workflow';
import { parseValue, readNumberOption, readOption, type Field } from '../models/field';
import type { JsonSchema } from '../models/schema';
import type { Item } from '../run/input/item';
import type { WaitSettings } from '../run/ledger/ledger';

/* Fields that several operations have, and how they are read. */

/** Reads a field for text. @returns '' if it is blank and may be. @throws {UserError} for other values */
export const readTextField = ({ read }: Item, field: Field): string =>
	(parseValue(field, read(field.name)) ?? '') as string;

export const taskIdField: Field = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	default: '={{ $json.taskId }}',
	required: true,
	placeholder: 'e.g. 5f2c…',
	description: "By default, that of the previous node's task",
};

export const readTaskId = (item: Item): string => readTextField(item, taskIdField).trim();

export const outputFileField: Field = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
};

export const maxSizeOption: INodeProperties = {
	displayName: 'Maximum File Size (MB)',
	name: 'maxSizeMegabytes',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1_000_000 },
	default: 2048,
	description: '0 sets no limit',
};

/** Reads the limit of a file's size, in bytes. */
export const readMaxBytes = (option: Item['option']): number =>
	readNumberOption(option, maxSizeOption) * 1024 * 1024 || Infinity;

/** In Options: an item for each task, or for each of its files. */
export const outputItems: INodeProperties = {
	displayName: 'Output Items',
	name: 'outputItems',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'One per File',
			value: 'perFile',
			description:
				'The task with one file, which is also in the field file. A task without files is one item.',
		},
		{ name: 'One per Task', value: 'perTask', description: 'The task with all its files' },
	],
	default: 'perTask',
};

export const readPerFile = (option: Item['option']): boolean =>
	option(outputItems.name) === 'perFile';

/*
 * What Options say of a wait, for every operation that waits for tasks. Each option is checked where it
 * is read, because `checkOptions` skips options that aren't always shown. Options that depend on Download
 * Results use `hide` with `false`, and not `show` with `true`. With `show`, n8n would drop their values
 * where nobody added Download Results.
 */

/** How long a wait may be: above 0, up to a year. With `minValue`, n8n would silently raise a lower number. */
const minutes: JsonSchema = { type: 'number', minimum: 0.01, maximum: 525_600 };

const asTool = { '@tool': [true] };
export const notInTools = { hide: asTool };
const whenDownloading = { hide: { ...asTool, downloadResults: [false] } };

const waitLimit: Field = {
	displayName: 'Limit Wait Time (Minutes)',
	name: 'waitLimit',
	type: 'number',
	displayOptions: notInTools,
	default: 30,
	description:
		'For all items together. A task that still runs then gets the status timedOut, and continues at the service: use Wait.',
	send: { schema: minutes },
};

const failedTasks: Field = {
	displayName: 'Failed Tasks',
	name: 'failedTasks',
	type: 'options',
	noDataExpression: true,
	displayOptions: notInTools,
	options: [
		{
			name: 'Error',
			value: 'error',
			description:
				"'On Error' in Settings applies, also to a task that is still running at the limit",
		},
		{ name: 'Output', value: 'output', description: 'An item, whose status says what happened' },
	],
	default: 'error',
	send: { schema: { enum: ['error', 'output'] } },
};

const downloadResults: Field = {
	displayName: 'Download Results',
	name: 'downloadResults',
	type: 'boolean',
	displayOptions: notInTools,
	default: true,
	description:
		'Whether to download the files of completed tasks. If that fails, the item has the link, and the reason in downloadError.',
};

const outputBinaryField: INodeProperties = {
	...outputFileField,
	name: 'outputBinaryField',
	required: false,
	displayOptions: whenDownloading,
	description: 'Further files of the task are numbered, as in data_1',
};

const agentWait: Field = {
	displayName: 'Agent Wait (Minutes)',
	name: 'agentWait',
	type: 'number',
	default: 10,
	description:
		'How long an AI agent waits for the result. An MCP client is answered within 45 seconds.',
	send: { schema: minutes },
};

export const waitOptions: Field[] = [
	{ ...agentWait, displayOptions: { show: asTool } },
	// Hidden elsewhere, not absent: n8n's Agents may run the node itself as a tool, and n8n drops
	// values of options that a node doesn't have.
	{ ...agentWait, type: 'hidden', displayOptions: notInTools },
	waitLimit,
	failedTasks,
	downloadResults,
	outputItems,
	outputBinaryField,
	{ ...maxSizeOption, displayOptions: whenDownloading },
];

/**
 * Reads a run's settings with the expressions of this item. A tool waits as long as Agent Wait says, and
 * downloads nothing: its agent gets links only.
 * @throws {UserError} when an option can't be used
 */
export function readWaitSettings({ call, option, settings }: Item): WaitSettings {
	const { isTool } = call;
	const limit = readNumberOption(option, isTool ? agentWait : waitLimit);
	const isDownloading = !isTool && readOption(option, downloadResults) !== false;
	const failedTasksOption = readOption(option, failedTasks) ?? failedTasks.default;
	const field = String(option(outputBinaryField.name) ?? '').trim() || 'data';
	return {
		...settings,
		waitLimit: limit * 60_000,
		perFile: readPerFile(option),
		failedTasks: failedTasksOption as WaitSettings['failedTasks'],
		...(isDownloading && { downloads: { field, maxBytes: readMaxBytes(option) } }),
	};
}
