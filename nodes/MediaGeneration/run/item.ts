import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { TaskService } from '../api/client';
import type { Credentials } from '../api/endpoints';
import { CREDENTIAL } from '../lib/brand';
import { mapConcurrent } from '../lib/mapConcurrent';
import { checkOptions, readNumberOption } from '../models/field';
import { refuseMixedCall, stopsOnError, toErrorItem, toNodeError } from './errors';
import { readParameter } from './jsonExpressions';
import {
	hasFailed,
	timeoutOption,
	type Failed,
	type Item,
	type Operation,
	type Outcome,
} from '../operations/operation';
import { fitItems } from './toModel';

/** The tasks of a run, which an error names. */
interface KnownTasks {
	listTaskIds: () => string[];
	findTaskId: (item: number) => string | undefined;
}

const NO_TASKS: KnownTasks = { listTaskIds: () => [], findTaskId: () => undefined };

/** n8n resolves expressions in the credential for each item. */
export const readService = async (
	context: IExecuteFunctions,
	index: number,
): Promise<TaskService> =>
	new TaskService(context, await context.getCredentials<Credentials>(CREDENTIAL, index));

/**
 * Reads what an operation needs of an item.
 * @throws {UserError} for a call of an agent that n8n mixes up, or when an option is blank, of
 *   another type, or out of its range
 */
export async function readItem(
	context: IExecuteFunctions,
	{ fields }: Operation,
	index: number,
): Promise<Item> {
	refuseMixedCall(context);
	const service = await readService(context, index);
	const read = (name: string): unknown => readParameter(context, fields, index, name);
	const options = read('options') as IDataObject | '';
	const option = (name: string) =>
		options && name in options ? (options[name] ?? null) : undefined;
	checkOptions(fields, option);
	const settings = { timeoutSeconds: readNumberOption(option, timeoutOption) };
	return { index, context, service, read, option, settings };
}

/** Items checked in parallel. Most of the time goes into reading credentials. */
const CHECKS = 20;

/** Checks all items, before anything is sent for any. @returns for each what `check` does, or why it fails */
export async function checkItems<Checked>(
	context: IExecuteFunctions,
	check: (index: number) => Promise<Checked | Failed>,
): Promise<Array<Checked | Failed>> {
	const checkOne = async (_: unknown, index: number): Promise<Checked | Failed> =>
		await check(index).catch((error: unknown) => ({ error }));
	const items = context.getInputData();
	const checked = await mapConcurrent(items, checkOne, { concurrency: CHECKS });
	return checked as Array<Checked | Failed>;
}

/** @throws with On Error "stop", the error of the first item that has one */
export function throwFirstError(
	context: IExecuteFunctions,
	outcomes: Array<object | undefined>,
	tasks = NO_TASKS,
): void {
	const index = stopsOnError(context) ? outcomes.findIndex(hasFailed) : -1;
	if (index < 0) return;
	throw toNodeError(context, (outcomes[index] as Failed).error, index, tasks.listTaskIds());
}

/**
 * Makes an error of the run as a whole that of each item.
 * @throws it, with On Error "stop"
 */
export function failAll(
	context: IExecuteFunctions,
	checked: Array<object | undefined>,
	error: unknown,
	tasks = NO_TASKS,
): Outcome[] {
	if (stopsOnError(context)) throw toNodeError(context, error, undefined, tasks.listTaskIds());
	return checked.map((one) => (hasFailed(one) ? one : { error }));
}

/** Makes the node's output: each item's, paired with it. */
export function toOutput(
	context: IExecuteFunctions,
	outcomes: Outcome[],
	tasks = NO_TASKS,
): INodeExecutionData[] {
	return outcomes.flatMap((outcome, item) => {
		if (!outcome) return [];
		if (hasFailed(outcome))
			return [toErrorItem(context, outcome.error, item, tasks.findTaskId(item))];
		const items = fitItems(context, outcome.items) as INodeExecutionData[];
		return context.helpers.constructExecutionMetaData(items, { itemData: { item } });
	});
}
