import type { Task } from '../../api/task';
import { CONCURRENCY, type Item, type OutputItem } from '../operation';
import { Batch } from './batch';
import { lookAt, type LookOptions } from './look';
import type { WaitSettings } from './waitingExecution';

/** A task of the run, and its item. */
export interface CreatedTask {
	item: Item;
	task: Task;
}

/** The wait for the tasks of a run while its execution is awake: after creation, and while it polls. */
export interface AwakeWait {
	batch: Batch;
	look: Pick<LookOptions, 'ask' | 'settings' | 'onEnded' | 'concurrency'>;
	/** Asks for tasks until one is found that has not ended. */
	checkUntilOpen: () => Promise<void>;
	/** Waits for the files of the tasks that have completed. */
	collectFiles: () => Promise<void>;
}

/** Opens the wait for these tasks. The code for downloads is loaded only if the run downloads. */
export async function openAwakeWait(
	created: CreatedTask[],
	settings: WaitSettings,
): Promise<AwakeWait> {
	const batch = new Batch(
		created.map(({ task }) => task),
		settings.downloads !== undefined,
		settings.perFile,
	);
	const items = new Map(created.map(({ item, task }) => [task.taskId, item]));
	const getItem = (taskId: string): Item => items.get(taskId) as Item;
	const startDownload =
		settings.downloads && (await openDownloads(settings.downloads, settings.perFile));
	const download = async (taskId: string): Promise<void> => {
		const task = batch.getCompleted(taskId);
		if (task && startDownload) batch.learnFiles(taskId, await startDownload(task, getItem(taskId)));
	};
	const look = {
		ask: async (taskId, how) => await getItem(taskId).service.getTask(taskId, how),
		settings,
		onEnded: (taskId) => void download(taskId),
		concurrency: CONCURRENCY,
	} satisfies AwakeWait['look'];
	return {
		batch,
		look,
		checkUntilOpen: async () => await lookAt(batch, batch.openIds, { ...look, untilOpen: true }),
		collectFiles: async () => void (await Promise.all(batch.completedIds.map(download))),
	};
}

async function openDownloads(
	options: NonNullable<WaitSettings['downloads']>,
	perFile?: boolean,
): Promise<(task: Task, item: Item) => Promise<OutputItem[]>> {
	const { ResultDownloads } = await import('../results/resultDownloads');
	const { toFileSource } = await import('../results/resultFiles');
	const downloads = new ResultDownloads(options, perFile);
	return async (task, item) => await downloads.start(task, toFileSource(item));
}
