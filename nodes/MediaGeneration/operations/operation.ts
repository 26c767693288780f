import type { IBinaryKeyData, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { RequestSettings, TaskService } from '../api/client';
import { mapConcurrent } from '../lib/mapConcurrent';
import { stopsOnError } from './nodeContext';

/** One item of the node's input, as operations see it. */
export interface Item {
	index: number;
	context: IExecuteFunctions;
	/** The service, by the item's own credential: n8n resolves expressions in a credential for each item. */
	service: TaskService;
	/** Reads a parameter of the node by its name; blank where it has no value. */
	read: (name: string) => unknown;
	/** Reads an entry of Options; undefined where the user did not add it. */
	option: (name: string) => unknown;
	settings: RequestSettings;
}

/** An item that passed its check, and the request that came of it. */
export interface Prepared<Request> {
	item: Item;
	request: Request;
}

export interface OutputItem {
	json: object;
	binary?: IBinaryKeyData;
}

export interface Failed {
	error: unknown;
	/** IDs of tasks that exist, though this error ends the run. */
	createdTaskIds?: string[];
}

/** The outcome of an item; undefined: it was not begun, because another one ended the run. */
export type Outcome = { items: OutputItem[] } | Failed | undefined;

/** A request to n8n to park the execution. */
export interface Parking {
	/** The wait limit, in milliseconds since 1970. */
	until: number;
	/** Where this process looks whether the wait is over, and how it signs that. */
	look: { url: string; taskId: string; secret?: string };
}

export interface RunResult {
	/** One for each prepared item, in their order. */
	outcomes: Outcome[];
	/** n8n is to park the execution, for a webhook to take it up; absent: it continues at once. */
	park?: Parking;
}

/** An operation of the action node. */
export interface Operation<Request = unknown> {
	resource: string;
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
	/**
	 * Checks an item. Every item is checked before anything is sent for the first.
	 * @throws {UserError} when a field can't be sent
	 */
	prepare: (item: Item) => Request | Promise<Request>;
	run: (prepared: Array<Prepared<Request>>, context: IExecuteFunctions) => Promise<RunResult>;
}

/** Erases the type parameter so that operations fit in one array. */
export const defineOperation = <Request>(operation: Operation<Request>): Operation =>
	operation as unknown as Operation;

/** So many items are worked on at once. */
export const CONCURRENCY = 5;

/** Makes an operation's `run` that does the same for each item. With On Error "stop", none is begun after an error. */
export const runEach =
	<Request>(
		run: (item: Item, request: Request) => Promise<OutputItem[]>,
	): Operation<Request>['run'] =>
	async (prepared, context) => ({
		outcomes: await mapConcurrent(
			prepared,
			async ({ item, request }): Promise<Outcome> => {
				try {
					return { items: await run(item, request) };
				} catch (error) {
					return { error };
				}
			},
			{
				concurrency: CONCURRENCY,
				isLast: (outcome) => stopsOnError(context) && hasFailed(outcome),
			},
		),
	});

export const hasFailed = (outcome: object | undefined): outcome is Failed =>
	outcome !== undefined && 'error' in outcome;

/** The timeout in Options of every operation that speaks to the service. */
export const timeoutOption: INodeProperties = {
	displayName: 'Timeout (Seconds)',
	name: 'timeoutSeconds',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 60,
	description: 'How many seconds the service may take to answer a request',
};

/** A node's Options with these entries. */
export const optionsField = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options,
});

/** Reads a number in Options; the default where the user did not add it or left it blank. */
export function readNumberOption(
	option: Item['option'],
	{ name, default: byDefault }: INodeProperties,
): number {
	const value = Number.parseFloat(String(option(name)));
	return Number.isFinite(value) ? value : (byDefault as number);
}
