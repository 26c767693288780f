const { setMaxListeners } = require('node:events');
const { mkdtemp, rm } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { createApi } = require('./api');
const { createCallbacks, sign } = require('./callbacks');
const { createDetails } = require('./details');
const { createRequestFaults } = require('./faults');
const { createFilesServer } = require('./files');
const { settingsShape } = require('./settings');
const { createTasks } = require('./tasks');
const { createUploads } = require('./uploads');

/** @typedef {import('./settings').SettingsInput} SettingsInput */
/** @typedef {import('./callbacks').CallbackOverrides} CallbackOverrides */
/** @typedef {Awaited<ReturnType<typeof startService>>} Service */

const host = '127.0.0.1';

/**
 * Starts an emulator of the task service on 127.0.0.1.
 *
 * @param {SettingsInput & { port?: number }} [options] see settings.js for the defaults; the result files are served
 * on another port: the next one, or a free one when `port` is 0 (the default)
 * @throws {import('zod').ZodError} when a setting is not known or mistyped
 * @throws {Error} when a port is taken
 */
async function startService({ port = 0, ...options } = {}) {
	const settings = settingsShape.parse(options);
	const directory = await mkdtemp(join(tmpdir(), 'media-task-service-'));
	const closer = new AbortController();
	const closing = closer.signal;
	setMaxListeners(0, closing);

	let resultsOrigin = '';
	const resultsUrl = () => resultsOrigin;
	/** @type {import('./api').ApiRequest[]} */
	const requests = [];
	/** @type {import('./files').Leak[]} */
	const leaks = [];
	const requestFaults = createRequestFaults();
	const uploads = createUploads({ directory, resultsUrl });
	const details = createDetails({ settings, resultsUrl });
	const callbacks = createCallbacks({ settings, details, closing });
	const tasks = createTasks({ settings, details, callbacks, closing });
	const files = createFilesServer({ tasks: tasks.records, uploads: uploads.files, leaks });
	const api = createApi({ settings, details, tasks, uploads, requestFaults, requests, closing });

	/** Ends the servers, the timers and the outstanding callbacks, and removes the uploads from disk. */
	async function close() {
		closer.abort();
		await Promise.all([api.close(), files.close()]);
		await rm(directory, { recursive: true, force: true });
	}

	try {
		resultsOrigin = await files.listen({ host, port: port && port + 1 });
		const url = await api.listen({ host, port });
		return {
			/** The API's origin. */
			url,
			/** The origin of result files, uploads and sample media. */
			resultsUrl: resultsOrigin,
			tasks: tasks.records,
			requests,
			uploads: uploads.files,
			leaks,
			close,
			waitForTask: tasks.waitForTask,
			idle: tasks.idle,
			faultNext: requestFaults.add,

			/**
			 * Changes settings while running; tasks under way keep their pace.
			 *
			 * @param {SettingsInput} changes
			 * @throws {import('zod').ZodError} when a setting is not known or mistyped
			 */
			set(changes) {
				Object.assign(settings, settingsShape.parse({ ...settings, ...changes }));
			},

			/**
			 * Sends a callback of a task by hand, now and once.
			 *
			 * @param {string} taskId
			 * @param {CallbackOverrides} [overrides]
			 * @returns {Promise<{ status: number, body: string }>} the receiver's answer
			 * @throws {Error} when there is no such task, no URL to send to, or no answer
			 */
			callback: async (taskId, overrides = {}) => callbacks.sendOnce(tasks.get(taskId), overrides),

			/**
			 * The contract's signature, for tests that forge and vary.
			 *
			 * @param {string} taskId
			 * @param {number | string} timestamp Unix time in seconds
			 * @param {string} [secret] by default the one in the settings
			 * @returns {string} Base64
			 */
			sign: (taskId, timestamp, secret = settings.webhookSecret) => sign(taskId, timestamp, secret),
		};
	} catch (error) {
		await close();
		throw error;
	}
}

module.exports = { startService };
