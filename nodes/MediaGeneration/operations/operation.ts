import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { RequestSettings, TaskService } from '../service/client';
import { inParallel } from './parallel';

/** One item of the node's input, as operations see it. */
export interface Item {
	index: number;
	context: IExecuteFunctions;
	/** A parameter of the node for this item, by its name; blank where it has no value. */
	read: (name: string) => unknown;
	/** An entry of Options for this item; undefined where the user did not add it. */
	option: (name: string) => unknown;
	settings: RequestSettings;
}

/** What all items of one run of the node have in common. */
export interface Batch {
	context: IExecuteFunctions;
	service: TaskService;
	/** Whether the first item that does not succeed ends the run, so that nothing more should be started. */
	stopsOnError: boolean;
}

/** An item that passed its check, and what the check gave. */
export interface Entry<Checked> {
	item: Item;
	checked: Checked;
}

/** What an item gave: a JSON object, or items that carry files as well. */
export type Success = { json: object } | { items: Array<{ json: object; binary: IBinaryKeyData }> };

/** What became of an item; undefined: it was not begun, because another one ended the run. */
export type Outcome = Success | { error: unknown } | undefined;

export interface Ran {
	/** One for each entry, in their order. */
	outcomes: Outcome[];
	/** Until when n8n is to park the execution, for a webhook to take it up; absent: it goes on at once. */
	parkUntil?: Date;
}

/** An operation of the action node: its fields, and what it does. */
export interface Operation<Checked = unknown> {
	resource: string;
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
	/** Whether it creates tasks, which are paid for whatever becomes of the run. */
	creates?: boolean;
	/**
	 * What will be sent for an item. Every item is checked before anything is sent for the first.
	 * @throws {FieldError} when a field can't be sent
	 */
	check: (item: Item) => Checked | Promise<Checked>;
	/** Does it for all items that passed their check. */
	run: (entries: Array<Entry<Checked>>, batch: Batch) => Promise<Ran>;
}

/** What keeps an operation from being done; the message says what, the description what to do next. */
export class OperationError extends Error {
	constructor(
		message: string,
		readonly description: string,
	) {
		super(message);
		this.name = 'OperationError';
	}
}

/** Names an operation's type once, and then forgets it, so that operations fit in one list. */
export const defineOperation = <Checked>(operation: Operation<Checked>): Operation =>
	operation as unknown as Operation;

/** How many requests are under way at the same time where an operation sends one for each item. */
export const REQUESTS_AT_ONCE = 5;

/** An operation's run that does the same for each item, whatever becomes of the others. */
export const eachItem =
	<Checked>(
		run: (entry: Entry<Checked>, service: TaskService) => Promise<Success>,
	): Operation<Checked>['run'] =>
	async (entries, { service, stopsOnError }) => ({
		outcomes: await inParallel(
			entries,
			async (entry): Promise<Outcome> => {
				try {
					return await run(entry, service);
				} catch (error) {
					return { error };
				}
			},
			{
				atOnce: REQUESTS_AT_ONCE,
				goesOn: (outcome) => !stopsOnError || !outcome || !('error' in outcome),
			},
		),
	});

/** The time-out in Options, of every operation that speaks to the service. */
export const timeoutOption: INodeProperties = {
	displayName: 'Timeout (Seconds)',
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
export function itemOf(context: IExecuteFunctions, index: number): Item {
	const read = (name: string): unknown => context.getNodeParameter(name, index, '');
	const options = read('options') as IDataObject | undefined;
	const option = (name: string) => options?.[name];
	const timeoutSeconds = numberOption(option, timeoutOption);
	return { index, context, read, option, settings: { timeoutSeconds } };
}

/** A number in Options; the default where the user did not add it or left it blank. */
export function numberOption(option: Item['option'], { name, default: usual }: INodeProperties) {
	const value = Number.parseFloat(String(option(name)));
	return Number.isFinite(value) ? value : (usual as number);
}
