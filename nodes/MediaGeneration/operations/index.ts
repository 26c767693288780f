import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type INodeProperties,
} from 'n8n-workflow';
import { FieldError, propertyOf } from '../models/field';
import { ServiceError, TaskService } from '../service/client';
import { EndpointError } from '../service/endpoints';
import { getCredits } from './account/getCredits';
import { itemOf, type Operation } from './operation';
import { create } from './task/create';
import { get } from './task/get';

const resources = [
	{ name: 'Account', value: 'account' },
	{ name: 'Task', value: 'task' },
];

const operations: Operation[] = [getCredits, create, get];

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
 * Runs the chosen operation for every item of the input: first all items are checked, then each is run. Output items
 * are paired with their input item; an item that does not succeed follows the node's On Error setting.
 */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const operation = chosenOperation(context);
	const service = await TaskService.connect(context);
	const items = context.getInputData().map((_, index) => itemOf(context, service, index));
	const output: INodeExecutionData[] = [];
	const fail = (error: unknown, item: number): INodeExecutionData => {
		const nodeError = nodeErrorOf(
			context.getNode(),
			error,
			item,
			createdTaskIds(operation, output),
		);
		if (!context.continueOnFail()) throw nodeError;
		return { json: { error: nodeError.message }, error: nodeError, pairedItem: { item } };
	};
	const checked = items.map((item) => {
		try {
			return { value: operation.check(item) };
		} catch (error) {
			return { refused: fail(error, item.index) };
		}
	});
	for (const [index, item] of items.entries()) {
		const { value, refused } = checked[index] ?? {};
		try {
			output.push(
				refused ?? {
					json: (await operation.run(item, value)) as IDataObject,
					pairedItem: { item: index },
				},
			);
		} catch (error) {
			output.push(fail(error, index));
		}
	}
	return [output];
}

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

/** Tasks that were created before an item stopped the run: they are paid for, and the output does not reach the user. */
function createdTaskIds({ value }: Operation, output: INodeExecutionData[]): string[] {
	return value === create.value ? output.flatMap(({ json }) => (json.taskId as string) ?? []) : [];
}

/** What went wrong with an item, in n8n's own classes. */
function nodeErrorOf(
	node: INode,
	error: unknown,
	itemIndex: number,
	createdTaskIds: string[],
): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	const message = `${(error as Error).message} [item ${itemIndex}]`;
	const kept =
		createdTaskIds.length > 0
			? ` These tasks were created before and go on; look at them with Get: ${createdTaskIds.join(', ')}.`
			: '';
	if (error instanceof ServiceError) {
		const nodeError = new NodeApiError(
			node,
			{ message },
			{
				description: error.description + kept,
				httpCode: error.code === undefined ? undefined : String(error.code),
				itemIndex,
			},
		);
		// n8n puts a text of its own in place of many messages; some advise to retry, which may pay twice.
		nodeError.message = message;
		return nodeError;
	}
	const known = error instanceof FieldError || error instanceof EndpointError;
	return new NodeOperationError(node, known ? message : (error as Error), {
		message,
		description: (error instanceof FieldError ? error.description : '') + kept,
		itemIndex,
	});
}
