import {
	sleep,
	type IDataObject,
	type INodeExecutionData,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../../api/client';
import type { Task } from '../../api/task';
import { BoundedMap } from '../../lib/boundedMap';
import { DEFAULT_TOLERANCE_SECONDS, getSigningSecrets } from '../../callback/signature';
import { verifyCallback } from '../../callback/verify';
import {
	answer,
	ANSWER_LIMIT,
	DETAILS_SETTINGS,
	DETAILS_UNAVAILABLE,
	handOver,
	readSharedCredentials,
	refuse,
	TASK_NOT_ENDED,
	type Refused,
} from '../../callback/webhook';
import { isToolNode } from '../nodeContext';
import type { Parked } from './park';
import type { OutputItem } from '../operation';
import { ResultDownloads, type DownloadOptions } from '../results/resultDownloads';
import type { FileSource } from '../results/resultFiles';
import { toToolResult } from './toolResult';

/** At most so many tasks of a batch are asked for at once. */
const WIDTH = 32;

/**
 * Tasks that this process saw ended, while their batch waits for others. Only a hint that saves requests: another process, or
 * this one after a restart, asks the service again.
 */
const endedTasks = new BoundedMap<string, Task>(5_000);

/** Requests for details under way, shared by callbacks that ask for the same other tasks. */
const requests = new Map<string, Promise<Task>>();

/** A batch that a callback checks, or that continues already. */
interface Batch {
	/** Milliseconds since 1970. */
	since: number;
	/** Another callback came meanwhile: its task may be the one that was missing. */
	again: boolean;
	/** All tasks have ended, so no more files are to be fetched. */
	isHandedOver: boolean;
	/** n8n has stored that the execution continues. */
	isResumed: boolean;
	/** The execution continues when the files are there, of which the sender did not wait for the end. */
	isDownloading: boolean;
}

/**
 * Batches by their first task. Of callbacks that arrive together one checks and resumes; the others are answered at once.
 * Between processes, n8n itself lets one of them change the execution from waiting to running.
 */
const batches = new BoundedMap<string, Batch>(1_000);

/**
 * Downloads of the batches that wait, by their first task. n8n may keep files in memory, so they are dropped when their batch goes
 * on, or when its limit has passed: n8n does not tell then, nor when another process was first.
 */
const downloadsOfBatches = new BoundedMap<string, { downloads: ResultDownloads; until: number }>(
	100,
);

/** A sender is answered within this time, in milliseconds, whether the files are there or not. */
const ANSWER_WITHIN = 5_000;

/** The execution continues so long before the wait limit, in milliseconds, without the files that are missing. */
const BEFORE_LIMIT = 2_000;

/** The longest time that a timer of Node takes, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

const LIMIT_PASSED =
	"The wait limit passed before the file was complete. Get it with Download, or raise 'Limit Wait Time'.";

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
 * Receives a callback for a parked execution. The execution continues, with one Task for each item, once every parked task has
 * ended by its details. Nothing is thrown: n8n would drop the data of the run and continue with an empty item.
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
	// Both are I/O-bound; run them together.
	const [credentials, { items: parked, until, settings: downloading }] = await Promise.all([
		readSharedCredentials(context),
		readParked(context),
	]);
	const verdict = verifyCallback(context.getHeaderData(), context.getBodyData(), {
		secrets: getSigningSecrets(credentials),
		toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
		now: begun,
	});
	if (!verdict.accepted) return refuse(context, verdict);
	const ids = parked.flatMap(({ json }) => (typeof json.taskId === 'string' ? [json.taskId] : []));
	if (!ids.includes(verdict.taskId)) return refuse(context, TASK_NOT_IN_EXECUTION);

	const service = new TaskService(context, credentials);
	// Asked for anew: a request that is under way may have begun before the task ended.
	const task = await getTask(service, verdict.taskId, { anew: true });
	if (task.status === 'pending') return refuse(context, TASK_NOT_ENDED);

	const key = `${credentials.baseUrl} ${ids[0]}`;
	const current = batches.get(key);
	if (current?.isDownloading) return answerUnderWay(context);
	const isBusy = current && (current.isResumed || Date.now() - current.since < ANSWER_LIMIT);
	const download =
		downloading && !(isBusy && current.isHandedOver)
			? openDownloads(context, service, key, downloading, until)
			: undefined;
	void download?.(task);
	if (isBusy) {
		current.again = true;
		return answer(context, 200, { accepted: true, resumed: false });
	}
	const batch: Batch = {
		since: begun,
		again: false,
		isHandedOver: false,
		isResumed: false,
		isDownloading: false,
	};
	batches.set(key, batch);
	const release = () => {
		if (batches.get(key) === batch && !batch.isResumed) batches.delete(key);
	};
	try {
		do {
			Object.assign(batch, { since: Date.now(), again: false });
			const ended = await collectEnded(parked, service);
			if (!ended) continue;
			batch.isHandedOver = true;
			const complete = download && addFiles(ended, download, until);
			const toOutput = (items: INodeExecutionData[]) =>
				isToolNode(context) ? items.map(toToolItem) : items;
			const items = complete
				? await Promise.race([complete, sleep(begun + ANSWER_WITHIN - Date.now())])
				: ended;
			if (!items) {
				batch.isDownloading = true;
				answerUnderWay(context);
				const workflowData = [toOutput((await complete) ?? ended)];
				Object.assign(batch, { since: Date.now(), isDownloading: false });
				downloadsOfBatches.delete(key);
				return { noWebhookResponse: true, workflowData };
			}
			// n8n answers with a refusal when it could not store that the execution continues: a copy may resume it then.
			const response = context.getResponseObject();
			response.once('close', () => response.writableEnded && release());
			return handOver(toOutput(items), () => {
				batch.isResumed = true;
				downloadsOfBatches.delete(key);
				for (const id of ids) endedTasks.delete(toKey(service, id));
				return { accepted: true, resumed: true };
			});
		} while (batch.again);
	} finally {
		if (!batch.isHandedOver) release();
	}
	return answer(context, 200, { accepted: true, resumed: false });
}

/** Makes of a task's item what an agent's model is told. */
const toToolItem = (item: INodeExecutionData): INodeExecutionData =>
	typeof item.json.taskId === 'string'
		? {
				...item,
				json: toToolResult(item.json as unknown as Task) as unknown as IDataObject,
			}
		: item;

const answerUnderWay = (context: IWebhookFunctions): IWebhookResponseData => {
	const { status, reason, message } = RESULTS_UNDER_WAY;
	return answer(context, status, { accepted: false, reason, message });
};

type ParkedBatch = Pick<Parked, 'until'> & {
	items: INodeExecutionData[];
	settings?: DownloadOptions;
};

/** Reads what was parked: n8n has the items as the node's input, and the rest in the node's context. */
async function readParked(context: IWebhookFunctions): Promise<ParkedBatch> {
	const name = JSON.stringify(context.getNode().name).replaceAll('}', '\\u007d');
	const { items, parked } = context.evaluateExpression(
		`{{ { items: $input.all(), parked: $node[${name}].context.parked } }}`,
	) as unknown as { items: INodeExecutionData[]; parked?: Parked };
	return { items, until: parked?.until ?? 0, settings: parked?.settings as DownloadOptions };
}

/**
 * Opens the downloads of a batch, which its callbacks in this process share: each begins with the files of its task, and continues
 * after its sender was answered. n8n stores files with the execution, so those of a process that ended are removed with it.
 * @returns begins to download the files of a task, and returns its item; nothing is thrown
 */
function openDownloads(
	{ helpers }: IWebhookFunctions,
	service: TaskService,
	key: string,
	{ timeoutSeconds, ...options }: DownloadOptions,
	until: number,
): (task: Task) => Promise<OutputItem> {
	for (const [other, batch] of downloadsOfBatches)
		if (batch.until < Date.now()) downloadsOfBatches.delete(other);
	const { downloads } = downloadsOfBatches.get(key) ?? { downloads: new ResultDownloads(options) };
	downloadsOfBatches.set(key, { downloads, until });
	const source: FileSource = { helpers, service, settings: { timeoutSeconds } };
	return async (task) => await downloads.start(task, source);
}

/** Adds their files to the items of tasks. Those that are not there when the wait limit passes are left out. */
async function addFiles(
	items: INodeExecutionData[],
	download: (task: Task) => Promise<OutputItem>,
	until: number,
): Promise<INodeExecutionData[]> {
	const isComplete = new AbortController();
	const left = Math.min(until - BEFORE_LIMIT - Date.now(), LONGEST_TIMER);
	const limit = sleep(left, isComplete.signal).catch(() => undefined);
	const all = await Promise.all(
		items.map(async (item) => {
			const task = item.json as unknown as Task;
			if (task.status !== 'completed') return item;
			const found = await Promise.race([download(task), limit]);
			return {
				...item,
				...(found ?? { json: { ...task, downloadError: LIMIT_PASSED } }),
			} as INodeExecutionData;
		}),
	);
	isComplete.abort();
	return all;
}

const toKey = ({ credentials }: TaskService, taskId: string): string =>
	`${credentials.baseUrl} ${taskId}`;

/** Reads a task that has ended from memory, any other from the service. */
async function getTask(service: TaskService, taskId: string, { anew = false } = {}): Promise<Task> {
	const key = toKey(service, taskId);
	const known = endedTasks.get(key);
	if (known) return known;
	const underway = anew ? undefined : requests.get(key);
	const request = underway ?? service.getTask(taskId, DETAILS_SETTINGS);
	requests.set(key, request);
	try {
		const task = await request;
		if (task.status !== 'pending') endedTasks.set(key, task);
		return task;
	} finally {
		if (requests.get(key) === request) requests.delete(key);
	}
}

/**
 * Asks for the parked tasks, one at first and then more at once, until one is found that has not ended: as a rule that is the first.
 * @returns the items with their tasks; undefined when a task has not ended
 */
async function collectEnded(
	parked: INodeExecutionData[],
	service: TaskService,
): Promise<INodeExecutionData[] | undefined> {
	const tasks = new Map<string, Task>();
	const waiting = parked
		.filter(({ json }) => json.status === 'timedOut')
		.map(({ json }) => json.taskId as string)
		.filter((taskId) => {
			const known = endedTasks.get(toKey(service, taskId));
			if (known) tasks.set(taskId, known);
			return !known;
		});
	for (let next = 0, width = 1; next < waiting.length; width = Math.min(2 * width, WIDTH)) {
		const some = waiting.slice(next, (next += width));
		const found = await Promise.all(some.map(async (taskId) => await getTask(service, taskId)));
		some.forEach((taskId, index) => tasks.set(taskId, found[index] as Task));
		if (found.some(({ status }) => status === 'pending')) return undefined;
	}
	return parked.map((item) => {
		const task = tasks.get(item.json.taskId as string);
		return task ? { ...item, json: task as unknown as IDataObject } : item;
	});
}
