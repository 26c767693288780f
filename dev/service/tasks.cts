import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallbackAttempt, createCallbacks } from './callbacks.cts';
import type { TaskFaults } from './faults.cts';
import type { Context } from './index.cts';
import type { TaskOrder } from './models.cts';
import { formatResult, type Result } from './results.cts';

/** In percent, by state. */
const progress = { waiting: 0, queuing: 10, generating: 50, success: 100, fail: 100 };

export type TaskState = keyof typeof progress;

/** Times are in ms. */
export interface TaskRecord extends TaskOrder {
	taskId: string;
	result: Result;
	state: TaskState;
	createTime: number;
	updateTime: number;
	completeTime: number | null;
	/** Empty until success. */
	resultJson: string;
	creditsConsumed: number;
	faults: TaskFaults;
	callbacks: CallbackAttempt[];
}

export const FAIL_CODE = '501';
export const FAIL_MESSAGE = 'The generation failed: the prompt was refused.';

/** Tells whether the details don't know the task yet. */
export const isLate = ({ createTime, faults: { lateRecord = 0 } }: TaskRecord) =>
	Date.now() < createTime + Number(lateRecord) * 1000;

/** The record that the details endpoint returns, with fresh result links. */
export function describeTask(context: Context, record: TaskRecord) {
	const { taskId, model, callBackUrl, input, state, createTime, completeTime, result } = record;
	const failed = state === 'fail';
	const { resultJson = '', ...newer } = state === 'success' ? formatResult(context, record) : {};
	return {
		taskId,
		model,
		state,
		param: JSON.stringify({ model, callBackUrl, input }),
		resultJson: result.asObject && resultJson ? (JSON.parse(resultJson) as object) : resultJson,
		...newer,
		failCode: failed ? FAIL_CODE : '',
		failMsg: failed ? FAIL_MESSAGE : '',
		costTime: completeTime === null ? null : completeTime - createTime,
		createTime,
		updateTime: record.updateTime,
		completeTime,
		creditsConsumed:
			(completeTime ? undefined : result.preliminaryCredits) ?? record.creditsConsumed,
		progress: progress[state],
	};
}

/** Runs tasks from their creation to the last callback. */
export function createLifecycle(context: Context, callbacks: ReturnType<typeof createCallbacks>) {
	const { settings, closing, tasks } = context;
	/** Each settles when the task has ended and its callbacks too. */
	const lives = new Map<TaskRecord, Promise<void>>();
	const moves = new EventEmitter().setMaxListeners(0);

	const wait = (seconds: number) => pause(seconds * 1000, undefined, { signal: closing });

	function move(record: TaskRecord, change: Partial<TaskRecord>) {
		Object.assign(record, change, { updateTime: Date.now() });
		moves.emit(record.taskId);
	}

	async function end(record: TaskRecord, seconds: number) {
		const { fail, neverEnds } = record.faults;
		if (neverEnds) await once(closing, 'abort');
		await wait(seconds);
		move(record, {
			state: fail ? 'fail' : 'success',
			resultJson: fail ? '' : formatResult(context, record).resultJson,
			completeTime: Date.now(),
		});
	}

	async function live(record: TaskRecord) {
		const { slow, callbackEarly } = record.faults;
		const seconds = typeof slow === 'number' ? slow : settings.taskSeconds * (slow ? 10 : 1);
		await wait(seconds / 4);
		move(record, { state: 'queuing' });
		await wait(seconds / 4);
		move(record, { state: 'generating' });
		const delivered = callbackEarly && callbacks.deliver(record);
		await Promise.all([delivered, end(record, seconds / 2)]);
		if (!callbackEarly) await callbacks.deliver(record);
	}

	/** @throws {Error} when there is no such task */
	function get(taskId: string) {
		const record = tasks.get(taskId);
		if (!record) throw new Error(`There is no task ${taskId}`);
		return record;
	}

	/** Makes a task and starts its life. */
	function create(order: TaskOrder, result: Result, faults: TaskFaults) {
		const now = Date.now();
		const record: TaskRecord = {
			...order,
			result,
			taskId: faults.numericId
				? `10000${randomBytes(6).readUIntBE(0, 6).toString().padStart(15, '0')}`.slice(0, 19)
				: randomBytes(16).toString('hex'),
			state: 'waiting',
			createTime: now,
			updateTime: now,
			completeTime: null,
			resultJson: '',
			creditsConsumed: settings.costPerTask,
			faults,
			callbacks: [],
		};
		tasks.set(record.taskId, record);
		const life = live(record).catch((error) => {
			if (!closing.aborted) throw error;
		});
		lives.set(record, life);
		return record;
	}

	/**
	 * Waits for a state, or without one until the task has ended and its callbacks too.
	 *
	 * @throws {Error} when there is no such task, or it ended without being in that state
	 */
	async function waitForTask(taskId: string, state?: TaskState) {
		const record = get(taskId);
		if (!state) await lives.get(record);
		while (state && record.state !== state) {
			if (record.completeTime !== null)
				throw new Error(`Task ${taskId} ended in state ${record.state}`);
			await once(moves, taskId, { signal: closing });
		}
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
