import {
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
} from 'n8n-workflow';
import { propertyOf } from '../models/field';
import { TaskService } from '../service/client';
import type { Task } from '../service/task';
import { getCredits } from './account/getCredits';
import { errorItemOf, nodeErrorOf } from './errors';
import { itemOf, type Entry, type Operation, type Outcome } from './operation';
import { create } from './task/create';
import { createAndWait } from './task/createAndWait';
import { get } from './task/get';
import { park } from './task/park';

const resources = [
	{ name: 'Account', value: 'account' },
	{ name: 'Task', value: 'task' },
];

const operations: Operation[] = [getCredits, create, createAndWait, get];

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

/**
 * Runs the chosen operation: first all items are checked, then it does its work for those that passed. Output items are
 * paired with their input item; one that did not succeed follows the node's On Error setting.
 */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const operation = chosenOperation(context);
	const stopsOnError = !context.continueOnFail();
	const outcomes: Outcome[] = [];
	const entries: Array<Entry<unknown>> = [];
	for (const index of context.getInputData().keys()) {
		const item = itemOf(context, index);
		try {
			entries.push({ item, checked: operation.check(item) });
		} catch (error) {
			if (stopsOnError) throw nodeErrorOf(context.getNode(), error, index, []);
			outcomes[index] = { error };
		}
	}
	const service = await TaskService.connect(context);
	const ran = await operation.run(entries, { context, service, stopsOnError });
	for (const [order, { item }] of entries.entries()) outcomes[item.index] = ran.outcomes[order];
	if (stopsOnError)
		throwFirstError(context, outcomes, operation.creates ? createdIds(outcomes) : []);
	const output = outcomes.map((outcome, index): INodeExecutionData => {
		if (outcome && 'json' in outcome)
			return { json: outcome.json as IDataObject, pairedItem: { item: index } };
		return errorItemOf(outcome?.error, index);
	});
	if (ran.parkUntil) await park(context, output, ran.parkUntil);
	return [output];
}

/** @throws the error of the first item that has one, naming the tasks that exist all the same */
function throwFirstError(
	context: IExecuteFunctions,
	outcomes: Outcome[],
	createdTaskIds: string[],
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
