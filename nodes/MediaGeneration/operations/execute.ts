import { UserError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { mapConcurrent } from '../lib/mapConcurrent';
import { stopsOnError, toErrorItem, toFailure, toNodeError } from './errors';
import { operations } from './index';
import {
	hasFailed,
	type Failed,
	type Failures,
	type Operation,
	type Outcome,
	type Prepared,
	type RunResult,
} from './operation';
import { readItem } from './readItem';
import { openRecord, type RunRecord } from './record';
import { fitItems } from './toolResult';
import { sleepOn } from './wait/asleep/sleep';

/** One run of the node. */
interface Run {
	context: IExecuteFunctions;
	operation: Operation;
	/** Only of operations that create tasks. */
	record?: RunRecord;
}

/**
 * Runs the chosen operation. It checks all items first, then works on those that passed. Output
 * items are paired with their input item. An item that failed follows the node's On Error setting.
 */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const operation = findOperation(context);
	const record = operation.creates ? openRecord(context) : undefined;
	const stored = record && (await sleepOn(context, record));
	if (stored) return [stored];
	const run: Run = { context, operation, record };
	const checked = await prepareAll(run);
	throwFirstError(run, checked);
	const prepared = checked.filter((one): one is Prepared<unknown> => !hasFailed(one));
	const result = await runAll(run, prepared);
	const ran = result.outcomes.values();
	const outcomes = checked.map((one) => (hasFailed(one) ? one : ran.next().value));
	throwFirstError(run, outcomes);
	const output = outcomes.flatMap((outcome, index) => toOutput(run, outcome, index));
	try {
		await result.fallAsleep?.(output, listFailures(outcomes));
	} catch (error) {
		throw toNodeError(context, error, undefined, record?.listTaskIds());
	}
	return [output];
}

/** Items checked in parallel. Most of the time goes into reading credentials. */
const CHECKS = 20;

/** Checks all items. An item that failed, now or in an earlier try, has its outcome already. */
async function prepareAll(run: Run): Promise<Array<Prepared<unknown> | Failed>> {
	const prepare = async (_: unknown, index: number): Promise<Prepared<unknown> | Failed> => {
		const recalled = run.record?.recall(index);
		if (hasFailed(recalled)) return recalled;
		try {
			const isNew = recalled === undefined;
			const item = await readItem(run.context, run.operation, { index, isNew });
			return { item, request: recalled ?? (await run.operation.prepare(item)) };
		} catch (error) {
			return { error };
		}
	};
	const items = run.context.getInputData();
	const checked = await mapConcurrent(items, prepare, { concurrency: CHECKS });
	return checked as Array<Prepared<unknown> | Failed>;
}

/** If the operation fails as a whole, every item gets the error. */
async function runAll(
	{ context, operation, record }: Run,
	prepared: Array<Prepared<unknown>>,
): Promise<RunResult> {
	try {
		return await operation.run(prepared, context);
	} catch (error) {
		if (stopsOnError(context)) throw toNodeError(context, error, undefined, record?.listTaskIds());
		return { outcomes: prepared.map(() => ({ error })) };
	}
}

/** Lists the errors of items, by item: a run that sleeps outputs them when it is awake. */
function listFailures(outcomes: Outcome[]): Failures {
	const failures: Failures = {};
	for (const [index, outcome] of outcomes.entries()) {
		if (!hasFailed(outcome)) continue;
		failures[index] = toFailure(outcome.error);
	}
	return failures;
}

function toOutput({ context, record }: Run, outcome: Outcome, index: number): INodeExecutionData[] {
	if (!outcome) return [];
	if (hasFailed(outcome))
		return [toErrorItem(context, outcome.error, index, record?.findTaskId(index))];
	const items = fitItems(context, outcome.items) as INodeExecutionData[];
	return context.helpers.constructExecutionMetaData(items, { itemData: { item: index } });
}

/** @throws with On Error "stop", the error of the first item that has one */
function throwFirstError({ context, record }: Run, outcomes: Array<object | undefined>): void {
	const index = stopsOnError(context) ? outcomes.findIndex(hasFailed) : -1;
	if (index < 0) return;
	throw toNodeError(context, (outcomes[index] as Failed).error, index, record?.listTaskIds());
}

function findOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = operations.find((one) => one.resource === resource && one.value === value);
	if (operation) return operation;
	const message = `Choose 'Operation' from its list: there is no "${String(value)}"`;
	throw toNodeError(context, new UserError(message));
}
