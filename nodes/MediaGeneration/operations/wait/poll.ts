import { sleep } from 'n8n-workflow';
import { markTimedOut, type Task } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { CONCURRENCY, type Item } from '../operation';

const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 30_000;
const GROWTH = 1.5;

/** A task that was created for an item. */
export interface CreatedTask {
	item: Item;
	task: Task;
}

/** Asks for a task that has not ended. Errors are ignored: transient ones recover, others run into the wait limit. */
async function check(
	{ item, task }: CreatedTask,
	onEnded?: (ended: CreatedTask) => void,
): Promise<CreatedTask> {
	if (hasEnded(task)) return { item, task };
	const now = await item.service.getTask(task.taskId, item.settings).catch(() => task);
	if (hasEnded(now)) onEnded?.({ item, task: now });
	return { item, task: now };
}

/**
 * Checks the tasks until one is found that has not ended.
 * @returns the tasks as they are known then
 */
export async function checkUntilPending(created: CreatedTask[]): Promise<Task[]> {
	const checked = await mapConcurrent(created, async (one) => await check(one), {
		concurrency: CONCURRENCY,
		isLast: ({ task }) => !hasEnded(task),
	});
	return created.map(({ task }, index) => checked[index]?.task ?? task);
}

export const hasEnded = ({ status }: Task): boolean => status !== 'pending';

/** The tasks as they are output when the limit passes. */
export const markAllTimedOut = (tasks: Task[]): Task[] => tasks.map(markTimedOut);

/**
 * Checks all tasks together, with pauses that grow from 2 to 30 seconds, until they have ended or the limit passes.
 * @param limit milliseconds from now
 * @param signal ends the wait when the execution is stopped
 * @param onEnded is told each task as it ends
 * @returns the tasks, in their order; those that have not ended with status `timedOut`
 */
export async function pollUntilEnded(
	created: CreatedTask[],
	{
		limit,
		signal,
		onEnded,
	}: { limit: number; signal?: AbortSignal; onEnded?: (ended: CreatedTask) => void },
): Promise<Task[]> {
	const end = Date.now() + limit;
	let now = created;
	for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * GROWTH, LONGEST_PAUSE)) {
		const left = end - Date.now();
		const tasks = now.map(({ task }) => task);
		if (tasks.every(hasEnded) || left <= 0 || signal?.aborted) return markAllTimedOut(tasks);
		const jittered = pause * (0.75 + Math.random() / 2);
		await Promise.race([sleep(Math.min(jittered, left)), waitForAbort(signal)]);
		const checked = await mapConcurrent(now, async (one) => await check(one, onEnded), {
			concurrency: CONCURRENCY,
		});
		now = now.map((one, index) => checked[index] ?? one);
	}
}

const waitForAbort = async (signal?: AbortSignal): Promise<void> =>
	await new Promise((resolve) =>
		signal?.addEventListener('abort', () => resolve(), { once: true }),
	);
