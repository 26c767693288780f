import type { INodeProperties } from 'n8n-workflow';
import { parseValue, readNumberOption, type Field } from '../models/field';
import { type Item } from '../run/input/item';

/** Fields that several operations on a task have, and how they are read. */

export const taskIdField: Field = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	default: '={{ $json.taskId }}',
	required: true,
	placeholder: 'e.g. 5f2c…',
	description: "ID of the task. By default, that of the previous node's task.",
};

export const readTaskId = ({ read }: Item): string =>
	(parseValue(taskIdField, read(taskIdField.name)) as string).trim();

export const binaryPropertyName: Field = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'The name of the output binary field to put the file in',
};

export const maxSizeOption: INodeProperties = {
	displayName: 'Maximum File Size (MB)',
	name: 'maxSizeMegabytes',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1_000_000 },
	default: 2048,
	description: 'How many megabytes a file may have; 0 sets no limit',
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
				'An item for each file: the task, with this file in the field file. A task without files is one item.',
		},
		{
			name: 'One per Task',
			value: 'perTask',
			description: 'An item for each task, with all its files',
		},
	],
	default: 'perTask',
	description: 'Whether a task with several files is output as one item or as several',
};

export const readPerFile = (option: Item['option']): boolean =>
	option(outputItems.name) === 'perFile';
