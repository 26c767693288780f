import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { TaskService } from '../api/client';
import { verifyRequest } from '../callback/verifyRequest';
import { enableNode } from '../host/sleep';
import { settleBy } from '../lib/timers';
import type { Sleep } from '../operations/record/wait';
import { ANSWER } from './timetable';
import { accept, refuse } from './answers';
import { NUDGE } from './nudge';
import { findSleeper } from './sleep';

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
	const answerBy = Date.now() + ANSWER;
	const callback = await verifyRequest(context, { signed: 'ifKey', unsignedType: NUDGE });
	if ('reason' in callback) return refuse(context, callback);
	// A part of the result, or a step on the way to it. Senders repeat what is refused.
	if (callback.claim.status === 'pending') return accept(context);
	const found = findSleeper(context, callback);
	if (found === undefined) return refuse(context, { reason: 'taskNotInExecution' });
	if (found === null) return accept(context);
	const { sleeper, asleep } = found;
	const { known } = sleeper.looker;

	const { taskId, credentials } = callback;
	const work = sleeper.lookUntilOpen(taskId, new TaskService(context, credentials));
	const looked = await settleBy(answerBy, work);
	if (sleeper.isTooLate) return refuse(context, { reason: 'limitPassed' });
	if (known.haveEnded || sleeper.isDue) {
		const isFirst = sleeper.beginDelivery(context.getResponseObject());
		return isFirst ? wake(context, asleep, known.ended) : accept(context);
	}
	if (looked?.refusal && callback.claim.type !== NUDGE)
		return refuse(context, { reason: looked.refusal });
	if (looked) return accept(context);
	// Whoever has been answered wakes nothing, so another one comes when the service has answered.
	void work.then(async () => known.haveEnded && (await sleeper.nudge()));
	return refuse(context, { reason: 'detailsUnavailable' });
}

/** Has n8n run the node again. It finds in its record what is known of the tasks. */
function wake(
	context: IWebhookFunctions,
	asleep: Sleep,
	ended: Sleep['woken'],
): IWebhookResponseData {
	asleep.woken = ended;
	enableNode(context);
	return {
		// n8n sends it when it has stored that the execution continues.
		webhookResponse: { accepted: true, resumed: true },
		workflowData: asleep.input as INodeExecutionData[][],
	};
}
