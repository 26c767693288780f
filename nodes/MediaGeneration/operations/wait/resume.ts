import {
	sleep,
	type IDataObject,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../../api/client';
import type { Task } from '../../api/task';
import {
	DEFAULT_TOLERANCE_SECONDS,
	getSigningSecrets,
	readCallbackParts,
	verifyCallback,
} from '../../callback/verify';
import { answer, handOver, refuse, type Reason } from '../../callback/respond';
import { readBody } from '../../callback/readBody';
import { readSharedCredentials } from '../../callback/sharedCredentials';
import { runAfter, settleBy } from '../../lib/timers';
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

/** A sender is answered within this time, in milliseconds. Senders usually give up after 5 to 15 seconds. */
const ANSWER_WITHIN = 5_000;

/** How long before n8n's own end of the wait the execution continues, in milliseconds. What is missing then is left out. */
const BEFORE_FALLBACK = 2_000;

/** The time before n8n's own end of the wait that the last look leaves for the files, in milliseconds. */
const FILES_AT_LIMIT = 10_000;

/** How early the look at the limit may come, in milliseconds, because two processes may have two clocks. */
const LIMIT_TOLERANCE = 1_000;

/** The time for n8n to store the items if it doesn't report it, in milliseconds. Afterwards n8n answers callbacks by itself. */
const STORED_WITHIN = 3_000;

/**
 * Receives a callback, or a look of our own, for a parked execution. The execution continues, with one Task for each item, once
 * every task has ended by its details, or when the wait limit has passed. Nothing is thrown, because n8n would drop the data of the
 * run and continue with an empty item.
 */
export async function resumeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await resume(context);
	} catch {
		return refuse(context, 'detailsUnavailable');
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
	if (!waiting.batch.has(taskId)) return refuse(context, 'taskNotInExecution');
	const { until, resumeUrl, settings } = waiting.stored;
	const url = addToken(resumeUrl, context);
	const looks = startLooks(key, { url, taskId, secret: secrets?.current, until });
	const sender = new Sender(context);
	if (!waiting.take(taskId))
		return sender.answer(waiting.isDownloading ? 'resultsUnderWay' : undefined);

	sender.answerBy(begun + ANSWER_WITHIN, () => describe(waiting, taskId));
	const service = new TaskService(context, credentials);
	const source: FileSource = { helpers: context.helpers, service, settings };
	const isDue = () => Date.now() >= until - LIMIT_TOLERANCE;
	const look = async (ids: string[]) => await waiting.look(ids, service, source);
	let delivers = true;
	try {
		// A check that has not ended by the limit is given up.
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
		if (!isCurrent) return sender.answer('taskNotInExecution');
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

/** Says why a callback does not count as taken; undefined if its task has ended. */
function describe({ batch, isDownloading }: WaitingExecution, taskId: string): Reason | undefined {
	if (isDownloading) return 'resultsUnderWay';
	if (!batch.isOpen(taskId)) return undefined;
	return batch.isLookedAt(taskId) ? 'taskNotEnded' : 'detailsUnavailable';
}

const isLook = (body: unknown): boolean => readCallbackParts(body)?.callbackType === LOOK;

/** The sender of a callback. It is answered once and in time, even if the callback starts long work. */
class Sender {
	private isAnswered = false;
	private readonly isClosed = new AbortController();

	constructor(private readonly context: IWebhookFunctions) {}

	/** @param until when to answer at the latest, in milliseconds since 1970 */
	answerBy(until: number, describeUnfinished: () => Reason | undefined): void {
		void sleep(until - Date.now(), this.isClosed.signal).then(
			() => this.answer(describeUnfinished()),
			() => {},
		);
	}

	/** @param reason why the callback is refused; absent: it is taken */
	answer(reason?: Reason): IWebhookResponseData {
		if (this.isAnswered) return { noWebhookResponse: true };
		this.isAnswered = true;
		return reason
			? refuse(this.context, reason)
			: answer(this.context, 200, { accepted: true, resumed: false });
	}

	/**
	 * Gives n8n the items. n8n answers the sender when it has stored them, unless the sender was answered before.
	 * @param onAnswered is called when n8n has answered, or has had time to store the items. `onStored` is called before, if it is
	 *   known that n8n has stored that the execution continues.
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

	/** Ends the answer by time. */
	close(): void {
		this.isClosed.abort();
	}
}

/**
 * Makes n8n keep the pairing of the items. n8n would pair them by position, but all files of a task belong to one item. n8n calls
 * `map` of the array that the webhook returns (`workflow-execute.js` of n8n-core 2.41.1, `addPairedItemLineage`; inline in 2.14.2).
 * If that changes, the paired files in `e2e/results` fail first. In queue mode the items reach n8n as JSON, so files after the
 * first are paired with nothing.
 */
function keepPairing(items: INodeExecutionData[]): INodeExecutionData[] {
	const paired = [...items];
	const map = <T>(callback: (item: INodeExecutionData, index: number) => T): T[] =>
		items.map((item, index) => callback(item, readPairedIndex(item) ?? index));
	return Object.defineProperty(paired, 'map', { value: map });
}

const readPairedIndex = ({ pairedItem }: INodeExecutionData): number | undefined =>
	typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : undefined;

/** Turns a task's item into the one for an agent's model. */
const toToolItem = (item: INodeExecutionData): INodeExecutionData =>
	typeof item.json.taskId === 'string'
		? { ...item, json: toToolResult(item.json as unknown as Task) as unknown as IDataObject }
		: item;

/** Adds n8n's token to the resume URL. The callback's query has it. */
const addToken = (resumeUrl: string, context: IWebhookFunctions): string =>
	`${resumeUrl}?${new URLSearchParams(context.getQueryData() as Record<string, string>).toString()}`;

/**
 * Reads what was parked: n8n has the items as the node's input, and the rest in the node's context. A webhook has no function for
 * either, so an expression reads them: `$input` is the first entry of the execution's stack (`webhook-context.js` of n8n-core), and
 * `$node[…].context` the node's context (`workflow-data-proxy.js` of n8n-workflow). Both are the same in 2.14.2 and 2.41.1. If they
 * change, `e2e/createAndWait` fails first.
 */
async function readStored(context: IWebhookFunctions): Promise<StoredWait> {
	const name = JSON.stringify(context.getNode().name).replaceAll('}', '\\u007d');
	const kept = `$node[${name}].context`;
	const { parked, ...stored } = context.evaluateExpression(
		`{{ { items: $input.all(), parked: ${kept}.parked, settings: ${kept}.wait.settings } }}`,
	) as unknown as Pick<StoredWait, 'items' | 'settings'> & { parked: Parked };
	return { ...parked, ...stored };
}
