import {
	sleep,
	type IDataObject,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../../api/client';
import type { Task } from '../../api/task';
import { DEFAULT_TOLERANCE_SECONDS, getSigningSecrets } from '../../callback/signature';
import { readCallbackParts, verifyCallback } from '../../callback/verify';
import {
	answer,
	DETAILS_UNAVAILABLE,
	handOver,
	refuse,
	TASK_NOT_ENDED,
	type Refused,
} from '../../callback/respond';
import { readBody } from '../../callback/readBody';
import { readSharedCredentials } from '../../callback/sharedCredentials';
import { runAfter } from '../../lib/runAfter';
import { settleBy } from '../../lib/settleBy';
import { isToolNode } from '../nodeContext';
import type { FileSource } from '../results/resultFiles';
import { LOOK, startLooks } from './looks';
import { FALLBACK_AFTER, identifyWait, type Parked } from './park';
import { toToolResult } from './toolResult';
import {
	findWaiting,
	forgetSoon,
	noteWaiting,
	type StoredWait,
	type WaitingExecution,
} from './waitingExecution';

/** A sender is answered within this time, in milliseconds. Senders give up after 5 to 15 seconds. */
const ANSWER_WITHIN = 5_000;

/** The execution continues this long before n8n's own end of the wait, in milliseconds, without what is missing. */
const BEFORE_FALLBACK = 2_000;

/** The last look leaves the files this much of the time before n8n's own end of the wait, in milliseconds. */
const FILES_AT_LIMIT = 10_000;

/** A look counts as the one at the limit if it comes this early, in milliseconds: two processes may have two clocks. */
const LIMIT_TOLERANCE = 1_000;

/**
 * The time that n8n gets to store the items, in milliseconds, where it doesn't say when it has. Once it has, it answers callbacks
 * by itself.
 */
const STORED_WITHIN = 3_000;

const RESULTS_UNDER_WAY: Refused = {
	status: 503,
	reason: 'resultsUnderWay',
	message: 'All tasks have ended, and their files are being downloaded. Retry later.',
};

const TASK_NOT_IN_EXECUTION: Refused = {
	status: 404,
	reason: 'taskNotInExecution',
	message: 'This execution waits for other tasks',
};

/**
 * Receives a callback, or a look of our own, for a parked execution. The execution continues, with one Task for each item, once
 * every task has ended by its details, or when the wait limit has passed. Nothing is thrown: n8n would drop the data of the
 * run and continue with an empty item.
 */
export async function resumeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await resume(context);
	} catch {
		return refuse(context, DETAILS_UNAVAILABLE);
	}
}

async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const begun = Date.now();
	const credentials = await readSharedCredentials(context);
	const secrets = getSigningSecrets(credentials);
	const body = await readBody(context);
	const verdict = verifyCallback(context.getHeaderData(), body, {
		secrets,
		toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
		now: begun,
		otherBodies: true,
	});
	if (!verdict.accepted) return refuse(context, verdict);
	const { taskId } = verdict;
	const key = identifyWait(context.getExecutionId(), context.getNode().name);
	const known = findWaiting(key, taskId);
	const waiting = known ?? noteWaiting(key, await readStored(context));
	if (!waiting.batch.has(taskId)) return refuse(context, TASK_NOT_IN_EXECUTION);
	const { until, resumeUrl, settings } = waiting.stored;
	const url = addToken(resumeUrl, context);
	const looks = startLooks(key, { url, taskId, secret: secrets?.current, until });
	const sender = new Sender(context);
	if (!waiting.take(taskId))
		return sender.answer(waiting.isDownloading ? RESULTS_UNDER_WAY : undefined);

	sender.answerBy(begun + ANSWER_WITHIN, () => describe(waiting, taskId));
	const service = new TaskService(context, credentials);
	const source: FileSource = { helpers: context.helpers, service, settings };
	const isDue = () => Date.now() >= until - LIMIT_TOLERANCE;
	const look = async (ids: string[]) => await waiting.look(ids, service, source);
	let delivers = true;
	try {
		// A check that has not come to its end by the limit is given up.
		delivers = isDue() || ((await settleBy(until, waiting.check(look, isDue))) ?? true);
		if (!delivers) {
			if (isLook(body)) return sender.answer();
			if (waiting.lacksLooks) looks.restart();
			return sender.answer(describe(waiting, taskId));
		}
		waiting.beginDelivery();
		if (!waiting.batch.isEnded)
			await settleBy(until + FALLBACK_AFTER - FILES_AT_LIMIT, look(waiting.batch.openIds));
		await settleBy(until + FALLBACK_AFTER - BEFORE_FALLBACK, waiting.collectFiles(source));
		// Another process may have continued the execution, and it may wait at this node again.
		const isCurrent = !known || known.holds(await readStored(context));
		const items = waiting.handOver();
		forgetSoon(key, waiting);
		if (!isCurrent) return sender.answer(TASK_NOT_IN_EXECUTION);
		return sender.handOver(keepPairing(isToolNode(context) ? items.map(toToolItem) : items), {
			onStored: () => {
				waiting.confirmResumed();
				looks.stop();
			},
			onAnswered: () => waiting.release(),
		});
	} finally {
		sender.close();
		if (delivers) waiting.endDelivery();
	}
}

