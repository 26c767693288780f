import { setTimeout as pause } from 'node:timers/promises';
import type { CreateTaskRequest, TaskService } from '../nodes/MediaGeneration/api/client.ts';
import { UnknownOutcomeError } from '../nodes/MediaGeneration/api/errors.ts';
import { toStatus, type Task } from '../nodes/MediaGeneration/api/task.ts';
import { diagnoseCallback } from '../nodes/MediaGeneration/callback/diagnose.ts';
import { DEFAULT_TOLERANCE_SECONDS } from '../nodes/MediaGeneration/callback/verify.ts';
import { readCallbackClues, type Clues } from './dialect.cts';
import { fetchFile, SETTINGS } from './free.cts';
import type { Callback } from './listen.cts';
import { askFor, Difference, type Row } from './rows.cts';

export interface PaidOptions {
	request: CreateTaskRequest;
	/** Waits for a callback, up to this number of seconds; absent: none is asked for. */
	waitForCallback?: (seconds: number) => Promise<Callback | undefined>;
	/** The key that callbacks are signed with. */
	key?: string;
	/** In seconds. */
	pollEvery: number;
	limit: number;
	/** How long to wait for the callback after the task's end. */
	callbackWithin: number;
	log: (line: string) => void;
}

/** Seconds read as milliseconds are dates of 1970. */
const IN_MILLISECONDS = Date.parse('2020-01-01');

/** Tells whether a list has the state. One that none has counts as what the caller says. */
const isKnownState = (state: string) => toStatus(state, 'completed') === toStatus(state, 'failed');

/**
 * Creates one task, which costs credits, and watches it to its end.
 * @param clues gets what its callback shows of the dialect
 */
export async function watchPaidTask(service: TaskService, options: PaidOptions, clues: Clues) {
	const { request, log } = options;
	let taskId = '';
	const rows = [
		await askFor({
			asked: 'Create Task',
			expected: 'code 200, and the ID in data.taskId',
			consequence: 'No task is created, or its ID is not found. Look at your account.',
			ask: async () => {
				taskId = await service.createTask(request, SETTINGS).catch((error: unknown) => {
					if (!(error instanceof UnknownOutcomeError)) throw error;
					throw new Difference(`${error.message}. ${error.description}`);
				});
				log(`created task ${taskId}`);
				return 'a task ID';
			},
		}),
	];
	if (!taskId) return rows;
	let task: Task | undefined;
	rows.push(
		await askFor({
			asked: 'Task Details',
			expected: 'the record of this task in data, and an end in a state that is known',
			consequence: 'Get ends with an error, and a wait goes on until its limit.',
			ask: async () => (task = await watch(service, taskId, options)).state ?? 'an end',
		}),
	);
	if (task) rows.push(await judgeResult(task), judgeTimes(task));
	return [...rows, await judgeCallback(options, clues)];
}

/** Asks for the details of a task until it has ended. */
async function watch(service: TaskService, taskId: string, options: PaidOptions) {
	const { pollEvery, limit, log } = options;
	const until = Date.now() + limit * 1000;
	const states: string[] = [];
	for (;;) {
		const task = await service.getTask(taskId, SETTINGS);
		const state = task.state ?? String(task.failCode);
		if (states.at(-1) !== state) log(`task ${taskId} is ${state}`);
		states.push(state);
		if (task.status !== 'pending') return task;
		const unknown = isKnownState(state) ? '' : `, whose meaning is unknown`;
		if (Date.now() > until) throw new Difference(`no end within ${limit} s: ${state}${unknown}`);
		await pause(pollEvery * 1000);
	}
}

const judgeResult = async ({ status, resultUrls = [], failCode, failMessage }: Task) =>
	await askFor({
		asked: 'Task Details, result',
		expected: 'links to the files of a completed task, without the token; else why it failed',
		consequence: 'Completed tasks come out without their files, or failed ones without a reason.',
		ask: async () => {
			const reason = [failCode, failMessage].filter(Boolean).join(': ');
			if (status === 'failed' && !reason) throw new Difference('neither failCode nor failMsg');
			if (status === 'failed') return reason;
			const [link] = resultUrls;
			if (!link) throw new Difference('no link that is known');
			return `${resultUrls.length} links, the first to ${(await fetchFile(link)).length} bytes`;
		},
	});

const judgeTimes = ({ createdAt = '' }: Task): Row => ({
	asked: 'Task Details, times',
	expected: 'createTime in milliseconds',
	came: createdAt || 'none',
	verdict: Date.parse(createdAt) > IN_MILLISECONDS ? 'same' : 'different',
	consequence: 'createdAt and completedAt are missing, or wrong.',
});

/** Judges the callback of a task, as the trigger does. */
const judgeCallback = async (options: PaidOptions, clues: Clues) =>
	await askFor({
		asked: 'Callback',
		expected: 'signed with the key, for data.task_id or data.taskId',
		consequence:
			'The trigger refuses callbacks, or none arrives: choose Polling, or see the reason.',
		ask: async () => {
			const { waitForCallback, callbackWithin, key } = options;
			if (!waitForCallback) throw new Difference('no --listen and --public-url', 'not tried');
			if (!key) throw new Difference('there is no HMAC key to verify with', 'not tried');
			const callback = await waitForCallback(callbackWithin);
			if (!callback) throw new Difference(`none within ${callbackWithin} s`);
			const { headers, body, receivedAt: now } = callback;
			Object.assign(clues, readCallbackClues(body));
			const settings = {
				secrets: { current: key },
				toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
				now,
			};
			const { genuine, message } = diagnoseCallback(headers, body, settings);
			if (!genuine) throw new Difference(message);
			return message;
		},
	});
