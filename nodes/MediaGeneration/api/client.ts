import { randomUUID } from 'crypto';
import { buildStreamedBody } from '../host/http';
import { readResumeSecrets } from '../host/resumeUrl';
import { digest, dropUndefined } from '../lib/json';
import { type RateLimiter, RateLimiters } from '../lib/rateLimiter';
import { hideInData, listUrlSecrets } from '../lib/redaction';
import { type AnswerOf, taskRecord, type TaskRecord, type UploadedFile } from './answers';
import type { Credentials } from './credential';
import {
	exchange,
	type Exchange,
	type RequestContext,
	type RequestSettings,
	type ServiceRequest,
} from './exchange';
import {
	buildError,
	buildUnknownError,
	isOfKind,
	isTooFast,
	NOTHING_CREATED,
	type ServiceError,
} from './failure';
import {
	CREATION_TIMEOUT,
	type Endpoint,
	ENDPOINTS,
	FAILED_CODE,
	mayBeRejection,
	READ_RATE,
	TASK_CODES,
	UNKNOWN_TASK_CODES,
	UPLOAD_PATH,
} from './service';
import { findStatus, type Task, toTask } from './task';

/** The body of a request to create a task. */
export interface CreationBody {
	model: string;
	callBackUrl?: string;
	input: Record<string, unknown>;
}

const readRates = new RateLimiters('readRates', {
	period: READ_RATE.period,
	patience: 20_000,
	isTooFast,
});

/** The task service, as one credential reaches it. */
export class TaskService {
	/** Must not be shown: secrets of the credential, of the execution's resume URL, of callback URLs. */
	readonly secrets = new Set<string>();
	/** Sends the reads of all runs with this account at the service's rate. */
	private readonly sendInTurn: ReturnType<RateLimiter['join']>;

	constructor(
		readonly context: RequestContext,
		readonly credentials: Credentials,
	) {
		const stopped = context.getExecutionCancelSignal?.();
		this.sendInTurn = readRates.of(this.account).join(READ_RATE.most, stopped);
		const { accessToken, webhookSecret, previousWebhookSecret } = credentials;
		const { token, address = '' } = readResumeSecrets(context);
		this.hide(accessToken, webhookSecret, previousWebhookSecret, token, ...listUrlSecrets(address));
	}

	private hide(...secrets: Array<string | undefined>): void {
		for (const secret of secrets) if (secret?.trim()) this.secrets.add(secret.trim());
	}

	/** The account as a digest, because n8n stores it with the execution. */
	get account(): string {
		return digest([this.credentials.baseUrl, this.credentials.accessToken]);
	}

	/** Hides the secrets in data that somebody else sent, as in the service's answers. */
	hideSecrets(data: unknown): unknown {
		return hideInData(data, this.secrets);
	}

	/**
	 * Creates a task. A task costs credits, so the request is sent only once and is never aborted.
	 * @returns the task's ID
	 * @throws {ServiceError} if nothing was created, or if the task may exist
	 */
	async createTask(request: CreationBody, { timeoutSeconds }: RequestSettings): Promise<string> {
		this.hide(...listUrlSecrets(request.callBackUrl ?? ''));
		const settings = { timeoutSeconds: Math.max(timeoutSeconds, CREATION_TIMEOUT) };
		const sentAt = performance.now();
		const answer = await exchange(this, { endpoint: 'createTaskPath', body: request, settings });
		const duration = performance.now() - sentAt;
		const { data, isEmpty, httpStatus } = answer;
		if (data && httpStatus < 300) return data.taskId;
		// Without `data`, or with such an HTTP status, `exchange` always gives a failure.
		const failure = answer.failure as ServiceError;
		const { message, description, facts } = failure;
		const { code, answeredBy, didNothing } = facts;
		// The service's text about a failure may repeat the input, with the ID of another task.
		const isExplained = answeredBy === 'service' && code !== undefined;
		const taskId = data?.taskId ?? (isExplained ? undefined : answer.findTaskId());
		if (didNothing && !taskId) throw failure.withRemedy(`${NOTHING_CREATED} ${description}`);
		if (!taskId && isEmpty && mayBeRejection(httpStatus, code ?? 0, duration))
			throw buildUnknownError(
				{
					message,
					remedy:
						"Some services answer like this when they can't read a link in the input: check that each opens without a login.",
				},
				'perhapsRejected',
			);
		// Something other than the service answered, so the description says what to correct.
		const isOther = answeredBy === 'other' && isOfKind(failure, 'unreadable', 'redirect');
		throw buildUnknownError({ message, taskId, remedy: isOther ? description : undefined });
	}

	/** Looks at a task. @throws {ServiceError} also when the service doesn't know the task */
	async getTask(taskId: string, settings: RequestSettings): Promise<Task> {
		const answer = await exchange(this, { endpoint: 'taskDetailsPath', value: taskId, settings });
		const record = taskRecord.parse(readDetails(answer, taskId));
		return toTask(taskId, { ...readReason(answer.failure), ...dropUndefined(record) });
	}

