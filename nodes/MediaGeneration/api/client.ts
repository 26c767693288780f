import type { z } from 'zod';
import { readResumeSecrets } from '../host/resumeUrl';
import { digest, dropUndefined } from '../lib/json';
import { RateLimiters, type RateLimiter } from '../lib/rateLimiter';
import type { Credentials } from './endpoints';
import {
	buildForm,
	exchange,
	type Exchange,
	type RequestContext,
	type RequestSettings,
	type ServiceRequest,
	type UploadFile,
} from './exchange';
import {
	buildUnknownError,
	buildError,
	isOfKind,
	isTooFast,
	NOTHING_CREATED,
	type ServiceError,
} from './failure';
import { hideInData, listUrlSecrets } from './redaction';
import {
	createdTask,
	credits,
	modelList,
	modelSchema,
	rawTaskRecord,
	taskRecord,
	uploadedFile,
	webLink,
	type CatalogueModel,
	type TaskRecord,
	type UploadedFile,
} from './schemas';
import {
	CREATION_TIMEOUT,
	ENDPOINTS,
	LOOKUP_RATE,
	mayBeRejection,
	TASK_CODES,
	TASK_HAS_FAILED,
	UNKNOWN_TASK_CODES,
	UPLOAD_PATH,
} from './service';
import { findStatus, toTask, type Task } from './task';

type Schema<T> = z.ZodType<T, z.ZodTypeDef, unknown>;

/** The body of a request to create a task. */
export interface CreateTaskRequest {
	model: string;
	callBackUrl?: string;
	input: Record<string, unknown>;
}

const LINK_HINT =
	"Some services answer like this when they can't read a link in the input: check that each opens without a login.";

const UPLOAD_HINT =
	"Check 'Upload Base URL' and the paths in the credential: many services take files elsewhere.";

const lookups = new RateLimiters('lookupRates', {
	period: LOOKUP_RATE.period,
	patience: 20_000,
	isTooFast,
});

/** The task service, as one credential reaches it. */
export class TaskService {
	/** What answers must not show: of the credential, of the execution's resume URL, of `hideUrl`. */
	private readonly secrets = new Set<string>();
	/** Sends look-ups at the rate of the account. */
	private lookUpInTurn?: ReturnType<RateLimiter['join']>;

	constructor(
		private readonly context: RequestContext,
		readonly credentials: Credentials,
	) {
		const { accessToken, webhookSecret, previousWebhookSecret } = credentials;
		const { token, address = '' } = readResumeSecrets(context);
		this.hide([accessToken, webhookSecret, previousWebhookSecret, token]);
		this.hideUrl(address);
	}

	private hide(secrets: Array<string | undefined>): void {
		for (const secret of secrets) if (secret?.trim()) this.secrets.add(secret.trim());
	}

	/** The account as a digest, because n8n stores it with the execution. */
	get account(): string {
		return digest([this.credentials.baseUrl, this.credentials.accessToken]);
	}

	/** From now on, hides the secrets of this callback URL in the service's answers. */
	hideUrl(callBackUrl: string): void {
		this.hide(listUrlSecrets(callBackUrl));
	}

	/** Hides the same secrets in what somebody else sent. */
	hideSecrets(said: unknown): unknown {
		return hideInData(said, this.secrets);
	}

	/**
	 * Creates a task. It costs credits, so the request is sent only once and is never aborted.
	 * @returns the task's ID
	 * @throws {ServiceError} if nothing was created, or if the task may exist
	 */
	async createTask(
		request: CreateTaskRequest,
		{ timeoutSeconds }: RequestSettings,
	): Promise<string> {
		if (request.callBackUrl) this.hideUrl(request.callBackUrl);
		const settings = { timeoutSeconds: Math.max(timeoutSeconds, CREATION_TIMEOUT) };
		const answer = await this.send({ endpoint: 'createTaskPath', body: request, settings });
		const { data, error: fault } = createdTask.safeParse(answer.data);
		if (data && answer.httpStatus >= 200 && answer.httpStatus < 300) return data.taskId;
		const failure = answer.failure ?? buildIncomplete(answer, createdTask, fault);
		// What the service says of a failure may repeat the input, with the ID of an earlier task.
		const isSaid = answer.failure?.facts.answeredBy === 'service';
		const taskId = data?.taskId ?? (isSaid ? undefined : answer.findTaskId());
		const { message, description, facts } = failure;
		if (facts.certain && !taskId) throw failure.advise(`${NOTHING_CREATED} ${description}`);
		// Whatever answers there isn't the service.
		const isOther = facts.answeredBy === 'other' && isOfKind(failure, 'unreadable', 'redirect');
		const isEmpty = (answer.data ?? null) === null;
		if (!taskId && isEmpty && mayBeRejection(answer.httpStatus, facts.code ?? 0, answer.took))
			throw buildUnknownError({ message, advice: LINK_HINT }, 'perhapsRejected');
		throw buildUnknownError({ message, taskId, advice: isOther ? description : undefined });
	}

	/** Reads a task. @throws {ServiceError} also when the service doesn't know it */
	async getTask(taskId: string, settings: RequestSettings): Promise<Task> {
		const answer = await this.send({ endpoint: 'taskDetailsPath', value: taskId, settings });
		const record = taskRecord.parse(readDetails(answer, taskId));
		return toTask(taskId, { ...readReason(answer.failure), ...dropUndefined(record) });
	}

