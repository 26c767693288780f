import { updateDisplayOptions, type INodeProperties } from 'n8n-workflow';
import { models } from '../models';
import { anyModel } from '../models/any/fields';
import { toNodeProperty, type Field } from '../models/field';
import { operations } from '../operations';

/** `first` is the operation of a new node. n8n's node list shows actions in the order of resources here. */
const resources = [
	{ name: 'Video or Image', value: 'task', first: 'generate' },
	{ name: 'Model', value: 'model', first: 'getMany' },
	{ name: 'File', value: 'file', first: 'upload' },
	{ name: 'Account', value: 'account', first: 'getCredits' },
];

/** The dropdown of a resource's operations. */
function toOperationProperty(resource: string, first: string): INodeProperties {
	const ofResource = operations.filter((operation) => operation.resource === resource);
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
		options: ofResource.map(({ name, value, action, description }) => {
			return { name, value, action, description };
		}),
		default: first,
	};
}

/** Shows a field for the operations that have it. */
function toSharedProperty(field: Field): INodeProperties[] {
	const users = operations.filter(({ fields }) => fields.includes(field));
	const show = {
		resource: [...new Set(users.map(({ resource }) => resource))],
		operation: users.map(({ value }) => value),
	};
	return updateDisplayOptions({ show }, [toNodeProperty(field)]);
}

/** The editor's properties of all operations. A field that several share appears once. */
export const operationProperties: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: resources.map(({ name, value }) => ({ name, value })),
		default: 'task',
	},
	...resources.map(({ value, first }) => toOperationProperty(value, first)),
	...[...new Set(operations.flatMap(({ fields }) => fields))].flatMap(toSharedProperty),
];

/** In an expression, n8n gives the value of a locator or the whole locator, so `subtitle` takes both. */
const locator = `$parameter.${anyModel.name}`;
const names = JSON.stringify(
	Object.fromEntries(
		[...models, ...operations].map((one) => ['id' in one ? one.id : one.value, one.name]),
	),
);

/** The text below the node's name on the canvas: the model, or the operation if there is none. */
export const subtitle = `={{ $parameter.model === "any" && (${locator}?.value ?? ${locator}) || ((names) => names[$parameter.model] ?? names[$parameter.operation])(${names}) }}`;
