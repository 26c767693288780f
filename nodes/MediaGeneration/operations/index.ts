import {
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
} from 'n8n-workflow';
import { models } from '../models';
import { propertyOf } from '../models/field';
import { TaskService } from '../service/client';
import type { Task } from '../service/task';
import { getCredits } from './account/getCredits';
import { errorItemOf, nodeErrorOf } from './errors';
import { upload } from './file/upload';
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
import { create } from './task/create';
import { createAndWait } from './task/createAndWait';
import { download } from './task/download';
import { get } from './task/get';
import { park } from './task/park';
import { verifyCallback } from './task/verifyCallback';

const resources = [
	{ name: 'Account', value: 'account' },
	{ name: 'File', value: 'file' },
	{ name: 'Task', value: 'task' },
];

const operations: Operation[] = [
	getCredits,
	upload,
	create,
	createAndWait,
	download,
	get,
	verifyCallback,
];

/** What the editor shows of all operations; a field that several operations share stands there once. */
export const operationProperties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources,
		default: 'task',
	},
	...resources.map(({ value: resource }): INodeProperties => {
		const own = operations.filter((operation) => operation.resource === resource);
		const [{ value: first } = { value: '' }] = own;
		return {
			displayName: 'Operation',
			name: 'operation',
			type: 'options',
			noDataExpression: true,
			displayOptions: { show: { resource: [resource] } },
			options: own.map(({ name, value, action, description }) => ({
				name,
				value,
				action,
				description,
			})),
			default: first,
		};
	}),
	...[...new Set(operations.flatMap(({ fields }) => fields))].map((field): INodeProperties => {
		const users = operations.filter(({ fields }) => fields.includes(field));
		return {
			...propertyOf(field),
			displayOptions: {
				...field.displayOptions,
				show: {
					resource: [...new Set(users.map(({ resource }) => resource))],
					operation: users.map(({ value }) => value),
					...field.displayOptions?.show,
				},
			},
		};
	}),
];

/** What the canvas shows below the node's name, which tells the operation: the model, or the operation where there is none. */
export const subtitle = `={{ ${namesOf(
	models.map(({ id, name }) => ({ value: id, name })),
)}[$parameter.model] ?? ${namesOf(operations)}[$parameter.operation] }}`;

/** Names by their values, as an expression has them. */
function namesOf(entries: Array<{ value: string; name: string }>): string {
	return `(${JSON.stringify(Object.fromEntries(entries.map(({ value, name }) => [value, name])))})`;
}

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
