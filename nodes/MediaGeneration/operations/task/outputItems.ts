import type { INodeProperties } from 'n8n-workflow';
import { buildFieldError, shorten } from '../../models/field';
import type { Item } from '../operation';

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
				'Each file of a task becomes an item with the task, and with the file in its field file. A task without files is one item.',
		},
		{
			name: 'One per Task',
			value: 'perTask',
			description: 'The item of a task has all its files',
		},
	],
	default: 'perTask',
	description: 'Whether a task with several files is output as one item or as several',
};

/** @throws {UserError} when the option has another value than its list */
export function readPerFile(option: Item['option']): boolean {
	const value = option(outputItems.name) ?? outputItems.default;
	if (value === 'perFile' || value === 'perTask') return value === 'perFile';
	throw buildFieldError(
		`'${outputItems.displayName}' in Options must be perTask or perFile, but is ${shorten(value)}`,
		'Nothing was sent for this item. Correct the option or remove it, then run the node again.',
	);
}
