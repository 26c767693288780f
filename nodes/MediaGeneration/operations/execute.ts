import {
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { TaskService } from '../api/client';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import { operations } from './index';
import { toErrorItem, toNodeError } from './errors';
import { mapConcurrent } from '../lib/mapConcurrent';
import { noteCall, stopsOnError } from './nodeContext';
import {
	hasFailed,
	readNumberOption,
	timeoutOption,
	type Item,
	type Operation,
	type Outcome,
	type Prepared,
	type RunResult,
} from './operation';
import { park, parkAgain } from './wait/park';

/**
 * Runs the chosen operation: first all items are checked, then it works on those that passed. Output items are paired with
 * their input item; one that did not succeed follows the node's On Error setting.
 */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	noteCall(context);
	const parked = await parkAgain(context);
	if (parked) return [parked];
	const operation = findOperation(context);
	const { prepared, outcomes } = await prepareAll(context, operation);
	throwFirstError(context, outcomes);
	const result = await runAll(context, operation, prepared);
	for (const [order, { item }] of prepared.entries()) outcomes[item.index] = result.outcomes[order];
	throwFirstError(context, outcomes);
	const output = outcomes.flatMap((outcome, index) => toOutput(context, outcome, index));
	if (result.park) await park(context, output, result.park);
	return [output];
}

/** So many items are checked at once. Most of it is n8n's database, which has the credential of each. */
const CHECKS = 20;

/** Checks all items. The outcome of those that failed stands in its place already. */
async function prepareAll(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<{ prepared: Array<Prepared<unknown>>; outcomes: Outcome[] }> {
	const prepared: Array<Prepared<unknown>> = [];
	const outcomes = await mapConcurrent(
		context.getInputData(),
		async (_, index): Promise<Outcome> => {
			try {
				const item = await readItem(context, index);
				prepared.push({ item, request: await operation.prepare(item) });
				return undefined;
			} catch (error) {
				return { error };
			}
		},
		{ concurrency: CHECKS },
	);
	prepared.sort((a, b) => a.item.index - b.item.index);
	return { prepared, outcomes };
}

/** Reads what an operation needs of an item, its credential included. */
async function readItem(context: IExecuteFunctions, index: number): Promise<Item> {
	const credentials = await context.getCredentials<Credentials>(CREDENTIAL, index);
	const read = (name: string): unknown => context.getNodeParameter(name, index, '');
	const options = read('options') as IDataObject | undefined;
	const option = (name: string) => options?.[name];
	return {
		index,
		context,
		service: new TaskService(context, credentials),
		read,
		option,
		settings: { timeoutSeconds: readNumberOption(option, timeoutOption) },
	};
}

/** Does the operation. An error that keeps it from being done at all is that of every item. */
async function runAll(
	context: IExecuteFunctions,
	operation: Operation,
	prepared: Array<Prepared<unknown>>,
): Promise<RunResult> {
	try {
		return await operation.run(prepared, context);
	} catch (error) {
		if (stopsOnError(context)) throw toNodeError(context, error);
		return { outcomes: prepared.map(() => ({ error })) };
	}
}

/** Pairs what the node outputs for an item with it. */
function toOutput(
	context: IExecuteFunctions,
	outcome: Outcome,
	index: number,
): INodeExecutionData[] {
	if (!outcome) return [];
	if (hasFailed(outcome)) return [toErrorItem(context, outcome.error, index)];
	return context.helpers.constructExecutionMetaData(outcome.items as INodeExecutionData[], {
		itemData: { item: index },
	});
}

/** @throws with On Error "stop", the error of the first item that has one */
function throwFirstError(context: IExecuteFunctions, outcomes: Outcome[]): void {
	if (!stopsOnError(context)) return;
	for (const [index, outcome] of outcomes.entries())
		if (hasFailed(outcome))
			throw toNodeError(context, outcome.error, index, outcome.createdTaskIds);
}

function findOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = operations.find((one) => one.resource === resource && one.value === value);
	if (!operation)
		throw new NodeOperationError(
			context.getNode(),
			`Operation "${String(value)}" is not one of resource "${String(resource)}"`,
			{ description: "Open the node and choose 'Resource' and 'Operation' from their lists." },
		);
	return operation;
}
