import { sleep } from 'n8n-workflow';
import type { RequestSettings, TaskService } from '../../service/client';
import { timedOut, type Task } from '../../service/task';
import { inParallel } from '../parallel';

const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 30_000;
const GROWTH = 1.5;
const REQUESTS_AT_ONCE = 5;

/**
 * Looks once at every task that has not ended. One that can't be looked at now stays as it was: what is passing must
 * not end a wait, and what is not ends with it.
 */
export async function lookOnce(
	tasks: Task[],
	service: TaskService,
	settings: RequestSettings,
): Promise<Task[]> {
	const looked = await inParallel(
		tasks,
		async (task) =>
			task.status === 'pending'
				? await service.getTask(task.taskId, settings).catch(() => task)
				: task,
		{ atOnce: REQUESTS_AT_ONCE },
	);
	return looked.filter((task) => task !== undefined);
}

/**
 * Looks at the tasks one after the other, as far as the first that has not ended.
 * @returns the tasks as they are known then
 */
export async function lookUntilPending(
	tasks: Task[],
	service: TaskService,
	settings: RequestSettings,
): Promise<Task[]> {
	const looked = [...tasks];
	for (const [index, task] of tasks.entries()) {
		const [now] = await lookOnce([task], service, settings);
		if (!now || now.status === 'pending') break;
		looked[index] = now;
	}
	return looked;
}

/** The tasks as they come out when the limit passes: those that have not ended with status `timedOut`. */
export const asTimedOut = (tasks: Task[]): Task[] => tasks.map(timedOut);

export const allEnded = (tasks: Task[]): boolean =>
	tasks.every(({ status }) => status !== 'pending');

/**
 * Looks at all tasks together, with pauses that grow from 2 to 30 seconds, until they have ended or the limit passes.
 * @param limit milliseconds from now
 * @param signal ends the wait when the execution is cancelled
 * @returns the tasks, in their order; those that have not ended with status `timedOut`
 */
export async function pollUntilEnded(
	tasks: Task[],
	service: TaskService,
	{ limit, settings, signal }: { limit: number; settings: RequestSettings; signal?: AbortSignal },
): Promise<Task[]> {
	const end = Date.now() + limit;
	let now = tasks;
	for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * GROWTH, LONGEST_PAUSE)) {
		const left = end - Date.now();
		if (allEnded(now) || left <= 0 || signal?.aborted) return asTimedOut(now);
		const jittered = pause * (0.75 + Math.random() / 2);
		await Promise.race([sleep(Math.min(jittered, left)), aborted(signal)]);
		now = await lookOnce(now, service, settings);
	}
}

const aborted = async (signal?: AbortSignal): Promise<void> =>
	await new Promise((resolve) =>
		signal?.addEventListener('abort', () => resolve(), { once: true }),
	);
