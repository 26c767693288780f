import type { Task } from '../../api/task';

/** A task for an agent's model. It is short, because it stays in the model's context. */
export interface ToolResult
	extends Pick<
		Task,
		'taskId' | 'status' | 'resultUrls' | 'result' | 'failCode' | 'failMessage' | 'creditsConsumed'
	> {
	/** Why the last look at a task that has not ended failed. */
	lookError?: string;
	/** The item's file, with One per File. */
	file?: object;
	/** The next step for the model. */
	note?: string;
}

/**
 * Leaves out what a model doesn't need, and adds a note to a task that continues.
 * @param linksOnly the model gets links in place of files, and a note on what to do with them
 */
export function toToolResult(task: Task, { linksOnly = false } = {}): ToolResult {
	const { taskId, status, resultUrls, result, failCode, failMessage, creditsConsumed } = task;
	const {
		lookError,
		file,
		note = linksOnly && resultUrls?.length ? LINKS : undefined,
	} = task as ToolResult;
	return addNote({
		taskId,
		status,
		...(resultUrls?.length ? { resultUrls } : result !== undefined && { result }),
		...(file !== undefined && { file }),
		...(failCode !== undefined && { failCode }),
		...(failMessage !== undefined && { failMessage }),
		...(creditsConsumed !== undefined && { creditsConsumed }),
		...(lookError !== undefined && { lookError }),
		...(note !== undefined && { note }),
	});
}

/** Adds a note to a task that has not ended: what the model should do. */
export const addNote = <T extends Pick<Task, 'status'>>(task: T): T & { note?: string } =>
	task.status === 'timedOut' ? { ...task, note: GOES_ON } : task;

const GOES_ON =
	'The task continues. Do not create it again: look at it later by its taskId, with the operation Get.';

const LINKS =
	'The links usually expire. Show an image to the user as Markdown, ![](link), and any other file as a link. For fresh links, look at the task by its taskId, with the operation Get.';