/** Says what keeps a callback from counting as taken; nothing where its task has ended. */
function describe({ batch, isDownloading }: WaitingExecution, taskId: string): Refused | undefined {
	if (isDownloading) return RESULTS_UNDER_WAY;
	if (!batch.isOpen(taskId)) return undefined;
	return batch.isLookedAt(taskId) ? TASK_NOT_ENDED : DETAILS_UNAVAILABLE;
}

const isLook = (body: unknown): boolean => readCallbackParts(body)?.callbackType === LOOK;

/** The sender of a callback. It is answered once, and in time, however long the work takes that its callback began. */
class Sender {
	private isAnswered = false;
	private readonly isClosed = new AbortController();

	constructor(private readonly context: IWebhookFunctions) {}

	/** @param until when to answer at the latest, in milliseconds since 1970 */
	answerBy(until: number, describeUnfinished: () => Refused | undefined): void {
		void sleep(until - Date.now(), this.isClosed.signal).then(
			() => this.answer(describeUnfinished()),
			() => {},
		);
	}

	/** @param refused absent: the callback is taken */
	answer(refused?: Refused): IWebhookResponseData {
		if (this.isAnswered) return { noWebhookResponse: true };
		this.isAnswered = true;
		if (!refused) return answer(this.context, 200, { accepted: true, resumed: false });
		const { status, reason, message } = refused;
		// Nothing is wrong then, so the owner's log stays as it is.
		if (refused === RESULTS_UNDER_WAY)
			return answer(this.context, status, { accepted: false, reason, message });
		return refuse(this.context, refused);
	}

	/**
	 * Gives n8n the items, which answers when it has stored them. If the sender was answered before, nobody hears of it.
	 * @param onAnswered is called when n8n has answered, or has had the time to store the items; `onStored` comes first, if it is
	 *   known that n8n has stored that the execution continues
	 */
	handOver(
		items: INodeExecutionData[],
		{ onStored, onAnswered }: { onStored: () => void; onAnswered: () => void },
	): IWebhookResponseData {
		if (this.isAnswered) {
			runAfter(STORED_WITHIN, onAnswered);
			return { noWebhookResponse: true, workflowData: [items] };
		}
		this.isAnswered = true;
		const response = this.context.getResponseObject();
		response.once('close', () => response.writableEnded && onAnswered());
		return handOver(items, () => {
			onStored();
			return { accepted: true, resumed: true };
		});
	}

	/** Answers no more by itself. */
	close(): void {
		this.isClosed.abort();
	}
}

/**
 * Has n8n pair the items with those that they say. It would pair them by their position (`addPairedItemLineage`, which maps the items):
 * all files of a task belong to one item. In queue mode the items come to n8n as JSON, where files after the first are paired with nothing.
 */
function keepPairing(items: INodeExecutionData[]): INodeExecutionData[] {
	const paired = [...items];
	const map = <T>(callback: (item: INodeExecutionData, index: number) => T): T[] =>
		items.map((item, index) => callback(item, readPairedIndex(item) ?? index));
	return Object.defineProperty(paired, 'map', { value: map });
}

const readPairedIndex = ({ pairedItem }: INodeExecutionData): number | undefined =>
	typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : undefined;

/** Makes of a task's item what an agent's model is told. */
const toToolItem = (item: INodeExecutionData): INodeExecutionData =>
	typeof item.json.taskId === 'string'
		? { ...item, json: toToolResult(item.json as unknown as Task) as unknown as IDataObject }
		: item;

/** Adds n8n's token to the resume URL, as this callback brought it. */
const addToken = (resumeUrl: string, context: IWebhookFunctions): string =>
	`${resumeUrl}?${new URLSearchParams(context.getQueryData() as Record<string, string>).toString()}`;

/** Reads what was parked: n8n has the items as the node's input, and the rest in the node's context. */
async function readStored(context: IWebhookFunctions): Promise<StoredWait> {
	const name = JSON.stringify(context.getNode().name).replaceAll('}', '\\u007d');
	const kept = `$node[${name}].context`;
	const { parked, ...stored } = context.evaluateExpression(
		`{{ { items: $input.all(), parked: ${kept}.parked, settings: ${kept}.wait.settings } }}`,
	) as unknown as Pick<StoredWait, 'items' | 'settings'> & { parked: Parked };
	return { ...parked, ...stored };
}
