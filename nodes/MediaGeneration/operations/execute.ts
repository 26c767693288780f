import {
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { operations } from './index';
import { TaskService } from '../service/client';
import type { Task } from '../service/task';
import { errorItemOf, nodeErrorOf } from './errors';
import {
	itemOf,
	REQUESTS_AT_ONCE,
	type Batch,
	type Entry,
	type Operation,
	type Outcome,
	type Ran,
} from './operation';
import { inParallel } from './parallel';
import { park } from './task/park';

/**
 * Runs the chosen operation: first all items are checked, then it does its work for those that passed. Output items are
 * paired with their input item; one that did not succeed follows the node's On Error setting.
 */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const operation = chosenOperation(context);
	const stopsOnError = !context.continueOnFail();
	const { entries, outcomes } = await checkAll(context, operation);
	if (stopsOnError) throwFirstError(context, outcomes);
	const service = await TaskService.connect(context);
	const ran = await runAll(operation, entries, { context, service, stopsOnError });
	for (const [order, { item }] of entries.entries()) outcomes[item.index] = ran.outcomes[order];
	if (stopsOnError)
		throwFirstError(context, outcomes, operation.creates ? createdIds(outcomes) : []);
	const output = outcomes.flatMap(outputOf);
	if (ran.parkUntil) await park(context, output, ran.parkUntil);
	return [output];
}

/** The items that passed their check; the outcome of those that did not stands in its place already. */
async function checkAll(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<{ entries: Array<Entry<unknown>>; outcomes: Outcome[] }> {
	const entries: Array<Entry<unknown>> = [];
	const items = context.getInputData().map((_, index) => itemOf(context, index));
	const outcomes = await inParallel(
		items,
		async (item): Promise<Outcome> => {
			try {
				entries.push({ item, checked: await operation.check(item) });
				return undefined;
			} catch (error) {
				return { error };
			}
		},
		{ atOnce: REQUESTS_AT_ONCE },
	);
	entries.sort((a, b) => a.item.index - b.item.index);
	return { entries, outcomes };
}

/** @throws what keeps the operation from being done at all, in n8n's own classes */
async function runAll(
	operation: Operation,
	entries: Array<Entry<unknown>>,
	batch: Batch,
): Promise<Ran> {
	try {
		return await operation.run(entries, batch);
	} catch (error) {
		throw nodeErrorOf(batch.context.getNode(), error);
	}
}

/** What the node gives out for an item, paired with it. */
function outputOf(outcome: Outcome, index: number): INodeExecutionData[] {
	if (!outcome || 'error' in outcome) return [errorItemOf(outcome?.error, index)];
	const given = 'items' in outcome ? outcome.items : [outcome];
	return given.map((item) => ({
		...item,
		json: item.json as IDataObject,
		pairedItem: { item: index },
	}));
}

/** @throws the error of the first item that has one, naming the tasks that exist all the same */
function throwFirstError(
	context: IExecuteFunctions,
	outcomes: Outcome[],
	createdTaskIds?: string[],
): void {
	for (const [index, outcome] of outcomes.entries())
		if (outcome && 'error' in outcome)
			throw nodeErrorOf(context.getNode(), outcome.error, index, createdTaskIds);
}

const createdIds = (outcomes: Outcome[]): string[] =>
	outcomes.flatMap((outcome) =>
		outcome && 'json' in outcome ? [(outcome.json as Task).taskId] : [],
	);

function chosenOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = operations.find((one) => one.resource === resource && one.value === value);
	if (!operation)
		throw new NodeOperationError(
			context.getNode(),
			`Operation "${String(value)}" is not one of resource "${String(resource)}"`,
			{ description: 'Open the node and choose Resource and Operation from their lists.' },
		);
	return operation;
}
