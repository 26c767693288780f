import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { stopsOnError, toFailure, toNodeError, type Failures } from './errors';
import { checkItems, failAll, throwFirstError, toOutput } from './item';
import { hasFailed, type CreatingOperation, type Outcome } from '../operations/operation';
import { openRecord } from './open';
import type { Waited } from '../operations/wait/waitForTasks';
import { isRequest, isTask, type Created, type RequestWork, type Step } from '../operations/work';
import { returnBudget, takeBudget } from './budget';
import { createTasks } from './send';
import { decide, matchEarlier, noteFailed, openWait, readStep, type CreatingRun } from './plan';

/**
 * Runs an operation that creates tasks. Each step takes what the one before made of the items: a
 * request, a task, or an error. A run that was woken only waits for its tasks and outputs them.
 */
export async function runCreating(
	context: IExecuteFunctions,
	operation: CreatingOperation,
): Promise<INodeExecutionData[]> {
	const called = Date.now();
	let record: CreatingRun['record'];
	try {
		record = openRecord(context);
	} catch (error) {
		return toOutput(context, failAll(context, context.getInputData(), error));
	}
	if (record.asleep) {
		const { sleepOn } = await import('./sleep');
		return await sleepOn(context, record.asleep);
	}
	return await createAndOutput({ context, operation, record, called });
}

async function createAndOutput(run: CreatingRun): Promise<INodeExecutionData[]> {
	const { context, record } = run;
	const read = await checkItems(context, async (index) => await readStep(run, index));
	throwFirstError(context, read, record);
	const { outcomes, fallAsleep } = await createAndWait(run, read).catch(
		(error: unknown): Waited => ({ outcomes: failAll(context, read, error, record) }),
	);
	noteFailed(record, outcomes);
	throwFirstError(context, outcomes, record);
	const output = toOutput(context, outcomes, record);
	try {
		await fallAsleep?.(output, listFailures(outcomes));
	} catch (error) {
		throw toNodeError(context, error, undefined, record.listTaskIds());
	}
	return output;
}

async function createAndWait(run: CreatingRun, read: Step[]): Promise<Waited> {
	const { context, record } = run;
	const wait = openWait(run, read);
	const matched = read.map((step) => matchEarlier(record, step));
	const decision = await decide(run, wait, matched);
	const { resumeUrl } = decision;
	const addressed = wait ? matched.map((step) => setCallback(step, resumeUrl)) : matched;
	const affordable = await checkBudget(run, addressed);
	const created = await createTasks(run, affordable, wait);
	returnBudget(record, affordable.filter(isRequest));
	if (!wait || isOver(context, created)) return { outcomes: created.map(showTask) };
	const { waitForTasks } = await import('../operations/wait/waitForTasks');
	const waited = await waitForTasks(context, created.filter(isTask), { record, wait, decision });
	const ofTasks = waited.outcomes.values();
	const outcomes = created.map((step) => (isTask(step) ? ofTasks.next().value : step));
	return { ...waited, outcomes };
}

const setCallback = (step: Step, callBackUrl?: string): Step =>
	isRequest(step) ? { ...step, request: { ...step.request, callBackUrl } } : step;

/**
 * Takes the requests from the budget. With On Error "continue", those that Options forbid fail. If
 * they forbid creating failed tasks again, those stay as they are.
 * @throws {UserError} with On Error "stop"
 */
async function checkBudget({ context, record }: CreatingRun, steps: Step[]): Promise<Step[]> {
	const requests = steps.filter(isRequest);
	const take = async (some: RequestWork[]) =>
		await takeBudget(context, record, some).catch((error: Error) => ({ error }));
	const refusal = await take(requests.filter(({ failed }) => !failed));
	if (refusal && stopsOnError(context)) throw refusal.error;
	const noRoom = await take(requests.filter(({ failed }) => failed));
	return steps.map((step) => {
		if (!isRequest(step)) return step;
		if (!step.failed) return refusal ?? step;
		return noRoom ? { ...step.failed, notAgain: noRoom.error.message } : step;
	});
}

/** Says whether the run ends before it waits: it was stopped, or an error ends it. */
function isOver(context: IExecuteFunctions, created: Created[]): boolean {
	if (context.getExecutionCancelSignal()?.aborted) return true;
	return stopsOnError(context) && created.some(hasFailed);
}

/** Makes the output of a task whose end nobody waits for. */
const showTask = (step: Created): Outcome =>
	isTask(step) ? { items: [{ json: step.task }] } : step;

/** Lists the errors of items, by item: a run that sleeps outputs them when it is awake. */
function listFailures(outcomes: Outcome[]): Failures {
	const failures: Failures = {};
	for (const [index, outcome] of outcomes.entries())
		if (hasFailed(outcome)) failures[index] = toFailure(outcome.error);
	return failures;
}
