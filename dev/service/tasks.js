const { randomBytes } = require('node:crypto');
const { EventEmitter, once } = require('node:events');
const { setTimeout: pause } = require('node:timers/promises');
const { hasEnded } = require('./details');

/** @typedef {import('./details').TaskRecord} TaskRecord */
/** @typedef {import('./details').TaskState} TaskState */

/**
 * The tasks and their lives.
 *
 * @param {object} service
 * @param {import('./settings').Settings} service.settings
 * @param {ReturnType<typeof import('./details').createDetails>} service.details
 * @param {ReturnType<typeof import('./callbacks').createCallbacks>} service.callbacks
 * @param {AbortSignal} service.closing ends every life
 */
function createTasks({ settings, details, callbacks, closing }) {
	/** @type {Map<string, TaskRecord>} */
	const records = new Map();
	/** @type {Map<string, Promise<void>>} each settles when the task has ended and its callbacks too */
	const lives = new Map();
	const moves = new EventEmitter().setMaxListeners(0);

	/** @param {unknown} error */
	function unlessClosing(error) {
		if (!closing.aborted) throw error;
	}

	/** @param {number} seconds */
	const wait = (seconds) => pause(seconds * 1000, undefined, { signal: closing });

	/**
	 * @param {TaskRecord} record
	 * @param {Partial<TaskRecord>} change
	 */
	function move(record, change) {
		Object.assign(record, change, { updateTime: Date.now() });
		moves.emit(record.taskId);
	}

	/** @param {TaskRecord} record */
	function secondsFor({ faults: { slow } }) {
		if (typeof slow === 'number') return slow;
		return slow ? settings.taskSeconds * 10 : settings.taskSeconds;
	}

	/**
	 * @param {TaskRecord} record
	 * @param {number} seconds
	 */
	async function end(record, seconds) {
		if (record.faults.neverEnds) await once(closing, 'abort');
		await wait(seconds);
		move(record, { ...details.outcome(record), completeTime: Date.now() });
	}

	/** @param {TaskRecord} record */
	async function live(record) {
		const seconds = secondsFor(record);
		await wait(seconds / 4);
		move(record, { state: 'queuing' });
		await wait(seconds / 4);
		move(record, { state: 'generating' });
		if (record.faults.callbackEarly) {
			await Promise.all([callbacks.deliver(record), end(record, seconds / 2)]);
		} else {
			await end(record, seconds / 2);
			await callbacks.deliver(record);
		}
	}

	/**
	 * @param {string} taskId
	 * @throws {Error} when there is no such task
	 */
	function get(taskId) {
		const record = records.get(taskId);
		if (!record) throw new Error(`There is no task ${taskId}`);
		return record;
	}

	return {
		records,
		get,

		/**
		 * Makes a task and starts its life.
		 *
		 * @param {import('./models').TaskOrder} order
		 * @param {import('./faults').TaskFaults} faults
		 * @returns {TaskRecord}
		 */
		create(order, faults) {
			const now = Date.now();
			/** @type {TaskRecord} */
			const record = {
				taskId: randomBytes(16).toString('hex'),
				model: order.model,
				input: order.input,
				callBackUrl: order.callBackUrl,
				state: 'waiting',
				createTime: now,
				updateTime: now,
				completeTime: null,
				resultJson: '',
				failCode: '',
				failMsg: '',
				creditsConsumed: settings.costPerTask,
				faults,
				request: order,
				callbacks: [],
			};
			records.set(record.taskId, record);
			lives.set(record.taskId, live(record).catch(unlessClosing));
			return record;
		},

		/**
		 * Without a state: settles when the task has ended and its callbacks too.
		 *
		 * @param {string} taskId
		 * @param {TaskState} [state]
		 * @returns {Promise<TaskRecord>}
		 * @throws {Error} when there is no such task, or it ended without being in that state
		 */
		async waitForTask(taskId, state) {
			const record = get(taskId);
			if (!state) await lives.get(taskId);
			while (state && record.state !== state) {
				if (hasEnded(record)) throw new Error(`Task ${taskId} ended in state ${record.state}`);
				await once(moves, taskId, { signal: closing });
			}
			return record;
		},

		/** Settles when every task that can end has ended, and its callbacks too. */
		async idle() {
			/** @type {Promise<void>[]} */
			let ending;
			const ends = () =>
				[...lives].filter(([id]) => !get(id).faults.neverEnds).map(([, life]) => life);
			do {
				ending = ends();
				await Promise.all(ending);
			} while (ends().length > ending.length);
		},
	};
}

module.exports = { createTasks };
