import { taskResult, type TaskRecord } from './schemas';

/** The service's many states in four words. `timedOut`: our wait ended, the task goes on. */
export type TaskStatus = 'pending' | 'completed' | 'failed' | 'timedOut';

/**
 * A task as every operation and the trigger output it. A key is absent where nothing is known. The files in `__schema__`
 * describe the same to the editor.
 */
export interface Task {
	taskId: string;
	status?: TaskStatus;
	/** Links to the results; they expire. Empty while there are none. */
	resultUrls?: string[];
	model?: string;
	/** The service's own word for the status. */
	state?: string;
	/** The parsed result, whole. */
	result?: unknown;
	failCode?: string;
	failMessage?: string;
	creditsConsumed?: number;
	/** ISO 8601, UTC. */
	createdAt?: string;
	/** ISO 8601, UTC. */
	completedAt?: string;
}

const COMPLETED_STATES = new Set(['success', 'succeeded', 'completed']);
const FAILED_STATES = new Set(['fail', 'failed']);

/** A state that is not known has not ended. */
export function toStatus(state: string): TaskStatus {
	const word = state.toLowerCase();
	if (COMPLETED_STATES.has(word)) return 'completed';
	return FAILED_STATES.has(word) ? 'failed' : 'pending';
}

/** A task right after its creation. */
export function newTask(taskId: string, model: string): Task {
	return { taskId, status: 'pending', resultUrls: [], model };
}

/** The task as it is output when the wait for it ends. */
export const markTimedOut = (task: Task): Task =>
	task.status === 'pending' ? { ...task, status: 'timedOut' } : task;

/** Reads a task record of the service. */
export function toTask(record: TaskRecord): Task {
	const result = taskResult.safeParse(record.resultJson);
	const status = toStatus(record.state);
	return dropUndefined({
		taskId: record.taskId,
		status,
		resultUrls: result.success ? result.data.resultUrls : [],
		model: record.model,
		state: record.state,
		result: record.resultJson ?? undefined,
		failCode: status === 'failed' ? record.failCode : undefined,
		failMessage: status === 'failed' ? record.failMsg : undefined,
		creditsConsumed: record.creditsConsumed,
		createdAt: toIsoTime(record.createTime),
		completedAt: toIsoTime(record.completeTime),
	});
}

function toIsoTime(milliseconds?: number): string | undefined {
	const time = new Date(milliseconds || NaN);
	return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

function dropUndefined<T extends object>(value: T): T {
	return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;
}
