import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { CallbackAttempt, createCallbacks } from './callbacks.cts';
import { dialects } from './dialects.cts';
import type { TaskFaults } from './faults.cts';
import type { Context } from './index.cts';
import type { TaskOrder } from './models.cts';
import type { Result } from './results.cts';

/** What is known of a task when it is ordered. */
interface NewTask extends TaskOrder {
	result: Result;
	creditsConsumed: number;
	faults: TaskFaults;
}

/** Times are in ms. */
export interface TaskRecord extends NewTask {
	taskId: string;
	state: string;
	createTime: number;
	updateTime: number;
	completeTime: number | null;
	callbacks: CallbackAttempt[];
	/** How often details were asked for. */
	detailsRequests: number;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** Runs tasks from their creation to the last callback. */
export function createLifecycle(context: Context, callbacks: ReturnType<typeof createCallbacks>) {
	const { settings, closing, tasks, wait } = context;
	/** Each settles when the task has ended and its callbacks too. */
	const lives = new Map<TaskRecord, Promise<void>>();

	const move = (record: TaskRecord, state: string) =>
		Object.assign(record, { state, updateTime: Date.now() });

	function refund(record: TaskRecord) {
		settings.credits += record.creditsConsumed;
		record.creditsConsumed = 0;
	}

	async function live(record: TaskRecord) {
		const { fail, failCode, neverEnds, slow: seconds = settings.taskSeconds } = record.faults;
		const { states, refundsFailures } = dialects[settings.dialect];
		for (const state of states) {
			move(record, state);
			await wait(seconds / states.length);
		}
		if (neverEnds) await once(closing, 'abort');
		record.completeTime = Date.now();
		if (failCode !== undefined || (fail && refundsFailures)) refund(record);
		move(record, fail || failCode !== undefined ? 'fail' : 'success');
		await callbacks.deliver(record);
	}

	/** @throws {Error} when there is no such task */
	function get(taskId: string) {
		const record = tasks.get(taskId);
		if (!record) throw new Error(`There is no task ${taskId}`);
		return record;
	}

	/** Makes a task and starts its life. */
	function create(order: NewTask) {
		const now = Date.now();
		const record: TaskRecord = {
			...order,
			taskId: randomBytes(16).toString('hex'),
			state: 'waiting',
			createTime: now,
			updateTime: now,
			completeTime: null,
			callbacks: [],
			detailsRequests: 0,
		};
		tasks.set(record.taskId, record);
		const life = live(record).catch((error) => {
			if (!closing.aborted) throw error;
		});
		lives.set(record, life);
		return record;
	}

	/**
	 * Waits until a task has ended and its callbacks too.
	 * @throws {Error} when there is no such task
	 */
	async function waitForTask(taskId: string) {
		const record = get(taskId);
		await lives.get(record);
		return record;
	}

	/** Waits until every task that can end has ended, and its callbacks too. */
	async function idle() {
		for (let settled = 0; settled < lives.size; ) {
			settled = lives.size;
			const ending = [...lives].filter(([{ faults }]) => !faults.neverEnds);
			await Promise.all(ending.map(([, life]) => life));
		}
	}

	return { create, get, idle, waitForTask };
}