	/**
	 * Reads a task's record unchanged, save files in one above 2 MB.
	 * @throws {ServiceError} like `getTask`
	 */
	async getTaskRecord(taskId: string, settings: RequestSettings): Promise<object> {
		const answer = await this.send({ endpoint: 'taskDetailsPath', value: taskId, settings });
		return { ...readDetails(answer, taskId), taskId };
	}

	async getCredits(settings: RequestSettings): Promise<number> {
		return await this.request({ endpoint: 'creditsPath', settings }, credits);
	}

	/** Uploads a file as a stream. Its name must be unique, or the service overwrites another file. */
	async upload(
		fileName: string,
		file: UploadFile,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = buildForm({ uploadPath: UPLOAD_PATH, fileName }, file);
		return await this.requestUpload({ endpoint: 'streamUploadPath', body, settings });
	}

	/** Lets the service fetch a file from a URL. @param fileName as for `upload` */
	async uploadFromUrl(
		fileName: string,
		fileUrl: string,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = { fileUrl, uploadPath: UPLOAD_PATH, fileName };
		return await this.requestUpload({ endpoint: 'urlUploadPath', body, settings });
	}

	/** Lists the service's models. @throws {ServiceError} of the kind `notFound` without a catalogue */
	async listModels(settings: RequestSettings): Promise<CatalogueModel[]> {
		return await this.request({ endpoint: 'modelsPath', settings }, modelList);
	}

	/** Reads a model's OpenAPI document; null when the service has none yet. */
	async getModelSchema(model: string, settings: RequestSettings): Promise<unknown> {
		const request = { endpoint: 'modelSchemaPath', value: model, settings } as const;
		return (await this.request(request, modelSchema)).openapi;
	}

	/** Asks for a fresh link to a file of this service. @throws {ServiceError} when it gives none */
	async getDownloadUrl(url: string, settings: RequestSettings): Promise<string> {
		const body = { url };
		return await this.request({ endpoint: 'downloadUrlPath', body, settings }, webLink);
	}

	private async requestUpload(request: ServiceRequest): Promise<UploadedFile> {
		return await this.request(request, uploadedFile).catch((error: Error) => {
			throw isOfKind(error, 'notFound') ? error.advise(UPLOAD_HINT) : error;
		});
	}

	private async request<T>(request: ServiceRequest, schema: Schema<T>): Promise<T> {
		const answer = await this.send(request);
		if (answer.failure) throw answer.failure;
		return readData(answer, schema);
	}

	/** Sends a request. A look-up waits for its turn, and is sent again if it came too soon. */
	private async send(request: ServiceRequest): Promise<Exchange> {
		const { context, credentials, secrets } = this;
		const sendNow = async () => await exchange(context, credentials, request, secrets);
		if (!ENDPOINTS[request.endpoint].isLookup) return await sendNow();
		const stopped = context.getExecutionCancelSignal?.();
		this.lookUpInTurn ??= lookups.of(this.account).join(LOOKUP_RATE.most, stopped);
		return await this.lookUpInTurn(async () => {
			const answer = await sendNow();
			if (isTooFast(answer.failure)) throw answer.failure;
			return answer;
		});
	}
}

function readData<T>(answer: Exchange, schema: Schema<T>): T {
	const { success, data, error } = schema.safeParse(answer.data);
	if (success) return data;
	throw buildIncomplete(answer, schema, error);
}

function buildIncomplete(
	{ origin }: Exchange,
	{ description }: Schema<unknown>,
	error?: z.ZodError,
): ServiceError {
	const field = ['data', ...(error?.issues[0]?.path ?? [])].join('.');
	const detail = `is incomplete: the service gave no ${description}. Its field ${field} is missing or has another form`;
	return buildError('unreadable', origin, { answeredBy: 'service', detail });
}

/**
 * Reads the record in task details, and checks that it is that of this task. In a failure, a record
 * with the task's own ID and a known state counts, whatever the code and the HTTP status: services
 * send the records of failed tasks under several. Any other record needs a code that speaks of the
 * task.
 */
function readDetails(answer: Exchange, taskId: string): z.output<typeof rawTaskRecord> {
	const { data, failure, origin } = answer;
	const { code = 0, answeredBy } = failure?.facts ?? {};
	const isSaid = answeredBy === 'service';
	const isOfTask = isSaid && TASK_CODES.includes(code);
	const found = rawTaskRecord.safeParse(data).data;
	// Whatever redirects isn't the service.
	const isOwn =
		found?.taskId === taskId && findStatus(found.state) && !isOfKind(failure, 'redirect');
	const isFailure = failure && !(found && (isOwn || isOfTask));
	if (isFailure ? isSaid && UNKNOWN_TASK_CODES.includes(code) : (data ?? null) === null)
		throw buildError('unknownTask', origin, { answeredBy: 'service', code: failure?.facts.code });
	if (isFailure && isOfTask && code === TASK_HAS_FAILED)
		return { state: 'fail', ...readReason(failure) };
	if (isFailure) throw failure;
	const record = readData(answer, rawTaskRecord);
	if (!record.taskId || record.taskId === taskId) return record;
	throw buildError('lost', origin, {
		answeredBy: 'service',
		detail: 'sent an answer that is of another task',
	});
}

/** Why the task failed by the envelope, for a record that doesn't say it. */
function readReason(failure?: ServiceError): Pick<TaskRecord, 'failCode' | 'failMsg'> {
	const { answeredBy, code, detail } = failure?.facts ?? {};
	return answeredBy === 'service' ? { failCode: String(code), failMsg: detail || undefined } : {};
}
