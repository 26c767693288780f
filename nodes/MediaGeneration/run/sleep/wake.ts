import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { TaskService } from '../../api/client';
import { NUDGE } from '../../callback/verify';
import {
	type ReceivedCallback,
	answer,
	ANSWER_TIMEOUT,
	refuse,
	verifyRequest,
} from '../../callback/webhook';
import { enableNode, findNodeContext } from '../../host/asleep';
import { settleBy } from '../../lib/timers';
import { type Ledger, listAwaitedIds, type Sleep } from '../ledger/ledger';
import { readLedger } from '../ledger/openLedger';
import { CLOCK_TOLERANCE } from '../timetable';
import { openNap, type Nap } from './nap';

/**
 * Receives a callback, or a nudge of our own, for a run that sleeps. Once the details of every task say
 * that it has ended, or the wait limit has passed, n8n runs the node again, with its original input.
 * Nothing is thrown, because n8n would drop the data of the run and continue with an empty item.
 */
export async function wakeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await judgeAndWake(context);
	} catch (error) {
		return refuse(context, { reason: 'temporarilyUnavailable', cause: (error as Error).message });
	}
}

async function judgeAndWake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const answerBy = Date.now() + ANSWER_TIMEOUT;
	const callback = await verifyRequest(context, { signed: 'ifKey' });
	if ('reason' in callback) return refuse(context, callback);
	// A part of the result, or a step on the way. It is accepted, because senders repeat what is refused.
	if (callback.claim.status === 'pending') return accept(context);
	const ledger = readLedger(findNodeContext(context));
	if (!ledger?.sleep || !listAwaitedIds(ledger.entries).includes(callback.taskId))
		return refuse(context, { reason: 'taskNotInExecution' });
	const nap = openNap(context, ledger);
	if (!nap) return accept(context);
	// After a restart, no other process nudges. A nudge comes from a process that does.
	if (callback.claim.type !== NUDGE) nap.keepNudging();
	return await lookAndWake(context, callback, { ledger, nap, answerBy });
}

/** The run that sleeps, and when the sender of the callback wants its answer. */
interface Asleep {
	ledger: Ledger;
	nap: Nap;
	answerBy: number;
}

async function lookAndWake(
	context: IWebhookFunctions,
	{ taskId, claim, readCredentials }: ReceivedCallback,
	{ ledger, nap, answerBy }: Asleep,
): Promise<IWebhookResponseData> {
	const { limitAt, lastWakeAt } = ledger.sleep as Sleep;
	const isAtLimit = () => Date.now() >= limitAt - CLOCK_TOLERANCE;
	const looks = nap.openLooks(ledger);
	// Once the limit has passed, nothing is asked: the woken run looks.
	const getService = async () => new TaskService(context, await readCredentials());
	const looking = isAtLimit() ? Promise.resolve() : looks.lookUntilPending(taskId, getService);
	const work = looking.then(() => {
		nap.noteEnds(ledger);
		return true;
	});
	const isInTime = await settleBy(answerBy, work);
	if (Date.now() >= lastWakeAt) return refuse(context, { reason: 'limitPassed' });
	if (looks.haveEnded || isAtLimit()) {
		const isFirst = nap.beginDelivery(context.getResponseObject());
		return isFirst ? wake(context) : accept(context);
	}
	const { failure } = looks.find(taskId);
	nap.warnOf('look', failure?.message);
	if (!isInTime) {
		// A request that was answered can't wake the run, so a nudge follows when the service has answered.
		void work.then(async () => {
			if (looks.haveEnded) await nap.nudge();
		});
		return refuse(context, { reason: 'detailsUnavailable', cause: 'the service is slow' });
	}
	if (claim.type === NUDGE || !looks.isPending(taskId)) return accept(context);
	return refuse(
		context,
		failure ? { reason: 'detailsUnavailable', cause: failure.message } : { reason: 'taskNotEnded' },
	);
}

/** Accepts a callback or nudge, though the execution sleeps on. */
const accept = (context: IWebhookFunctions): IWebhookResponseData =>
	answer(context, 200, { accepted: true, resumed: false });

/** Has n8n run the node again, which finds in its ledger how the tasks have ended. */
const wake = (context: IWebhookFunctions): IWebhookResponseData => ({
	// n8n sends this answer once it has stored that the execution continues.
	webhookResponse: { accepted: true, resumed: true },
	workflowData: enableNode(context),
});
