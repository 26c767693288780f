import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { TaskService } from '../../api/client';
import { readCallback, type Callback } from '../../callback/readCallback';
import type { Refused } from '../../callback/refusals';
import { answer, refuse } from '../../callback/respond';
import { answerOnceStored } from '../../host/storedAnswer';
import { runAfter, settleBy } from '../../lib/timers';
import { LOOK } from './lookRequests';
import {
	findWaiting,
	LAST_RESUME,
	openWaiting,
	readStoredWait,
	type WaitingExecution,
} from './waiting';

/** The milliseconds in which a sender is answered. Senders usually give up after 5 to 15 s. */
const ANSWER_WITHIN = 5_000;

/** Until when after the limit the service is asked, and files are fetched, in milliseconds. */
const LAST_LOOK = 20_000;
const LAST_FILES = 27_000;

/** How early the look at the limit may come, in milliseconds: two processes may have two clocks. */
const LIMIT_TOLERANCE = 1_000;

/** The milliseconds for n8n to store the items. Afterwards n8n answers callbacks by itself. */
const STORED_WITHIN = 3_000;

const CONCURRENCY = 32;

/** The items that the execution continues with, or what the sender is told. */
type Delivery = { items: INodeExecutionData[] } | { refusal?: Refused['reason'] };

/**
 * Receives a callback, or a look of our own, for an execution that sleeps. It continues, with one
 * Task for each item, once every task has ended by its details, or when the wait limit has passed.
 * Nothing is thrown, because n8n would drop the data of the run and continue with an empty item.
 */
export async function resumeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await receive(context);
	} catch {
		return refuse(context, { reason: 'detailsUnavailable' });
	}
}

async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const begun = Date.now();
	const callback = await readCallback(context);
	if ('reason' in callback) return refuse(context, callback);
	// A part of the result, or a step on the way to it. Senders repeat what is refused.
	if (callback.claimedStatus === 'pending') return accept(context);
	const waiting = recognize(context, callback);
	if (!waiting) return refuse(context, { reason: 'taskNotInExecution' });
	if (begun >= waiting.stored.until + LAST_RESUME)
		return refuse(context, { reason: 'limitPassed' });

	const work = deliverOnceEnded(context, waiting, callback);
	const early = await settleBy(begun + ANSWER_WITHIN, work);
	if (early && 'items' in early)
		return answerOnceStored(early.items, () => {
			waiting.stop();
			return { accepted: true, resumed: true };
		});
	if (early)
		return early.refusal && callback.callbackType !== LOOK
			? refuse(context, { reason: early.refusal })
			: accept(context);
	const { isEnded } = waiting.looker.batch;
	refuse(context, { reason: isEnded ? 'resultsUnderWay' : 'detailsUnavailable' });
	// The sender is answered, and n8n may still get the items.
	const late = await work.catch(() => ({ refusal: undefined }));
	return { noWebhookResponse: true, ...('items' in late && { workflowData: [late.items] }) };
}

function recognize(
	context: IWebhookFunctions,
	{ taskId, credentials }: Callback,
): WaitingExecution | undefined {
	const known = findWaiting(context);
	if (known?.looker.batch.has(taskId)) return known;
	// A copy of a callback for an earlier wait of this execution changes nothing.
	const stored = readStoredWait(context);
	if (!stored?.items.some(({ json }) => json.taskId === taskId)) return undefined;
	const query = new URLSearchParams(context.getQueryData() as Record<string, string>);
	const url = `${stored.resumeUrl}?${query.toString()}`;
	return openWaiting(context, stored, { url, credentials });
}

/**
 * Asks for the task of a callback, then for one other, then for several at once, until one has not
 * ended. If there is none, or the limit has passed, the execution continues.
 */
async function deliverOnceEnded(
	context: IWebhookFunctions,
	waiting: WaitingExecution,
	{ taskId, credentials }: Callback,
): Promise<Delivery> {
	const begun = Date.now();
	const { looker, stored } = waiting;
	const { batch } = looker;
	const source = { service: new TaskService(context, credentials), helpers: context.helpers };
	const getSource = () => source;
	const isDue = () => Date.now() >= stored.until - LIMIT_TOLERANCE;
	const look = async (ids: string[], concurrency: number) =>
		await looker.look(ids, { getSource, concurrency, untilOpen: true });
	if (!isDue()) {
		await look([taskId], 1);
		if (batch.isOpen(taskId) && !isDue())
			return { refusal: batch.failure ? 'detailsUnavailable' : 'taskNotEnded' };
		const [next] = batch.openIds;
		if (next !== undefined) await look([next], 1);
		if (next !== undefined && !batch.isOpen(next)) await look(batch.openIds, CONCURRENCY);
	}
	if (!batch.isEnded && !isDue()) return {};
	// A request may hang until the execution waits for other tasks, as n8n has not told this webhook.
	if (Date.now() >= stored.until + LAST_RESUME) return { refusal: 'limitPassed' };
	// Another webhook delivers. If n8n could not store what it has, a look finds the end again.
	if (!waiting.beginDelivery(begun)) return {};
	try {
		const rest = looker.look(batch.openIds, { getSource, concurrency: CONCURRENCY });
		await settleBy(stored.until + LAST_LOOK, rest);
		await settleBy(stored.until + LAST_FILES, looker.collectFiles(getSource));
		// Another process may have continued the execution, and it may wait at this node again.
		if (readStoredWait(context)?.until !== stored.until) {
			waiting.stop();
			return { refusal: 'taskNotInExecution' };
		}
		return { items: waiting.toItems() };
	} finally {
		runAfter(STORED_WITHIN, () => waiting.endDelivery());
	}
}

const accept = (context: IWebhookFunctions): IWebhookResponseData =>
	answer(context, 200, { accepted: true, resumed: false });
