import type { INodeProperties } from 'n8n-workflow';
import type { Call } from '../host/call';
import type { Item, Outcome, OutputItem } from '../run/input/item';
import type { CreationSetup } from '../run/generate';

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
	/** Works on all items together; absent: the step of each is taken. @returns the outcomes, in order */
	work?(prepared: Prepared[], call: Call): Promise<Outcome[]>;
}

/** An operation of the action node: it works on its items itself, or has `run/generate` create tasks. */
export type Operation = PlainOperation<object> | CreatingOperation;
export type CreatingOperation = OperationBase & CreationSetup;
