import type { TaskService } from '../api/client';
import type { Task } from '../api/task';
import type { CreateRequest, Failed, Item } from './operation';

/** An item that gets a task by this request. */
export interface RequestWork {
	index: number;
	item: Item;
	request: CreateRequest;
	/** The failed task in whose place the new one is created, in a try of n8n. */
	failed?: TaskWork;
}

/** An item with its task, however it came by it. Waiting takes this, and knows no creation. */
export interface TaskWork {
	index: number;
	/** The service, by the item's own credential. A woken run reads that only if it is needed. */
	getService: () => Promise<TaskService>;
	task: Task;
	/** The first words of its prompt, where this node has created it. */
	words?: string;
	/** It is of an earlier execution, and the service calls that one back. */
	elsewhere?: boolean;
	/** Why it was not created again although it failed, without a period. */
	notAgain?: string;
}

/** What a run that creates tasks has to do for an item. */
type Work = RequestWork | TaskWork;

/** What has become of an item; undefined: another one ended the run before. */
export type Step = Work | Failed | undefined;

/** The same, once no request is left. */
export type Created = TaskWork | Failed | undefined;

export const isRequest = (step: Step): step is RequestWork =>
	step !== undefined && 'request' in step;

export const isTask = (step: Step): step is TaskWork => step !== undefined && 'task' in step;
