import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from 'n8n-workflow';
import type { CreationBody, TaskService } from '../nodes/MediaGeneration/api/client.ts';
import { isOfKind, ServiceError } from '../nodes/MediaGeneration/api/failure.ts';
import type { Task } from '../nodes/MediaGeneration/api/task.ts';
import { REFUSALS } from '../nodes/MediaGeneration/callback/refusals.ts';
import { verify, type CallbackRequest } from '../nodes/MediaGeneration/callback/verify.ts';
import { findInput } from '../nodes/MediaGeneration/models/readSchema.ts';
import { listProperties } from '../nodes/MediaGeneration/models/schema.ts';

/** What was asked of a service, and what came. */
export interface Row {
	asked: string;
	/** What the package needs of the answer. */
	needed: string;
	came: string;
	/** Absent: an endpoint that the service need not have. */
	verdict: 'same' | 'different' | 'absent';
}

/** An answer differs from what the package relies on. */
class Difference extends Error {}

/** `ask` returns what came, or throws the difference. Undefined: an answer that it needs did not come before. */
type Question = [asked: string, needed: string, ask: () => Promise<string | undefined>];

/** Endpoints that services need not have, and allow once a second. */
const READS = ['Models', 'Model Schema', 'Download URL'];

/** Asks one after the other. @param rest milliseconds before each read */
export async function askAll(questions: Question[], rest = 0) {
	const rows: Row[] = [];
	for (const [asked, needed, ask] of questions) {
		if (READS.some((name) => asked.startsWith(name))) await pause(rest);
		try {
			const came = await ask();
			if (came !== undefined) rows.push({ asked, needed, came, verdict: 'same' });
		} catch (error) {
			if (!(error instanceof Difference || error instanceof UserError)) throw error;
			const isAbsent = isOfKind(error, 'notFound') && READS.includes(asked);
			// The description of an unknown outcome names the task.
			const description = isOfKind(error, 'unknown', 'perhapsRejected') && error.description;
			const came = [error.message, description].filter(Boolean).join('. ');
			rows.push({ asked, needed, came, verdict: isAbsent ? 'absent' : 'different' });
		}
	}
	return rows;
}

/** Checks that the service rejects a request in its own envelope. */
async function expectRejection(request: Promise<unknown>, kind: ServiceError['kind']) {
	const came = await request.catch((error: unknown) => error);
	if (!(came instanceof ServiceError)) throw new Difference(`a success: ${JSON.stringify(came)}`);
	if (came.facts.answeredBy !== 'service' || came.kind !== kind) throw new Difference(came.message);
	return came.message;
}

/** Fetches a file as the package does: without the token. */
async function fetchFile(url: string): Promise<Buffer> {
	const response = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch(String);
	if (typeof response === 'string') throw new Difference(`the link can't be fetched: ${response}`);
	if (!response.ok) throw new Difference(`the link is answered with HTTP ${response.status}`);
	return Buffer.from(await response.arrayBuffer());
}

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);

async function expectPixel(url: string) {
	if (!(await fetchFile(url)).equals(PIXEL)) throw new Difference('the link leads to another file');
	return 'a link to the file';
}

const SETTINGS = { timeoutSeconds: 60 };

/**
 * Lists the questions that cost nothing.
 * @param stranger the same service, with a wrong token
 * @param model whose schema is read; by default the first of the list
 */
