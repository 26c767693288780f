import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { CallbackAttempt, createCallbacks } from './callbacks.cts';
import type { TaskFaults } from './faults.cts';
import type { Context } from './index.cts';
import type { TaskOrder } from './models.cts';
import { formatResult, hasEnded, hasSucceeded, type Result } from './results.cts';

/** In percent, by the states before the end. */
const progress: Record<string, number> = { waiting: 0, queuing: 10, generating: 50 };

/** Times are in ms. */
export interface TaskRecord extends TaskOrder {
	taskId: string;
	result: Result;
	/** Of the contract's family, or the word of the fault `end`. */
	state: string;
	createTime: number;
	updateTime: number;
	completeTime: number | null;
	creditsConsumed: number;
	faults: TaskFaults;
	callbacks: CallbackAttempt[];
	/** How often details were asked for. */
	detailsRequests: number;
}

export const FAIL_CODE = '501';
export const FAIL_MESSAGE = 'The generation failed: the prompt was refused.';

/** The record that the details endpoint returns, with fresh result links. */
export function describeTask(context: Context, record: TaskRecord) {
	const { model, callBackUrl, input, state, createTime, updateTime, completeTime } = record;
	const failed = hasEnded(record) && record.faults.fail;
	return {
		taskId: record.taskId,
		model,
		state,
		param: JSON.stringify({ model, callBackUrl, input }),
		...(hasSucceeded(record) ? formatResult(context, record) : { resultJson: '' }),
		failCode: failed ? FAIL_CODE : '',
		failMsg: failed ? FAIL_MESSAGE : '',
		costTime: completeTime === null ? null : completeTime - createTime,
		createTime,
		updateTime,
		completeTime,
		creditsConsumed: record.creditsConsumed,
		progress: progress[state] ?? 100,
	};
}

/** Runs tasks from their creation to the last callback. */
export function createLifecycle(context: Context, callbacks: ReturnType<typeof createCallbacks>) {
	const { settings, closing, tasks, wait } = context;
	/** Each settles when the task has ended and its callbacks too. */
	const lives = new Map<TaskRecord, Promise<void>>();
	let count = 0;

	const move = (record: TaskRecord, state: string) =>
		Object.assign(record, { state, updateTime: Date.now() });

	async function live(record: TaskRecord) {
		const { fail, end, neverEnds, slow: seconds = settings.taskSeconds } = record.faults;
		await wait(seconds / 4);
		move(record, 'queuing');
		await wait(seconds / 4);
		move(record, 'generating');
		if (neverEnds) await once(closing, 'abort');
		await wait(seconds / 2);
		record.completeTime = Date.now();
		move(record, end ?? (fail ? 'fail' : 'success'));
		await callbacks.deliver(record);
	}

	/** @throws {Error} when there is no such task */
	function get(taskId: string) {
		const record = tasks.get(taskId);
		if (!record) throw new Error(`There is no task ${taskId}`);
		return record;
	}

	function createId({ numericId }: TaskFaults) {
		if (settings.countsIds) return `task-${++count}`;
		if (numericId) return `1${String(randomInt(2 ** 47)).padStart(18, '0')}`;
		return randomBytes(16).toString('hex');
	}

	/** Makes a task and starts its life. */
	function create(order: TaskOrder, result: Result, faults: TaskFaults) {
		const now = Date.now();
		const record: TaskRecord = {
			...order,
			result,
			taskId: createId(faults),
			state: 'waiting',
			createTime: now,
			updateTime: now,
			completeTime: null,
			creditsConsumed: settings.costPerTask,
			faults,
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
	 * Waits for a state, or without one until the task has ended and its callbacks too.
	 *
	 * @throws {Error} when there is no such task, or it ended without being in that state
	 */
	async function waitForTask(taskId: string, state?: string) {
		const record = get(taskId);
		if (!state) await lives.get(record);
		while (state && record.state !== state) {
			if (record.completeTime !== null)
				throw new Error(`Task ${taskId} ended in state ${record.state}`);
			await wait(0.002);
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
