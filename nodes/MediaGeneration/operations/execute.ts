import { UserError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { readMcpDeadline } from '../host/mcpCall';
import { settleBy } from '../lib/timers';
import { toNodeError } from '../run/errors';
import { operations } from './index';
import { checkItems, failAll, readItem, throwFirstError, toOutput } from '../run/item';
import { hasFailed, type Operation, type PlainOperation, type Prepared } from './operation';

/** Left to a run below an MCP server for its output, in milliseconds. */
const OUTPUT_TIME = 1_000;

/**
 * Runs the chosen operation. It checks all items first, then works on those that passed. Output
 * items are paired with their input item. An item that failed follows the node's On Error setting.
 * Below an MCP server it answers in time, whatever hangs. What pays looks at the time itself.
 */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const output = await settleBy(readMcpDeadline(context) + OUTPUT_TIME, run(context));
	if (output) return [output];
	const error = new UserError('It took too long, because MCP clients give up after a minute');
	return [toOutput(context, failAll(context, context.getInputData(), error))];
}

async function run(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const operation = findOperation(context);
	if ('run' in operation) return await runPlain(context, operation);
	const { runCreating } = await import('../run/generate');
	return await runCreating(context, operation);
}

async function runPlain(
	context: IExecuteFunctions,
	operation: PlainOperation,
): Promise<INodeExecutionData[]> {
	const checked = await checkItems(context, async (index) => {
		const item = await readItem(context, operation, index);
		return { item, request: await operation.prepare(item) };
	});
	throwFirstError(context, checked);
	const prepared = checked.filter((one): one is Prepared<unknown> => !hasFailed(one));
	const ran = await operation.run(prepared, context).then(
		(outcomes) => outcomes.values(),
		(error: unknown) => failAll(context, prepared, error).values(),
	);
	const outcomes = checked.map((one) => (hasFailed(one) ? one : ran.next().value));
	throwFirstError(context, outcomes);
	return toOutput(context, outcomes);
}

function findOperation(context: IExecuteFunctions): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const value = context.getNodeParameter('operation', 0);
	const operation = operations.find((one) => one.resource === resource && one.value === value);
	if (operation) return operation;
	const message = `Choose 'Operation' from its list: there is no "${String(value)}"`;
	throw toNodeError(context, new UserError(message));
}
