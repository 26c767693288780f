import {
	type IBinaryKeyData,
	type IDataObject,
	type IExecuteFunctions,
	type INodeProperties,
	UserError,
} from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import type { Credentials } from '../../api/credential';
import type { RequestSettings } from '../../api/exchange';
import type { Call } from '../../host/call';
import { CREDENTIAL } from '../../lib/brand';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { checkOptions, type OptionReader, readNumberOption } from '../../models/field';
import { timeoutOption } from './options';

/** One item of the node's input, as operations see it. */
export interface Item {
	index: number;
	call: Call;
	/** By the item's own credential (`readService`). */
	service: TaskService;
	/** Reads a parameter of the node; blank if it has no value. */
	read: (name: string) => unknown;
	/** Reads an option: undefined if nobody added the option, null if its expression gives nothing. */
	option: OptionReader;
	settings: RequestSettings;
}

/** A task to create. */
export interface CreationRequest {
	model: string;
	/** Each InputFile in the input is uploaded before the task is created. */
	input: Record<string, unknown>;
	/** The URL that the service calls when the task ends. */
	callBackUrl?: string;
	/** What may be a mistake, though the request is sent. */
	warning?: string;
	/** The service gave no description of the model. Not sent. */
	isUndescribed?: boolean;
	/** The user's input in one form, by which a retry recognizes the request. Not sent. */
	userInput: unknown;
}

export interface OutputItem {
	json: object;
	binary?: IBinaryKeyData;
}

export interface ErrorOutcome {
	error: unknown;
}

/** The outcome of an item; undefined: the item wasn't begun, because another item ended the run. */
export type Outcome = { items: OutputItem[] } | ErrorOutcome | undefined;

/** The number of items worked on at once. */
export const CONCURRENCY = 5;

/** Reads the service of an item: n8n resolves expressions in the credential for each item. */
export async function readService(context: IExecuteFunctions, index: number): Promise<TaskService> {
	const { TaskService } = await import('../../api/client');
	return new TaskService(context, await context.getCredentials<Credentials>(CREDENTIAL, index));
}

/**
 * Reads what an operation needs of an item.
 * @param fields of the operation
 * @throws {UserError} if n8n mixes up this call of an agent with another, or an option is blank, of
 *   another type, or out of its range
 */
export async function readItem(
	call: Call,
	fields: INodeProperties[],
	index: number,
	getService = async () => await readService(call.context, index),
): Promise<Item> {
	if (call.isMixedUp)
		throw new UserError(
			'Nothing was sent: the agent works on several items at once, and n8n would give this call the values of another one',
			{
				description:
					"Set 'Batch Size' to 1 in the Options of the AI Agent, below 'Batch Processing', or use a newer AI Agent node.",
			},
		);
	const { ParameterReader } = await import('./readParameter');
	const service = await getService();
	const parameters = new ParameterReader(call, fields, index);
	const read = (name: string): unknown => parameters.read(name);
	const options = read('options') as IDataObject | '';
	const option = (name: string) =>
		options && name in options ? (options[name] ?? null) : undefined;
	checkOptions(fields, option);
	const settings = { timeoutSeconds: readNumberOption(option, timeoutOption) };
	return { index, call, service, read, option, settings };
}

/**
 * Prepares all items, before anything is sent for any.
 * @returns for each item what `prepare` returns, or its error
 */
export async function prepareItems<Prepared>(
	call: Call,
	prepare: (index: number) => Promise<Prepared>,
): Promise<Array<Prepared | ErrorOutcome>> {
	const prepareOne = async (_: unknown, index: number): Promise<Prepared | ErrorOutcome> =>
		await prepare(index).catch((error: unknown) => ({ error }));
	// Most of the time goes into reading credentials.
	const preparing = mapConcurrent(call.context.getInputData(), prepareOne, { concurrency: 20 });
	return (await preparing) as Array<Prepared | ErrorOutcome>;
}
