import type { RequestSettings } from '../../api/exchange';
import type { Task } from '../../api/task';
import { mapConcurrent } from '../../lib/mapConcurrent';
import type { Batch, FailedLook } from './batch';

/** Asks the service for a task. */
type AskForTask = (taskId: string, settings: RequestSettings) => Promise<Task>;

export interface LookOptions {
	ask: AskForTask;
	settings: RequestSettings;
	/** How many tasks are asked for at once. */
	concurrency: number;
	/** Gets the ID of each task that has ended. */
	onEnded?: (taskId: string) => void;
	/** Ends the look after a task that has not ended. */
	untilOpen?: boolean;
	/** When it is aborted, no more tasks are asked for, and `onEnded` is not called any more. */
	signal?: AbortSignal;
}

/** Asks for tasks of a batch, and notes the answers in it, also failed looks. Nothing is thrown. */
export async function lookAt(
	batch: Batch,
	taskIds: string[],
	{ ask, settings, concurrency, onEnded, untilOpen = false, signal }: LookOptions,
): Promise<void> {
	const look = async (taskId: string): Promise<string> => {
		batch.learnAsked(taskId);
		const answer = await ask(taskId, settings).then(
			(task) => ({ task }),
			(error: FailedLook) => ({ error }),
		);
		if ('task' in answer) batch.learn(taskId, answer.task);
		else batch.learnFailure(taskId, answer.error);
		if (!batch.isOpen(taskId) && !signal?.aborted) onEnded?.(taskId);
		return taskId;
	};
	await mapConcurrent(taskIds, look, {
		concurrency,
		isLast: (taskId) => Boolean(signal?.aborted) || (untilOpen && batch.isOpen(taskId)),
	});
}
