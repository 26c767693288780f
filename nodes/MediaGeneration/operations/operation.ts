import type { INodeProperties } from 'n8n-workflow';
import type { Call } from '../host/call';
import type { Item, Outcome, OutputItem } from '../run/input/item';
import type { Job } from '../run/generate';

/** What the editor shows of an operation. */
interface OperationBase {
	resource: string;
	value: string;
	name: string;
	action: string;
	description: string;
	fields: INodeProperties[];
}

/** Sends what an item asks for, and makes its output. */
export type Step = () => Promise<OutputItem[]>;

export interface PlainOperation<Prepared extends object = Step> extends OperationBase {
	/** Checks an item, before anything is sent for any. @throws {UserError} for a field */
	prepare(item: Item): Prepared | Promise<Prepared>;
	/** Works on all items together; absent: each item is a step. @returns their outcomes, in order */
	work?(prepared: Prepared[], call: Call): Promise<Outcome[]>;
}

/** An operation of the action node. Its items are worked on here, or become tasks (`run/generate`). */
export type Operation = PlainOperation<object> | CreatingOperation;
export type CreatingOperation = OperationBase & Job;
