import type {
	IBinaryKeyData,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { TaskService } from '../api/client';
import type { RequestSettings } from '../api/exchange';
import { mapConcurrent } from '../lib/mapConcurrent';
import type { OptionReader } from '../models/field';
import { stopsOnError, type ItemFailure } from './errors';

/** One item of the node's input, as operations see it. */
export interface Item {
	index: number;
	context: IExecuteFunctions;
	/** The service, by the item's own credential: n8n resolves expressions in it for each item. */
	service: TaskService;
	/** Reads a parameter of the node; blank if it has no value. */
	read: (name: string) => unknown;
	/** Reads an entry of Options; undefined if it was not added, null if its expression is. */
	option: OptionReader;
	settings: RequestSettings;
}

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
}

/** The outcome of an item; undefined: it was not begun, because another one ended the run. */
export type Outcome = { items: OutputItem[] } | Failed | undefined;

/** The errors of items, by item, as n8n can store them. */
export type Failures = Record<number, ItemFailure>;

export interface RunResult {
	/** One for each prepared item, in their order. */
	outcomes: Outcome[];
	/** Lets the execution sleep; absent if it continues at once. */
	fallAsleep?: (items: INodeExecutionData[], failures: Failures) => Promise<void>;
}

/** An operation of the action node. */
export interface Operation<Request = unknown> {
	resource: string;
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
	/** Its items become tasks. The task that an item has already takes the place of its request. */
	creates?: boolean;
	/** Checks an item, before anything is sent for any. @throws {UserError} for a field */
	prepare: (item: Item) => Request | Promise<Request>;
	run: (prepared: Array<Prepared<Request>>, context: IExecuteFunctions) => Promise<RunResult>;
}

/** Erases the type parameter so that operations fit in one array. */
export const defineOperation = <Request>(operation: Operation<Request>): Operation =>
	operation as unknown as Operation;

/** The number of items worked on at once. */
export const CONCURRENCY = 5;

/** Makes a `run` that does the same for each item. With On Error "stop", an error is the end. */
export const runEach =
	<Request>(
		run: (item: Item, request: Request) => Promise<OutputItem[]>,
	): Operation<Request>['run'] =>
	async (prepared, context) => {
		const runOne = async ({ item, request }: Prepared<Request>): Promise<Outcome> =>
			await run(item, request).then(
				(items) => ({ items }),
				(error: unknown) => ({ error }),
			);
		const isLast = (outcome: Outcome) => stopsOnError(context) && hasFailed(outcome);
		const outcomes = await mapConcurrent(prepared, runOne, { concurrency: CONCURRENCY, isLast });
		return { outcomes };
	};

export const hasFailed = (outcome: object | undefined): outcome is Failed =>
	outcome !== undefined && 'error' in outcome;

export const timeoutOption: INodeProperties = {
	displayName: 'Request Timeout (Seconds)',
	name: 'timeoutSeconds',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 3600 },
	default: 60,
	description: 'How many seconds the service may take to answer a request',
};

export const optionsField = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options,
});
