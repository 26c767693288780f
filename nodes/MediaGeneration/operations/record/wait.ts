import type { INodeExecutionData } from 'n8n-workflow';
import type { Task } from '../../api/task';
import type { Failures } from '../../run/errors';

export type HowToWait = 'automatic' | 'callback' | 'polling';

/** The settings of a run's wait. n8n stores them with the execution, for its webhook. */
export interface WaitSettings {
	/** The longest wait, in milliseconds. */
	limit: number;
	/** For each request for details. */
	timeoutSeconds: number;
	/**
	 * Absent: files are not downloaded. `field` is the binary field of the first file. Without a
	 * limit of its size, `maxBytes` is Infinity, which n8n stores as null.
	 */
	downloads?: { field: string; maxBytes: number | null };
	/** Each file of a task becomes an item of its own. */
	perFile?: boolean;
	/** A task that failed, or has not ended at the limit, is the error of its item, or is output. */
	failedTasks: 'error' | 'output';
}

/** The wait of a run. Retry On Fail continues it, with the same limit. */
export interface Wait {
	settings: WaitSettings & { howToWait: HowToWait };
	/**
	 * When all tasks were created, or before that, when the service took no more at once, in
	 * milliseconds since 1970.
	 */
	begun?: number;
	/** Present while the execution sleeps. */
	asleep?: Sleep;
}

/** What a run keeps for its continuation while the execution sleeps. */
export interface Sleep {
	/** Counts the sleeps of the node in this execution. */
	number: number;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
	/** The input of the node: n8n stores other items in its place. */
	input: Array<INodeExecutionData[] | null>;
	/** The errors of the items that have no task. */
	failures: Failures;
	/** The tasks that have ended, once a webhook wakes the execution. Only a webhook sets it. */
	woken?: Task[];
}
