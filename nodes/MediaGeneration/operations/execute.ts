import { UserError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { readCall, type Call } from '../host/call';
import { settleBy } from '../lib/timers';
import { toNodeError } from '../run/output/errors';
import { checkItems, hasFailed, readItem } from '../run/input/item';
import { throwFirstError, throwRefusal, toOutput } from '../run/output/output';
import { operations } from './index';
import type { Operation, PlainOperation, Prepared } from './operation';

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
	const call = readCall(context);
	const output = await settleBy(call.answerBy + OUTPUT_TIME, run(call));
	if (output) return [output];
	const error = new UserError('It took too long, because MCP clients give up after a minute', {
		description: 'Call again, unless a task was to be created: it may exist already.',
	});
	return [toOutput(call, failAll(call, context.getInputData(), error))];
}

async function run(call: Call): Promise<INodeExecutionData[]> {
	const operation = findOperation(call);
	if ('run' in operation) return await runPlain(call, operation);
	const { generate } = await import('../run/generate');
	return await generate(call, operation);
}

async function runPlain(call: Call, operation: PlainOperation): Promise<INodeExecutionData[]> {
	const checked = await checkItems(call, async (index) => {
		const item = await readItem(call, operation.fields, index);
		return { item, request: await operation.prepare(item) };
	});
	throwFirstError(call, checked);
	const prepared = checked.filter((one): one is Prepared<unknown> => !hasFailed(one));
	const ran = await operation.run(prepared, call).then(
		(outcomes) => outcomes.values(),
		(error: unknown) => failAll(call, prepared, error).values(),
	);
	const outcomes = checked.map((one) => (hasFailed(one) ? one : ran.next().value));
	throwFirstError(call, outcomes);
	return toOutput(call, outcomes);
}

/** Makes an error of the run as a whole that of each item. @throws it, with On Error "stop" */
function failAll(call: Call, items: object[], error: unknown) {
	throwRefusal(call, error);
	return items.map(() => ({ error }));
}

function findOperation(call: Call): Operation {
	const resource = call.context.getNodeParameter('resource', 0);
	const value = call.context.getNodeParameter('operation', 0);
	const operation = operations.find((one) => one.resource === resource && one.value === value);
	if (operation) return operation;
	const message = `Choose 'Operation' from its list: there is no "${String(value)}"`;
	throw toNodeError(call, new UserError(message));
}
