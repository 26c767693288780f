import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createApi, listenAgain, type ApiRequest } from './api.cts';
import { createCallbacks, sign, type CallbackOverrides } from './callbacks.cts';
import { dialects } from './dialects.cts';
import type { RequestFault } from './faults.cts';
import { createFileHost, type Delivery } from './files.cts';
import { defaults, type Settings, type SettingsInput } from './settings.cts';
import { createLifecycle, type TaskRecord } from './tasks.cts';
import type { Upload } from './uploads.cts';

export type { CallbackOverrides } from './callbacks.cts';
export type { SettingsInput } from './settings.cts';
export type Service = Awaited<ReturnType<typeof startService>>;

/** Builds the records that an emulator keeps of all that comes to it. */
const createRecords = () => ({
	tasks: new Map<string, TaskRecord>(),
	requests: [] as ApiRequest[],
	/** By file name. */
	uploads: new Map<string, Upload>(),
	/** The requests to the host of files that carried an Authorization header. */
	leaks: [] as string[],
	deliveries: [] as Delivery[],
});

/** Shared by the parts of one emulator. */
export interface Context extends ReturnType<typeof createRecords> {
	settings: Settings;
	/** Aborted when the emulator closes. */
	closing: AbortSignal;
	/** Rejects when the emulator closes. */
	wait: (seconds: number) => Promise<void>;
	/** The folder of uploads. */
	directory: string;
	/** The origin of result files, uploads and sample media; empty until it listens. */
	resultsUrl: string;
	/** The origin of the upload endpoints; empty until it listens. */
	uploadUrl: string;
	/** The faults that wait for the next API requests. */
	requestFaults: Array<RequestFault & { times: number }>;
}

const host = '127.0.0.1';

/**
 * Starts an emulator of the task service on 127.0.0.1.
 *
 * @param options settings.cts has the defaults. Files are served on the port after `port`, uploads that are
 * apart on the one after that; when it is 0 (the default) all are free ones.
 * @throws {Error} when a port is taken
 */
export async function startService({
	port = 0,
	...options
}: SettingsInput & { port?: number } = {}) {
	const closer = new AbortController();
	setMaxListeners(0, closer.signal);
	const settings: Settings = { ...defaults, ...options };
	const records = createRecords();
	const context: Context = {
		...records,
		settings,
		closing: closer.signal,
		wait: (seconds) => pause(seconds * 1000, undefined, { signal: closer.signal }),
		directory: await mkdtemp(join(tmpdir(), 'media-task-service-')),
		resultsUrl: '',
		uploadUrl: '',
		requestFaults: [],
	};
	const callbacks = createCallbacks(context);
	const lifecycle = createLifecycle(context, callbacks);
	const files = createFileHost(context);
	const api = createApi(context, lifecycle);

	/** Ends the servers, the timers and the outstanding callbacks, and removes the uploads from disk. */
	async function close() {
		closer.abort();
		await Promise.all([api.close(), files.close()]);
		await rm(context.directory, { recursive: true, force: true });
	}

	try {
		context.resultsUrl = await files.listen({ host, port: port && port + 1 });
		const { uploadsApart } = dialects[settings.dialect];
		if (uploadsApart) context.uploadUrl = await listenAgain(api, host, port && port + 2);
		const url = await api.listen({ host, port });
		context.uploadUrl ||= url;
		return {
			...records,
			/** The API's origin. */
			url,
			uploadUrl: context.uploadUrl,
			resultsUrl: context.resultsUrl,
			close,
			[Symbol.asyncDispose]: close,
			waitForTask: lifecycle.waitForTask,
			idle: lifecycle.idle,
			faultNext: (fault: RequestFault) => void context.requestFaults.push({ times: 1, ...fault }),

			/** Changes settings while running; tasks under way keep their pace. */
			set: (changes: SettingsInput) => void Object.assign(settings, changes),

			/**
			 * Sends a callback of a task by hand, now and once, and returns the receiver's answer.
			 *
			 * @throws {Error} when there is no such task, no URL to send to, or no answer
			 */
			callback: async (taskId: string, overrides: CallbackOverrides = {}) =>
				callbacks.sendOnce(lifecycle.get(taskId), overrides),

			/** Signs for tests that forge and vary, by default with the secret in the settings. */
			sign: (taskId: string, timestamp: number, secret = settings.webhookSecret) =>
				sign(taskId, timestamp, secret),
		};
	} catch (error) {
		await close();
		throw error;
	}
}