	/**
	 * Looks at a task, and returns its record unchanged. Of a record above 2 MB, files are left out.
	 * @throws {ServiceError} like `getTask`
	 */
	async getTaskRecord(taskId: string, settings: RequestSettings): Promise<object> {
		const answer = await exchange(this, { endpoint: 'taskDetailsPath', value: taskId, settings });
		return { ...readDetails(answer, taskId), taskId };
	}

	/**
	 * Uploads a file.
	 * @param fileName must be unique, or the service overwrites another file
	 * @param file is streamed; the service itself fetches the file of a URL
	 */
	async upload(
		fileName: string,
		file: UploadFile | string,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const fields = { uploadPath: UPLOAD_PATH, fileName };
		return typeof file === 'string'
			? await this.request('urlUploadPath', settings, { body: { fileUrl: file, ...fields } })
			: await this.request('streamUploadPath', settings, { body: buildForm(fields, file) });
	}

	/**
	 * Sends any other request. A read waits for its turn, and is sent again if it came too soon.
	 * @returns `data` of the answer, as `ANSWERS` has it
	 * @throws {ServiceError} of the kind `notFound` where the service has no such endpoint
	 */
	async request<E extends Endpoint>(
		endpoint: E,
		settings: RequestSettings,
		more: Pick<ServiceRequest<E>, 'value' | 'body'> = {},
	): Promise<AnswerOf<E>> {
		const { sharesRate, isUpload } = ENDPOINTS[endpoint];
		const sendNow = async () => {
			const answer = await exchange(this, { endpoint, settings, ...more });
			if (isTooFast(answer.failure)) throw answer.failure;
			return answer;
		};
		const { data, failure } = await (sharesRate ? this.sendInTurn(sendNow) : sendNow());
		if (!failure) return data as AnswerOf<E>;
		if (!isUpload || failure.kind !== 'notFound') throw failure;
		throw failure.withRemedy(
			"Check 'Upload Base URL' and the paths in the credential: many services take files elsewhere.",
		);
	}
}

/**
 * Reads the record in task details, and checks that the record is of this task. Services send the
 * records of failed tasks with several codes. So beside a failure, a record with the task's own ID and a
 * known state counts, whatever the code and the HTTP status. Any other record counts only beside a code
 * that is about the task.
 */
function readDetails(
	{ data: record, isEmpty, failure, origin }: Exchange<'taskDetailsPath'>,
	taskId: string,
): AnswerOf<'taskDetailsPath'> {
	const { code, answeredBy } = failure?.facts ?? {};
	const isByService = answeredBy === 'service';
	const isCodeAboutTask = isByService && TASK_CODES.includes(code ?? 0);
	// A redirect isn't from the service itself, whatever its body says.
	const isRecordOfTask =
		record?.taskId === taskId && findStatus(record.state) && !isOfKind(failure, 'redirect');
	if (record && (!failure || isRecordOfTask || isCodeAboutTask)) {
		if (!record.taskId || record.taskId === taskId) return record;
		const detail = 'sent an answer that is of another task';
		throw buildError('lost', origin, { answeredBy: 'service', detail });
	}
	// Some services answer with success and no record if they don't know the task.
	const isUnknown = code === undefined ? isEmpty : UNKNOWN_TASK_CODES.includes(code);
	if (isByService && isUnknown) throw buildError('unknownTask', origin, { answeredBy, code });
	if (isByService && code === FAILED_CODE) return { state: 'fail', ...readReason(failure) };
	throw failure as ServiceError;
}

/** Reads from the envelope why the task failed, for a record that doesn't say why. */
function readReason(failure?: ServiceError): Pick<TaskRecord, 'failCode' | 'failMsg'> {
	const { answeredBy, code, detail } = failure?.facts ?? {};
	return answeredBy === 'service' ? { failCode: String(code), failMsg: detail || undefined } : {};
}

/** A file on its way to the service. */
export interface UploadFile {
	/** In bytes. Must be exact, because the size is sent before the file is read. */
	size: number;
	mimeType: string;
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const escapeQuotes = (text: string): string => text.replace(/[\r\n"]/g, encodeURIComponent);

/** Takes the parameters off a MIME type. A type with a line break could forge headers. */
const cleanMimeType = (mimeType: string): string =>
	/^[\w.+-]+\/[\w.+-]+(?=\s*(;|$))/.exec(mimeType)?.[0] ?? 'application/octet-stream';

/** Builds a multipart/form-data body of text fields and one file, which is streamed. */
export function buildForm(
	fields: Record<'uploadPath' | 'fileName', string>,
	{ size, mimeType, chunks }: UploadFile,
): Blob {
	const boundary = `n8n-${randomUUID()}`;
	const startPart = (name: string, more = '') =>
		`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
	const parts = [
		...Object.entries(fields).map(([name, text]) => `${startPart(name)}\r\n${text}\r\n`),
		startPart('file', `; filename="${escapeQuotes(fields.fileName)}"`),
		`Content-Type: ${cleanMimeType(mimeType)}\r\n\r\n`,
	];
	const head = Buffer.from(parts.join(''));
	const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
	async function* join() {
		yield head;
		yield* chunks;
		yield tail;
	}
	return buildStreamedBody(
		`multipart/form-data; boundary=${boundary}`,
		head.length + size + tail.length,
		join(),
	);
}
