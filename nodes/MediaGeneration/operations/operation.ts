import type { INodeProperties } from 'n8n-workflow';
import type { Call } from '../host/call';
import { mapConcurrent } from '../lib/mapConcurrent';
import {
	CONCURRENCY,
	hasFailed,
	type Item,
	type Outcome,
	type OutputItem,
} from '../run/input/item';
import type { Job } from '../run/generate';

export interface Prepared<Request> {
	item: Item;
	request: Request;
}

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
	run: (prepared: Array<Prepared<Request>>, call: Call) => Promise<Outcome[]>;
}

/** An operation whose items become tasks (`run/generate`). */
export type CreatingOperation = OperationBase & Job;

/** An operation of the action node. */
export type Operation = PlainOperation | CreatingOperation;

/** Erases the type parameter so that operations fit in one array. */
export const defineOperation = <Request>(operation: PlainOperation<Request>): PlainOperation =>
	operation as unknown as PlainOperation;

/** Makes a `run` that does the same for each item. With On Error "stop", an error is the end. */
export const runEach =
	<Request>(
		run: (item: Item, request: Request) => Promise<OutputItem[]>,
	): PlainOperation<Request>['run'] =>
	async (prepared, { stops }) => {
		const runOne = async ({ item, request }: Prepared<Request>): Promise<Outcome> =>
			await run(item, request).then(
				(items) => ({ items }),
				(error: unknown) => ({ error }),
			);
		const isLast = (outcome: Outcome) => stops && hasFailed(outcome);
		return await mapConcurrent(prepared, runOne, { concurrency: CONCURRENCY, isLast });
	};