export function listFree(service: TaskService, stranger: TaskService, model = ''): Question[] {
	const fileName = `n8n-probe-${randomUUID()}.png`;
	const needed = 'a link in data.downloadUrl or data.fileUrl that needs no token';
	const expectWrongToken = async (request: Promise<unknown>) =>
		await expectRejection(request, 'token');
	let link = '';
	async function upload() {
		const file = { size: PIXEL.length, mimeType: 'image/png', chunks: [PIXEL] };
		({ url: link } = await service.upload(fileName, file, SETTINGS));
		return await expectPixel(link);
	}
	const copy = async () =>
		await expectPixel((await service.upload(`copy-${fileName}`, link, SETTINGS)).url);
	async function listModels() {
		const models = await service.request('modelsPath', SETTINGS);
		if (!models.length) throw new Difference('no entry can be read');
		model ||= String(models[0]?.model);
		return `${models.length} models`;
	}
	async function readSchema() {
		if (!model) return undefined;
		const document = await service.request('modelSchemaPath', SETTINGS, { value: model });
		const input = document === null ? document : findInput(model, document);
		if (input && 'reason' in input) throw new Difference(input.reason);
		return `${model}: ${input ? listProperties(input.schema).length : 0} fields`;
	}
	return [
		[
			'Credits',
			'a number in data',
			async () => `${await service.request('creditsPath', SETTINGS)} credits`,
		],
		[
			'Credits, wrong token',
			'code 401 in the body or HTTP 401',
			async () => await expectWrongToken(stranger.request('creditsPath', SETTINGS)),
		],
		[
			'Create Task, wrong token',
			'code 401: certainly nothing was created',
			async () => await expectWrongToken(stranger.createTask({ model: '', input: {} }, SETTINGS)),
		],
		[
			'Task Details, unknown ID',
			'code 404 or 422 in the envelope',
			async () => await expectRejection(service.getTask(randomUUID(), SETTINGS), 'unknownTask'),
		],
		['Stream Upload', needed, upload],
		['URL Upload', needed, copy],
		['Models', 'a list in data.models or data, each with its name in model', listModels],
		['Model Schema', 'an OpenAPI document, or null, in data.openapi', readSchema],
		[
			'Model Schema, unknown model',
			'code 404',
			async () =>
				await expectRejection(
					service.request('modelSchemaPath', SETTINGS, { value: 'no/such-model' }),
					'notFound',
				),
		],
		[
			'Download URL',
			'a link as the text in data that needs no token',
			async () =>
				await expectPixel(
					await service.request('downloadUrlPath', SETTINGS, { body: { url: link } }),
				),
		],
	];
}

export interface PaidOptions {
	request: CreationBody;
	/** Resolves with the task's callback; absent: the task has none. */
	callback?: Promise<CallbackRequest>;
	/** The key that callbacks are signed with. */
	key: string;
	/** How long the task's end is waited for, and after it the callback, in seconds. */
	limit: number;
	pollEvery: number;
}

/** Lists the questions that cost credits: one task is created and watched to its end. */
export function listPaid(service: TaskService, options: PaidOptions): Question[] {
	const { request, callback, key, limit } = options;
	let taskId = '';
	let task: Task | undefined;
	async function watchTask() {
		if (!taskId) return undefined;
		task = await watch(service, taskId, options);
		return task.state;
	}
	async function readResult() {
		if (!task) return undefined;
		const { status, resultUrls = [], failCode, failMessage } = task;
		const reason = [failCode, failMessage].filter(Boolean).join(': ');
		if (status === 'failed' && !reason) throw new Difference('neither failCode nor failMsg');
		if (status === 'failed') return reason;
		const [link] = resultUrls;
		if (!link) throw new Difference('no link that is known');
		return `${resultUrls.length} links, the first to ${(await fetchFile(link)).length} bytes`;
	}
	async function receiveCallback() {
		if (!callback || !taskId) return undefined;
		const received = await Promise.race([callback, pause(limit * 1000, undefined, { ref: false })]);
		if (!received) throw new Difference(`none within ${limit} s`);
		const settings = { signed: true };
		const verified = await verify(received, settings, async () => ({ webhookSecret: key }));
		if ('reason' in verified) throw new Difference(REFUSALS[verified.reason][1]);
		return 'genuine';
	}
	return [
		[
			'Create Task',
			'code 200, and the ID in data.taskId',
			async () => (taskId = await service.createTask(request, SETTINGS)),
		],
		['Task Details', 'the record of this task, and an end in a known state', watchTask],
		['Task Details, result', 'links that need no token, or why it failed', readResult],
		['Callback', 'signed with the key, for data.task_id or data.taskId', receiveCallback],
	];
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
