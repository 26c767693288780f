import {
	type IDataObject,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../../api/client';
import type { Credentials } from '../../api/endpoints';
import { readBody } from '../../callback/readBody';
import { answer, handOver, refuse, type Reason, type Refused } from '../../callback/respond';
import { readSharedCredentials } from '../../callback/sharedCredentials';
import {
	DEFAULT_TOLERANCE_SECONDS,
	getSigningSecrets,
	readCallbackParts,
	verifyCallback,
} from '../../callback/verify';
import { readParked } from '../../host/parking';
import { runAfter, settleBy } from '../../lib/timers';
import { STORED_WAIT, type Wait } from '../record';
import type { WaitSettings } from './looker';
import { LOOK } from './sendLook';
import { identifySleep, LAST_RESUME } from './sleep';
import { findWaiting, WaitingExecution, type StoredWait } from './waiting';

/** A sender is answered within this time, in milliseconds. Senders usually give up after 5 to 15 s. */
const ANSWER_WITHIN = 5_000;

/** Until when after the limit the service is asked, and files are fetched, in milliseconds. */
const LAST_LOOK = 20_000;
const LAST_FILES = 27_000;

/** How early the look at the limit may come, in milliseconds: two processes may have two clocks. */
const LIMIT_TOLERANCE = 1_000;

/** The time for n8n to store the items, in milliseconds. Afterwards n8n answers callbacks by itself. */
const STORED_WITHIN = 3_000;

/** How many tasks are asked for at once. */
const CONCURRENCY = 32;

const LIMIT_PASSED: Refused = {
	status: 410,
	reason: 'limitPassed',
	message: "The wait limit has passed. Look at the task with the node's operation Get",
};

/** What comes of a callback: the items that the execution continues with, or what the sender is told. */
type Outcome = { items: INodeExecutionData[] } | { refusal?: Reason | Refused };

/**
 * Receives a callback, or a look of our own, for an execution that sleeps. The execution continues, with
 * one Task for each item, once every task has ended by its details, or when the wait limit has passed.
 * Nothing is thrown, because n8n would drop the data of the run and continue with an empty item.
 */
export async function resumeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await receive(context);
	} catch {
		return refuse(context, 'detailsUnavailable');
	}
}

async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const begun = Date.now();
	const credentials = await readSharedCredentials(context);
	const body = await readBody(context);
	const verdict = verifyCallback(context.getHeaderData(), body, {
		secrets: getSigningSecrets(credentials),
		toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
		now: begun,
		otherBodies: true,
	});
	if (!verdict.accepted) return refuse(context, verdict);
	const isLook = readCallbackParts(body)?.callbackType === LOOK;
	// A part of the result, or a step on the way to it. Senders repeat what is refused.
	if (verdict.claimedStatus === 'pending') return accept(context);
	const { taskId } = verdict;
	const waiting = recognize(context, taskId, credentials);
	if (!waiting) return refuse(context, 'taskNotInExecution');
	if (begun >= waiting.stored.until + LAST_RESUME) return refuse(context, LIMIT_PASSED);

	const work = deliverOnceEnded(context, waiting, taskId, credentials);
	const early = await settleBy(begun + ANSWER_WITHIN, work);
	if (early) return respond(context, waiting, isLook ? { ...early, refusal: undefined } : early);
	refuse(context, waiting.looker.batch.isEnded ? 'resultsUnderWay' : 'detailsUnavailable');
	// The sender is answered, and n8n may still get the items.
	const late = await work.catch(() => ({ refusal: undefined }));
	return { noWebhookResponse: true, ...('items' in late && { workflowData: [late.items] }) };
}

/** Finds the wait of a task, as this process knows it, or as n8n has stored it. */
function recognize(
	context: IWebhookFunctions,
	taskId: string,
	credentials: Credentials,
): WaitingExecution | undefined {
	const executionId = context.getExecutionId();
	const { name } = context.getNode();
	const key = identifySleep(executionId, name);
	const known = findWaiting(key);
	if (known?.looker.batch.has(taskId)) return known;
	// A copy of a callback for an earlier wait of this execution changes nothing.
	const stored = readStoredWait(context);
	if (!stored || !stored.items.some(({ json }) => json.taskId === taskId)) return undefined;
	const query = new URLSearchParams(context.getQueryData() as Record<string, string>);
	const url = `${stored.resumeUrl}?${query.toString()}`;
	const label = `"${name}" (execution ${executionId})`;
	return new WaitingExecution(key, stored, { url, credentials, logger: context.logger, label });
}

function readStoredWait(
	context: IWebhookFunctions,
): (StoredWait & Pick<Wait<unknown>, 'resumeUrl'>) | undefined {
	const { items, entry } = readParked<Wait<WaitSettings>>(context, STORED_WAIT);
	if (entry?.parkedUntil === undefined) return undefined;
	return { items, settings: entry.settings, until: entry.parkedUntil, resumeUrl: entry.resumeUrl };
}

/**
 * Asks for the task of a callback, and if it has ended for others, first one and then several at once,
 * until one is found that has not ended. Usually that is the first. If there is none, or the limit has
 * passed, the execution continues.
 */
async function deliverOnceEnded(
	context: IWebhookFunctions,
	waiting: WaitingExecution,
	taskId: string,
	credentials: Credentials,
): Promise<Outcome> {
	const { looker, stored } = waiting;
	const { batch } = looker;
	const service = new TaskService(context, credentials);
	const { helpers } = context;
	const getSource = () => ({ service, helpers });
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
	if (!waiting.beginDelivery()) return { refusal: 'resultsUnderWay' };
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

/** Answers the sender, or hands the items to n8n, which answers when it has stored them. */
function respond(
	context: IWebhookFunctions,
	waiting: WaitingExecution,
	outcome: Outcome,
): IWebhookResponseData {
	if ('items' in outcome)
		return handOver(outcome.items, () => {
			waiting.stop();
			return { accepted: true, resumed: true } satisfies IDataObject;
		});
	return outcome.refusal ? refuse(context, outcome.refusal) : accept(context);
}

const accept = (context: IWebhookFunctions): IWebhookResponseData =>
	answer(context, 200, { accepted: true, resumed: false });
