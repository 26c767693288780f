import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { TaskService } from '../../../api/client';
import { storeTask } from '../../../api/task';
import { readCallback, type Callback } from '../../../callback/readCallback';
import type { Reason } from '../../../callback/refusals';
import { answer, refuse } from '../../../callback/respond';
import { readResumeUrl } from '../../../host/resumeUrl';
import { enableNode } from '../../../host/sleep';
import { settleBy } from '../../../lib/timers';
import { readSleepingRun, type Sleep } from '../../record';
import type { WaitSettings } from '../looker';
import { ANSWER_WITHIN, LAST_WAKE } from '../timetable';
import { NUDGE } from './nudge';
import { findSleeper, openSleeper, type Sleeper } from './sleeper';

const CONCURRENCY = 32;

/**
 * Receives a callback, or a nudge of our own, for a run that sleeps. Once every task has ended by
 * its details, or the wait limit has passed, n8n runs the node again, with its original input.
 * Nothing is thrown, because n8n would drop the data of the run and continue with an empty item.
 */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await receive(context);
	} catch {
		return refuse(context, { reason: 'detailsUnavailable' });
	}
}

async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const answerBy = Date.now() + ANSWER_WITHIN;
	const callback = await readCallback(context);
	if ('reason' in callback) return refuse(context, callback);
	// A part of the result, or a step on the way to it. Senders repeat what is refused.
	if (callback.claimedStatus === 'pending') return accept(context);
	const run = readSleepingRun<WaitSettings>(context);
	if (!run?.tasks.some(({ taskId }) => taskId === callback.taskId))
		return refuse(context, { reason: 'taskNotInExecution' });
	const { credentials } = callback;
	const known = findSleeper(context, run.asleep.since);
	if (known === null) return accept(context);
	const sleeper = known ?? openSleeper(context, run, { url: readResumeUrl(context), credentials });

	const work = lookUntilOpen(context, sleeper, callback);
	const looked = await settleBy(answerBy, work);
	if (Date.now() >= sleeper.until + LAST_WAKE) return refuse(context, { reason: 'limitPassed' });
	if (sleeper.looker.batch.isEnded || sleeper.isDue)
		return sleeper.beginDelivery(context.getResponseObject())
			? wake(context, run.asleep, sleeper)
			: accept(context);
	if (looked?.refusal && callback.callbackType !== NUDGE)
		return refuse(context, { reason: looked.refusal });
	if (looked) return accept(context);
	// Whoever has been answered wakes nothing, so another one comes when the service has answered.
	void work.then(async () => sleeper.looker.batch.isEnded && (await sleeper.nudge()));
	return refuse(context, { reason: 'detailsUnavailable' });
}

/**
 * Asks for the task of a callback, then for one other, then for several at once, until one has not
 * ended. Once the wait limit has passed, nothing is asked: the woken run looks.
 */
async function lookUntilOpen(
	context: IWebhookFunctions,
	sleeper: Sleeper,
	{ taskId, credentials }: Callback,
): Promise<{ refusal?: Reason }> {
	const { looker } = sleeper;
	const { batch } = looker;
	const source = { service: new TaskService(context, credentials) };
	const getSource = () => source;
	const look = async (ids: string[], concurrency: number) =>
		await looker.look(ids, { getSource, concurrency, untilOpen: true });
	if (sleeper.isDue) return {};
	await look([taskId], 1);
	if (batch.isOpen(taskId))
		return { refusal: batch.failure ? 'detailsUnavailable' : 'taskNotEnded' };
	const [next] = batch.openIds;
	if (next !== undefined) await look([next], 1);
	if (next !== undefined && !batch.isOpen(next)) await look(batch.openIds, CONCURRENCY);
	return {};
}

/** Has n8n run the node again. It finds in its record what is known of the tasks. */
function wake(
	context: IWebhookFunctions,
	asleep: Sleep,
	{ looker: { batch } }: Sleeper,
): IWebhookResponseData {
	asleep.woken = batch.tasks.filter(({ taskId }) => !batch.isOpen(taskId)).map(storeTask);
	enableNode(context);
	return {
		// n8n sends it when it has stored that the execution continues.
		webhookResponse: { accepted: true, resumed: true },
		workflowData: asleep.input as INodeExecutionData[][],
	};
}

const accept = (context: IWebhookFunctions): IWebhookResponseData =>
	answer(context, 200, { accepted: true, resumed: false });
