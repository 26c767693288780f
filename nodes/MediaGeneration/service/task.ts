import { taskResult, type TaskRecord } from './contract';

/** How a task stands: the service's many words in four. `timedOut`: our wait ended, the task goes on. */
export type TaskStatus = 'pending' | 'completed' | 'failed' | 'timedOut';

/**
 * A task as every operation and the trigger give it out, what workflows need most first. A key is absent where nothing
 * is known. The files in `__schema__` tell the editor the same.
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

/** The status that a state stands for; a state that is not known has not ended. */
export function statusOf(state: string): TaskStatus {
	const word = state.toLowerCase();
	if (COMPLETED_STATES.has(word)) return 'completed';
	return FAILED_STATES.has(word) ? 'failed' : 'pending';
}

/** A task that was just created. */
export function createdTaskOf(taskId: string, model: string): Task {
	return { taskId, status: 'pending', resultUrls: [], model };
}

/** A task as it comes out when the wait for it ends: one that has not ended goes on without us. */
export const timedOut = (task: Task): Task =>
	task.status === 'pending' ? { ...task, status: 'timedOut' } : task;

/** The Task that a task record of the service describes. */
export function taskOf(record: TaskRecord): Task {
	const result = taskResult.safeParse(record.resultJson);
	const status = statusOf(record.state);
	return withoutUnknown({
		taskId: record.taskId,
		status,
		resultUrls: result.success ? result.data.resultUrls : [],
		model: record.model,
		state: record.state,
		result: record.resultJson ?? undefined,
		failCode: status === 'failed' ? record.failCode : undefined,
		failMessage: status === 'failed' ? record.failMsg : undefined,
		creditsConsumed: record.creditsConsumed,
		createdAt: isoTime(record.createTime),
		completedAt: isoTime(record.completeTime),
	});
}

function isoTime(milliseconds?: number): string | undefined {
	const time = new Date(milliseconds || NaN);
	return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

function withoutUnknown<T extends object>(value: T): T {
	return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;
}
