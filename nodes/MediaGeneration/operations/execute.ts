import { UserError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { readCall, type Call } from '../host/call';
import { mapConcurrent } from '../lib/mapConcurrent';
import { settleBy } from '../lib/timers';
import { toNodeError } from '../run/output/errors';
import { prepareItems, CONCURRENCY, readItem, type Outcome } from '../run/input/item';
import { throwFirstError, outputOrThrow } from '../run/output/output';
import { TIME_FOR_LATE_OUTPUT } from '../run/timetable';
import { operations } from './index';
import type { PlainOperation, Step } from './operation';

/**
 * Executes the chosen operation. It checks all items first, then works on those that passed. Output
 * items are paired with their input item. An item's error follows the node's On Error setting. An MCP
 * server is answered in time, whatever hangs. `run/send` sees to it that no task is created afterwards.
 */
export async function executeOperation(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const call = readCall(context);
	const output = await settleBy(call.answerBy + TIME_FOR_LATE_OUTPUT, execute(call));
	if (output) return [output];
	const error = new UserError('The result was not ready in time: an MCP client waits a minute', {
		description: 'Call again, unless a task was to be created: it may exist already.',
	});
	return [outputOrThrow(call, failAll(call, context.getInputData(), error))];
}

async function execute(call: Call): Promise<INodeExecutionData[]> {
	const resource = call.context.getNodeParameter('resource', 0);
	const value = call.context.getNodeParameter('operation', 0);
	const operation = operations.find((one) => one.resource === resource && one.value === value);
	if (!operation)
		throw toNodeError(call, new UserError(`Choose 'Operation': there is no "${String(value)}"`));
	if ('prepare' in operation) return await executePlain(call, operation);
	const { generate } = await import('../run/generate');
	return await generate(call, operation);
}

async function executePlain(call: Call, operation: PlainOperation<object>) {
	const checked = await prepareItems(call, async (index) => {
		return await operation.prepare(await readItem(call, operation.fields, index));
	});
	throwFirstError(call, checked);
	const prepared = checked.filter((result) => !('error' in result));
	const work = operation.work ?? takeSteps;
	const ended = await work(prepared as Step[], call).catch((error) =>
		failAll(call, prepared, error),
	);
	// The outcomes of the items that passed go between the errors of those that didn't.
	const queue = ended.values();
	const outcomes = checked.map((result) => ('error' in result ? result : queue.next().value));
	return outputOrThrow(call, outcomes);
}

/** Takes the step of each item. With On Error "stop", none begins after an error. */
async function takeSteps(steps: Step[], { stopsOnError }: Call): Promise<Outcome[]> {
	const take = async (step: Step): Promise<Outcome> =>
		await step().then(
			(items) => ({ items }),
			(error: unknown) => ({ error }),
		);
	const isEnd = (outcome: Outcome) => stopsOnError && outcome !== undefined && 'error' in outcome;
	return await mapConcurrent(steps, take, { concurrency: CONCURRENCY, afterEach: isEnd });
}

/** Makes an error that ended the whole work the error of each item. @throws it, with On Error "stop" */
function failAll(call: Call, items: object[], error: unknown) {
	if (call.stopsOnError) throw toNodeError(call, error);
	return items.map(() => ({ error }));
}
