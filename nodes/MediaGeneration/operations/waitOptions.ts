import type { INodeProperties } from 'n8n-workflow';
import { readNumberOption, readOption, type Field } from '../models/field';
import type { JsonSchema } from '../models/schema';
import type { Item } from '../run/input/item';
import type { HowToWait, WaitSettings } from '../run/ledger/ledger';
import {
	binaryPropertyName,
	maxSizeOption,
	outputItems,
	readMaxBytes,
	readPerFile,
} from './sharedFields';

/**
 * What Options say of a wait, for every operation that waits for tasks. Each is checked where it
 * is read: `checkOptions` leaves out what isn't always shown. What depends on Download Results is
 * hidden by it. With `show`, n8n would drop the value wherever nobody added the switch.
 */

const MINUTE = 60_000;

/** A longest wait: above 0, up to a year. n8n would change what is outside of `minValue` silently. */
const minutes: JsonSchema = { type: 'number', minimum: 0.01, maximum: 525_600 };

const byPeople = { hide: { '@tool': [true] } };
const whenDownloading = { hide: { ...byPeople.hide, downloadResults: [false] } };

export const howToWaitOption: Field = {
	displayName: 'How to Wait',
	name: 'howToWait',
	type: 'options',
	displayOptions: byPeople,
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
		"How the node finds out that tasks have ended. Callbacks are verified with the credential's 'Webhook HMAC Key'; without a key, the node trusts the secret in the resume URL and the task details.",
	send: { schema: { enum: ['automatic', 'callback', 'polling'] } },
};

const waitLimit: Field = {
	displayName: 'Limit Wait Time (Minutes)',
	name: 'waitLimit',
	type: 'number',
	displayOptions: byPeople,
	default: 30,
	description:
		'How long to wait at most, for all items together, also while the service takes no more tasks at once. A task that is still running then gets the status timedOut. It continues at the service: wait for it again with Wait.',
	send: { schema: minutes },
};

const failedTasks: Field = {
	displayName: 'Failed Tasks',
	name: 'failedTasks',
	type: 'options',
	noDataExpression: true,
	displayOptions: byPeople,
	options: [
		{
			name: 'Error',
			value: 'error',
			description:
				"A failed task is an error, and 'On Error' in Settings applies. So is a task that is still running at the limit.",
		},
		{
			name: 'Output',
			value: 'output',
			description: 'A failed task is output like any other, and its status says what happened',
		},
	],
	default: 'error',
	description: 'Whether a failed task is an error, as with other nodes, or an item',
	send: { schema: { enum: ['error', 'output'] } },
};

const downloadResults: Field = {
	displayName: 'Download Results',
	name: 'downloadResults',
	type: 'boolean',
	displayOptions: byPeople,
	default: true,
	description:
		"Whether to download the files of completed tasks into binary fields of their items. If a download fails, the item has the file's link, and the reason in downloadError.",
};

const outputBinaryField: INodeProperties = {
	...binaryPropertyName,
	name: 'outputBinaryField',
	required: false,
	displayOptions: whenDownloading,
	description: 'Further files of the same task go into fields named after it, such as data_1',
};

const agentWait: Field = {
	displayName: 'Agent Wait (Minutes)',
	name: 'agentWait',
	type: 'number',
	default: 10,
	description:
		'How many minutes an AI agent waits for the result of this tool. An MCP client is answered within 45 seconds.',
	send: { schema: minutes },
};

/**
 * The limit is offered to tools only. Elsewhere it is hidden, not absent: n8n's Agents may run the
 * node itself as a tool, and n8n drops values of options that a node doesn't have.
 */
const agentWaits: Field[] = [
	{ ...agentWait, displayOptions: { show: { '@tool': [true] } } },
	{ ...agentWait, type: 'hidden', displayOptions: { hide: { '@tool': [true] } } },
];

export const waitOptions: Field[] = [
	...agentWaits,
	waitLimit,
	failedTasks,
	downloadResults,
	outputItems,
	outputBinaryField,
	{ ...maxSizeOption, displayOptions: whenDownloading },
];

/** Reads how a run waits. @throws {UserError} when it is none of the choices */
export const readHowToWait = ({ option }: Item): HowToWait =>
	(readOption(option, howToWaitOption) ?? howToWaitOption.default) as HowToWait;

/**
 * Reads a run's settings with the expressions of this item. A tool waits as long as Agent Wait
 * says, and its agent's model gets links only. A failed task is no error for a model: it reads the
 * status, and that nothing is to be created again.
 * @throws {UserError} when an option can't be used
 */
export function readWaitSettings({ call, option, settings }: Item): WaitSettings {
	const { isTool, audience } = call;
	const limit = readNumberOption(option, isTool ? agentWait : waitLimit);
	const downloads = !isTool && readOption(option, downloadResults) !== false;
	const failed = audience === 'workflow' ? readOption(option, failedTasks) : 'output';
	const field = String(option(outputBinaryField.name) ?? '').trim() || 'data';
	return {
		...settings,
		limit: limit * MINUTE,
		perFile: readPerFile(option),
		failedTasks: (failed ?? failedTasks.default) as WaitSettings['failedTasks'],
		...(downloads && { downloads: { field, maxBytes: readMaxBytes(option) } }),
	};
}
