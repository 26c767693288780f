import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createApi, type ApiRequest } from './api.cts';
import { createCallbacks, type CallbackOverrides } from './callbacks.cts';
import type { RequestFault } from './faults.cts';
import { createFileHost } from './files.cts';
import { defaults, type Settings, type SettingsInput } from './settings.cts';
import { createLifecycle, type TaskRecord } from './tasks.cts';
import type { Upload } from './uploads.cts';

export type { CallbackOverrides } from './callbacks.cts';
export type { SettingsInput } from './settings.cts';
export type Service = Awaited<ReturnType<typeof startService>>;
/** What the parts of one emulator share: its settings, and what it was sent. */
export type Context = ReturnType<typeof createContext>;

const host = '127.0.0.1';

function createContext(settings: Settings) {
	const closer = new AbortController();
	setMaxListeners(0, closer.signal);
	return {
		settings,
		tasks: new Map<string, TaskRecord>(),
		requests: [] as ApiRequest[],
		/** The uploads, by file name. */
		uploads: new Map<string, Upload>(),
		/** The requests to the host of files that carried an Authorization header. */
		leaks: [] as string[],
		/** The result files whose delivery began. */
		deliveries: [] as string[],
		/** The faults that wait for the next API requests. */
		requestFaults: [] as RequestFault[],
		/** The origin of result files, uploads and sample media; empty until it listens. */
		filesUrl: '',
		abort: () => closer.abort(),
		/** Aborted when the emulator closes. */
		closing: closer.signal,
		/** Waits. The promise rejects when the emulator closes. */
		wait: async (seconds: number) => {
			await pause(seconds * 1000, undefined, { signal: closer.signal });
		},
	};
}

/**
 * Starts an emulator of the task service on 127.0.0.1.
 * @param options settings.cts has the defaults. Files are served on the port after `port`, uploads with a
 * host of their own on the port after that. If `port` is 0 (the default), all are free ports.
 * @throws {Error} when a port is taken
 */
export async function startService({
	port = 0,
	...options
}: SettingsInput & { port?: number } = {}) {
	const settings: Settings = { ...defaults, ...options };
	const context = createContext(settings);
	const callbacks = createCallbacks(context);
	const lifecycle = createLifecycle(context, callbacks);
	const files = createFileHost(context);
	const { api, uploadApi } = createApi(context, lifecycle);

	/** Ends the servers, the timers and the outstanding callbacks. */
	async function close() {
		context.abort();
		await Promise.all([files, api, uploadApi].map(async (server) => await server.close()));
	}

	try {
		context.filesUrl = await files.listen({ host, port: port && port + 1 });
		const url = await api.listen({ host, port });
		const isApart = uploadApi !== api;
		const uploadUrl = isApart ? await uploadApi.listen({ host, port: port && port + 2 }) : url;
		const { tasks, requests, requestFaults, uploads, leaks, deliveries, filesUrl } = context;
		return {
			...{ tasks, requests, requestFaults, uploads, leaks, deliveries },
			/** The API's origin. */
			url,
			uploadUrl,
			filesUrl,
			close,
			[Symbol.asyncDispose]: close,
			waitForTask: lifecycle.waitForTask,
			waitUntilIdle: lifecycle.waitUntilIdle,
			addFault: (fault: RequestFault) => void requestFaults.push(fault),

			/** Changes settings at any time. Tasks under way keep their pace. */
			set: (changes: SettingsInput) => void Object.assign(settings, changes),

			/**
			 * Sends a callback of a task by hand, now and once, and returns the receiver's answer.
			 * @throws {Error} when there is no such task, no URL to send to, or no answer
			 */
			sendCallback: async (taskId: string, overrides: CallbackOverrides = {}) =>
				callbacks.sendOnce(lifecycle.getTask(taskId), overrides),
		};
	} catch (error) {
		await close();
		throw error;
	}
}
