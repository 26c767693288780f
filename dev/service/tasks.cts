import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { SentCallback, createCallbacks } from './callbacks.cts';
import { dialects } from './dialects.cts';
import type { TaskFaults } from './faults.cts';
import type { Context } from './index.cts';
import type { Creation } from './models.cts';
import type { Result } from './results.cts';

/** A creation that the service takes, and what is known of its task by then. */
interface AcceptedCreation extends Creation {
	result: Result;
	creditsConsumed: number;
	faults: TaskFaults;
}

/** Times are in ms. */
export interface TaskRecord extends AcceptedCreation {
	taskId: string;
	state: string;
	createTime: number;
	updateTime: number;
	completeTime: number | null;
	callbacks: SentCallback[];
	/** How often details were asked for. */
	detailsRequests: number;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** Runs tasks from their creation to the last callback. */
export function createLifecycle(context: Context, callbacks: ReturnType<typeof createCallbacks>) {
	const { settings, closing, tasks, wait } = context;
	/** The life of each task: a promise that settles when the task and its callbacks have ended. */
	const lives = new Map<TaskRecord, Promise<void>>();

	const moveTo = (record: TaskRecord, state: string) =>
		Object.assign(record, { state, updateTime: Date.now() });

	function refund(record: TaskRecord) {
		settings.credits += record.creditsConsumed;
		record.creditsConsumed = 0;
	}

	async function runLife(record: TaskRecord) {
		const { fail, failCode, neverEnds, slow: seconds = settings.taskSeconds } = record.faults;
		const { states, refundsFailures } = dialects[settings.dialect];
		for (const state of states) {
			moveTo(record, state);
			await wait(seconds / states.length);
		}
		if (neverEnds) await once(closing, 'abort');
		record.completeTime = Date.now();
		if (failCode !== undefined || (fail && refundsFailures)) refund(record);
		moveTo(record, fail || failCode !== undefined ? 'fail' : 'success');
		await callbacks.deliver(record);
	}

	/** @throws {Error} when there is no such task */
	function getTask(taskId: string) {
		const record = tasks.get(taskId);
		if (!record) throw new Error(`There is no task ${taskId}`);
		return record;
	}

	/** Makes a task and starts its life. */
	function create(creation: AcceptedCreation) {
		const now = Date.now();
		const record: TaskRecord = {
			...creation,
			taskId: randomBytes(16).toString('hex'),
			state: 'waiting',
			createTime: now,
			updateTime: now,
			completeTime: null,
			callbacks: [],
			detailsRequests: 0,
		};
		tasks.set(record.taskId, record);
		const life = runLife(record).catch((error) => {
			if (!closing.aborted) throw error;
		});
		lives.set(record, life);
		return record;
	}

	/**
	 * Waits until a task and its callbacks have ended.
	 * @throws {Error} when there is no such task
	 */
	async function waitForTask(taskId: string) {
		const record = getTask(taskId);
		await lives.get(record);
		return record;
	}

	/** Waits until every task that can end, and its callbacks, have ended. */
	async function waitUntilIdle() {
		for (let settled = 0; settled < lives.size; ) {
			settled = lives.size;
			const ending = [...lives].filter(([{ faults }]) => !faults.neverEnds);
			await Promise.all(ending.map(([, life]) => life));
		}
	}

	return { create, getTask, waitUntilIdle, waitForTask };
}
