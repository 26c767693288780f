import type { TaskService } from '../api/client';
import type { Task } from '../api/task';

/** The task of an item, however it came by it. Waiting for tasks takes this, and knows no creation. */
export interface TaskWork {
	/** The item's. */
	index: number;
	service: TaskService;
	task: Task;
	/** It is of an earlier execution, and the service calls that one back. */
	elsewhere?: boolean;
}
