import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { TaskService } from '../../api/client';
import type { Task } from '../../api/task';
import { BoundedMap } from '../../api/boundedMap';
import {
	answer,
	ANSWER_LIMIT,
	DETAILS_SETTINGS,
	DETAILS_UNAVAILABLE,
	handOver,
	refuse,
	TASK_NOT_ENDED,
	type Refused,
} from '../../callback/respond';
import { readSharedCredentials } from '../../callback/sharedCredentials';
import { DEFAULT_TOLERANCE_SECONDS, getSigningSecrets } from '../../callback/signature';
import { verifyCallback } from '../../callback/verify';

/** How many tasks of a batch are asked for at once, at the most. */
const WIDTH = 32;

/**
 * Tasks that this process saw ended, while their batch waits for others. Only a hint that saves requests: another process, or
 * this one after a restart, asks the service again.
 */
const endedTasks = new BoundedMap<string, Task>(5_000);

/** Requests for details under way, shared by callbacks that ask for the same other tasks. */
const requests = new Map<string, Promise<Task>>();

/** A batch that a callback checks, or that goes on already. */
interface Batch {
	/** Milliseconds since 1970. */
	since: number;
	/** Another callback came meanwhile: its task may be the one that was missing. */
	again: boolean;
	/** n8n has stored that the execution goes on. */
	isResumed: boolean;
}

/**
 * Batches by their first task. Of callbacks that arrive together one checks and resumes; the others are answered at once.
 * Between processes, n8n itself lets one of them change the execution from waiting to running.
 */
const batches = new BoundedMap<string, Batch>(1_000);

const TASK_NOT_IN_EXECUTION: Refused = {
	status: 404,
	reason: 'taskNotInExecution',
	message: 'This execution waits for other tasks',
};

/**
 * Receives a callback for a parked execution. The execution goes on, with one Task for each item, once every parked task has
 * ended by its details. Nothing is thrown: n8n would drop the data of the run and go on with an empty item.
 */
export async function resumeExecution(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await resume(context);
	} catch {
		return refuse(context, DETAILS_UNAVAILABLE);
	}
}

async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	// Both are I/O-bound; run them together.
	const [credentials, parked] = await Promise.all([
		readSharedCredentials(context),
		readParkedItems(context),
	]);
	const verdict = verifyCallback(context.getHeaderData(), context.getBodyData(), {
		secrets: getSigningSecrets(credentials),
		toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
		now: Date.now(),
	});
	if (!verdict.accepted) return refuse(context, verdict);
	const ids = parked.flatMap(({ json }) => (typeof json.taskId === 'string' ? [json.taskId] : []));
	if (!ids.includes(verdict.taskId)) return refuse(context, TASK_NOT_IN_EXECUTION);

	const service = new TaskService(context, credentials);
	// Asked for anew: a request that is under way may have begun before the task ended.
	const { status } = await getTask(service, verdict.taskId, { anew: true });
	if (status === 'pending') return refuse(context, TASK_NOT_ENDED);

	const key = `${credentials.baseUrl} ${ids[0]}`;
	const current = batches.get(key);
	if (current && (current.isResumed || Date.now() - current.since < ANSWER_LIMIT)) {
		current.again = true;
		return answer(context, 200, { accepted: true, resumed: false });
	}
	const batch: Batch = { since: Date.now(), again: false, isResumed: false };
	batches.set(key, batch);
	const release = () => {
		if (batches.get(key) === batch && !batch.isResumed) batches.delete(key);
	};
	let isHandedOver = false;
	try {
		do {
			Object.assign(batch, { since: Date.now(), again: false });
			const items = await collectEnded(parked, service);
			if (!items) continue;
			isHandedOver = true;
			// n8n answers with a refusal when it could not store that the execution goes on: a copy may resume it then.
			const response = context.getResponseObject();
			response.once('close', () => response.writableEnded && release());
			return handOver(items, () => {
				batch.isResumed = true;
				for (const id of ids) endedTasks.delete(toKey(service, id));
				return { accepted: true, resumed: true };
			});
		} while (batch.again);
	} finally {
		if (!isHandedOver) release();
	}
	return answer(context, 200, { accepted: true, resumed: false });
}

/** Reads the items that were parked: n8n has them as the node's input. */
const readParkedItems = async (context: IWebhookFunctions): Promise<INodeExecutionData[]> =>
	context.evaluateExpression('{{ $input.all() }}') as unknown as INodeExecutionData[];

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
