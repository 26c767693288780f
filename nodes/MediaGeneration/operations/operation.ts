import type { IBinaryKeyData, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import type { RequestSettings } from '../api/exchange';
import { mapConcurrent } from '../lib/mapConcurrent';
import type { OptionReader } from '../models/field';
import type { ModelRequest } from '../models/model';
import { stopsOnError } from '../run/errors';
import type { Wait } from './record/wait';

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

/** What the editor shows of an operation. */
interface OperationBase {
	resource: string;
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
}

export interface PlainOperation<Request = unknown> extends OperationBase {
	/** Checks an item, before anything is sent for any. @throws {UserError} for a field */
	prepare: (item: Item) => Request | Promise<Request>;
	/** @returns an outcome for each prepared item, in their order */
	run: (prepared: Array<Prepared<Request>>, context: IExecuteFunctions) => Promise<Outcome[]>;
}

/**
 * A task to create, with the URL that the service calls at its end. Where the input has an
 * InputFile, the file is uploaded before.
 */
export type CreateRequest = Pick<ModelRequest, 'model' | 'input' | 'warning'> & {
	callBackUrl?: string;
};

/** An operation whose items become tasks (`create/runCreating`). */
export interface CreatingOperation extends OperationBase {
	/** Turns an item into a request, as `prepare` of others. @throws {UserError} for a field or file */
	request: (item: Item) => Promise<CreateRequest>;
	/** Reads how the run waits, with the expressions of its first item; absent: it doesn't wait. */
	readWait?: (item: Item) => Wait['settings'];
}

/** An operation of the action node. */
export type Operation = PlainOperation | CreatingOperation;

/** Erases the type parameter so that operations fit in one array. */
export const defineOperation = <Request>(operation: PlainOperation<Request>): PlainOperation =>
	operation as unknown as PlainOperation;

/** The number of items worked on at once. */
export const CONCURRENCY = 5;

/** Makes a `run` that does the same for each item. With On Error "stop", an error is the end. */
export const runEach =
	<Request>(
		run: (item: Item, request: Request) => Promise<OutputItem[]>,
	): PlainOperation<Request>['run'] =>
	async (prepared, context) => {
		const runOne = async ({ item, request }: Prepared<Request>): Promise<Outcome> =>
			await run(item, request).then(
				(items) => ({ items }),
				(error: unknown) => ({ error }),
			);
		const isLast = (outcome: Outcome) => stopsOnError(context) && hasFailed(outcome);
		return await mapConcurrent(prepared, runOne, { concurrency: CONCURRENCY, isLast });
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
