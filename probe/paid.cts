import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { CreateTaskRequest, TaskService } from '../nodes/MediaGeneration/api/client.ts';
import type { Task } from '../nodes/MediaGeneration/api/task.ts';
import { FAULTS } from '../nodes/MediaGeneration/callback/faults.ts';
import { verify } from '../nodes/MediaGeneration/callback/verify.ts';
import { parseJson } from '../nodes/MediaGeneration/lib/json.ts';
import { readCallbackClues, type Clues } from './dialect.cts';
import { fetchFile, SETTINGS } from './free.cts';
import { createRows, Difference, type Add } from './rows.cts';

export interface PaidOptions {
	request: CreateTaskRequest;
	/** The port on 127.0.0.1 that the task's callback comes to; absent: none is asked for. */
	port?: number;
	/** The key that callbacks are signed with. */
	key?: string;
	/** How long the task's end is waited for, and after it the callback, in seconds. */
	limit: number;
	pollEvery: number;
}

/** Seconds read as milliseconds are dates of 1970. */
const IN_MILLISECONDS = Date.parse('2020-01-01');
const TOLERANCE = 300;

/**
 * Creates one task, which costs credits, and watches it to its end.
 * @param clues gets what its callback shows of the dialect
 */
export async function watchPaidTask(service: TaskService, options: PaidOptions, clues: Clues) {
	const { request, port, limit } = options;
	const receiver = port === undefined ? undefined : await listen(port);
	let taskId = '';
	let task: Task | undefined;
	const { rows, add } = createRows();
	await add('Create Task', 'code 200, and the ID in data.taskId', async () => {
		taskId = await service.createTask(request, SETTINGS);
		return taskId;
	});
	if (taskId)
		await add('Task Details', 'the record of this task, and an end in a known state', async () => {
			task = await watch(service, taskId, options);
			return String(task.state);
		});
	if (task) await judgeEnd(add, task);
	if (taskId)
		await add('Callback', 'signed with the key, for data.task_id or data.taskId', async () => {
			if (!receiver || !options.key)
				throw new Difference('no --listen and --public-url, or no HMAC key', 'not tried');
			await receiver.wait(limit);
			const [{ headers, body, now } = { headers: {}, body: undefined, now: 0 }] = receiver.received;
			if (!now) throw new Difference(`none within ${limit} s`);
			Object.assign(clues, readCallbackClues(body));
			const verifyOptions = { toleranceSeconds: TOLERANCE, now };
			const keys = { current: options.key };
			const [fault] = verify({ headers, body }, keys, verifyOptions).faults;
			if (fault) throw new Difference(FAULTS[fault][1]);
			return 'genuine';
		});
	receiver?.close();
	return rows;
}

/** Asks for the details of a task until it has ended. */
async function watch(service: TaskService, taskId: string, { limit, pollEvery }: PaidOptions) {
	const until = Date.now() + limit * 1000;
	for (;;) {
		const task = await service.getTask(taskId, SETTINGS);
		if (task.status !== 'pending') return task;
		if (Date.now() > until) throw new Difference(`no end within ${limit} s, but ${task.state}`);
		await pause(pollEvery * 1000);
	}
}

async function judgeEnd(add: Add, task: Task) {
	const { status, resultUrls = [], failCode, failMessage, createdAt = '' } = task;
	await add('Task Details, result', 'links that need no token, or why it failed', async () => {
		const reason = [failCode, failMessage].filter(Boolean).join(': ');
		if (status === 'failed' && !reason) throw new Difference('neither failCode nor failMsg');
		if (status === 'failed') return reason;
		const [link] = resultUrls;
		if (!link) throw new Difference('no link that is known');
		return `${resultUrls.length} links, the first to ${(await fetchFile(link)).length} bytes`;
	});
	await add('Task Details, times', 'createTime in milliseconds', async () => {
		if (!(Date.parse(createdAt) > IN_MILLISECONDS)) throw new Difference(createdAt || 'none');
		return createdAt;
	});
}

/** Listens for callbacks on 127.0.0.1, and answers each with 200. */
async function listen(port: number) {
	const received: Array<{ headers: IncomingHttpHeaders; body: unknown; now: number }> = [];
	const server = createServer((request, response) => {
		void readText(request).then((text) => {
			received.push({ headers: request.headers, body: parseJson(text), now: Date.now() });
			response.setHeader('Content-Type', 'application/json').end('{"code":200}');
		});
	}).listen(port, '127.0.0.1');
	await once(server, 'listening');
	return {
		received,
		async wait(seconds: number) {
			const until = Date.now() + seconds * 1000;
			while (!received.length && Date.now() < until) await pause(20);
		},
		close: () => server.close(),
	};
}
