import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { TaskService } from '../api/client';
import type { Credentials } from '../api/endpoints';
import { CREDENTIAL } from '../lib/brand';
import { checkOptions, readNumberOption } from '../models/field';
import { refuseMixedCall } from './errors';
import { timeoutOption, type Item, type Operation } from './operation';

/**
 * Reads what an operation needs of an item.
 * @param isNew false for an item that has a task: its input may have changed, so no expressions but
 *   those of the credential are read
 * @throws {UserError} for a call of an agent that n8n mixes up, or when an option is blank, of
 *   another type, or out of its range
 */
export async function readItem(
	context: IExecuteFunctions,
	operation: Operation,
	{ index, isNew }: { index: number; isNew: boolean },
): Promise<Item> {
	refuseMixedCall(context);
	const credentials = await context.getCredentials<Credentials>(CREDENTIAL, index);
	const read = (name: string): unknown => (isNew ? context.getNodeParameter(name, index, '') : '');
	const options = read('options') as IDataObject | '';
	const option = (name: string) =>
		options && name in options ? (options[name] ?? null) : undefined;
	checkOptions(operation.fields, option);
	const settings = { timeoutSeconds: readNumberOption(option, timeoutOption) };
	return { index, context, service: new TaskService(context, credentials), read, option, settings };
}
