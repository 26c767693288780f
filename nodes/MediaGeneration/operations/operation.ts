import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { RequestSettings, TaskService } from '../service/client';

/** What an operation is given to work on one item. */
export interface Item {
	index: number;
	service: TaskService;
	/** A parameter of the node for this item, by its name. */
	read: (name: string) => unknown;
	/** An entry of Options for this item; undefined where the user did not add it. */
	option: (name: string) => unknown;
	settings: RequestSettings;
}

/** An operation of the action node: its fields, and what it does for each item. */
export interface Operation<Checked = unknown> {
	resource: string;
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
	/**
	 * What will be sent for an item. Every item is checked before anything is sent for the first.
	 * @throws {FieldError} when a field can't be sent
	 */
	check: (item: Item) => Checked;
	/** Does it, and gives the output item's JSON. @throws {ServiceError} */
	run: (item: Item, checked: Checked) => Promise<object>;
}

/** Names an operation's type once, and then forgets it, so that operations fit in one list. */
export const defineOperation = <Checked>(operation: Operation<Checked>): Operation =>
	operation as unknown as Operation;

/** The time-out in Options, of every operation that speaks to the service. */
export const timeoutOption: INodeProperties = {
	displayName: 'Timeout',
	name: 'timeoutSeconds',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 60,
	description: 'How many seconds the service may take to answer a request',
};

/** A node's Options, with these entries. */
export const optionsField = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options,
});

/** The item that an operation works on. */
export function itemOf(context: IExecuteFunctions, service: TaskService, index: number): Item {
	const read = (name: string): unknown => context.getNodeParameter(name, index, '');
	const option = (name: string) => (read('options') as IDataObject | undefined)?.[name];
	const timeoutSeconds = Number(option(timeoutOption.name)) || (timeoutOption.default as number);
	return { index, service, read, option, settings: { timeoutSeconds } };
}
