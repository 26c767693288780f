import {
	UserError,
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type ILoadOptionsFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { z } from 'zod';
import { buildUrl, CREDENTIAL, type Credentials, type Endpoint } from './endpoints';
import { explainRefusal } from './errorHelp';
import { MultipartBody, type UploadFile } from './multipart';
import { describeNetworkFailure } from './networkFailure';
import {
	createdTask,
	envelope,
	modelList,
	modelSchema,
	nonEmptyText,
	number,
	uploadedFile,
	type CatalogueModel,
	type UploadedFile,
} from './schemas';
import { rawTaskRecord, taskRecord, toTask, type Task } from './task';

/** The body of a request to create a task. */
export interface CreateTaskRequest {
	model: string;
	callBackUrl?: string;
	input: Record<string, unknown>;
}

export interface RequestSettings {
	timeoutSeconds: number;
}

/** The reason for which a request did not return what was asked for. */
interface Failure {
	message: string;
	/** The next step for the user. */
	hint: string;
	/** The body's `code`, or else the HTTP status; absent where no readable answer came. */
	code?: number;
	/** The service surely did nothing. */
	isRejected: boolean;
	isRateLimited?: boolean;
}

/** A request that did not give what was asked for; `description` says what to do next. */
export class ServiceError extends UserError {
	/** The body's `code`, or else the HTTP status; absent where no readable answer came. */
	readonly code?: number;
	/** It was refused only because requests came too fast: it may be sent again, later. */
	readonly isRateLimited: boolean;

	constructor({ message, hint, code, isRateLimited = false }: Omit<Failure, 'isRejected'>) {
		super(message, { description: hint });
		this.code = code;
		this.isRateLimited = isRateLimited;
	}
}

export const isRateLimited = (error: unknown): boolean =>
	error instanceof ServiceError && error.isRateLimited;

/** The reason for which nobody knows if a creation made a task. */
export interface UnknownOutcome {
	message: string;
	/** The ID that a refusal named all the same. */
	taskId?: string;
}

/** A creation of which nobody knows whether it made a task. It must not be sent again. */
export class UnknownOutcomeError extends ServiceError {
	constructor(
		readonly outcome: UnknownOutcome,
		code?: number,
	) {
		super({
			message: outcome.message,
			hint: `The task may exist and may have been paid for: ${
				outcome.taskId
					? `the service named it ${outcome.taskId}. Look at it with Get`
					: 'look at the recent tasks of your account with the service'
			} before you create it again.`,
			code,
		});
	}
}

type Context = IExecuteFunctions | IWebhookFunctions | IHookFunctions | ILoadOptionsFunctions;

interface Request {
	endpoint: Endpoint;
	/** The task ID or model in the endpoint's path. */
	value?: string;
	body?: object;
	settings: RequestSettings;
}

interface Exchange {
	origin: string;
	/** The parsed JSON; undefined where there is none. */
	body?: unknown;
	/** Absent where no answer came. */
	isHttpSuccess?: boolean;
	/** Absent after a success of the task service. */
	failure?: Failure;
}

/** The folder that files are uploaded to. */
const UPLOAD_PATH = 'n8n';

/** Some front servers answer 403 to user agents that look like a bare script. */
const USER_AGENT = 'Mozilla/5.0 (compatible; n8n-nodes-media-generation)';

/** The task service, as one credential reaches it. */
export class TaskService {
	constructor(
		private readonly context: Context,
		readonly credentials: Credentials,
	) {}

	/**
	 * Creates a task, which costs credits: it is sent once and never again. Stopping the execution doesn't abort it, since the
	 * ID would be lost.
	 * @returns the task's ID
	 * @throws {UnknownOutcomeError} when the task may exist all the same
	 * @throws {ServiceError} when the service surely created nothing
	 */
	async createTask(request: CreateTaskRequest, settings: RequestSettings): Promise<string> {
		const { origin, body, isHttpSuccess, failure } = await this.exchange(
			{ endpoint: 'createTaskPath', body: request, settings },
			withoutCancelSignal(this.context),
		);
		const taskId = createdTask.safeParse(body).data?.data.taskId;
		if (taskId && isHttpSuccess) return taskId;
		if (failure?.isRejected && !taskId) throw new ServiceError(failure);
		const { message, code } = failure ?? describeIncomplete(origin, 'the service gave no task ID');
		throw new UnknownOutcomeError({ message, taskId }, code);
	}

	/**
	 * Reads a task as the service knows it now.
	 * @throws {ServiceError} with code 404 or 422 when the service does not know the task
	 */
	async getTask(taskId: string, settings: RequestSettings): Promise<Task> {
		return toTask(await this.getRecord(taskId, settings, taskRecord));
	}

	/**
	 * Reads a task's record as the service sends it, with what a Task leaves out.
	 * @throws {ServiceError} with code 404 or 422 when the service does not know the task
	 */
	async getTaskRecord(taskId: string, settings: RequestSettings): Promise<object> {
		return await this.getRecord(taskId, settings, rawTaskRecord);
	}

	/** Reads the account's credits, fractional. */
	async getCredits(settings: RequestSettings): Promise<number> {
		return await this.request(
			{ endpoint: 'creditsPath', settings },
			number,
			'the service gave no number of credits',
		);
	}

	/**
	 * Uploads a file, as it streams in.
	 * @param fileName must be unique: the service overwrites a file of the same name
	 */
	async upload(
		fileName: string,
		file: UploadFile,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = new MultipartBody({ uploadPath: UPLOAD_PATH, fileName }, fileName, file);
		return await this.request(
			{ endpoint: 'streamUploadPath', body, settings },
			uploadedFile,
			'the service gave no URL for the file',
		);
	}

	/** Has the service fetch a file by itself. @param fileName as for `upload` */
	async uploadFromUrl(
		fileName: string,
		fileUrl: string,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		return await this.request(
			{ endpoint: 'urlUploadPath', body: { fileUrl, uploadPath: UPLOAD_PATH, fileName }, settings },
			uploadedFile,
			'the service gave no URL for the file',
		);
	}

	/** Lists the models of the service's catalogue. @throws {ServiceError} with code 404 when it has none */
	async listModels(settings: RequestSettings): Promise<CatalogueModel[]> {
		return await this.request(
			{ endpoint: 'modelsPath', settings },
			modelList,
			'the service gave no list of models',
		);
	}

	/** Reads a model's OpenAPI document; null when the service has none yet. @throws {ServiceError} with code 404 for an unknown model */
	async getModelSchema(model: string, settings: RequestSettings): Promise<unknown> {
		const { openapi } = await this.request(
			{ endpoint: 'modelSchemaPath', value: model, settings },
			modelSchema,
			'the service gave no schema',
		);
		return openapi;
	}

	/** Asks for a fresh link to a file of this service. @throws {ServiceError} when it gives none, or has no such endpoint */
	async getDownloadUrl(url: string, settings: RequestSettings): Promise<string> {
		return await this.request(
			{ endpoint: 'downloadUrlPath', body: { url }, settings },
			nonEmptyText,
			'the service gave no link',
		);
	}

	private async getRecord<T extends z.ZodTypeAny>(
		taskId: string,
		settings: RequestSettings,
		schema: T,
	): Promise<z.output<T>> {
		return await this.request(
			{ endpoint: 'taskDetailsPath', value: taskId, settings },
			schema,
			'the service gave no task record',
		);
	}

	/** @param missing why an answer is incomplete whose `data` does not fit the schema */
	private async request<T extends z.ZodTypeAny>(
		request: Request,
		schema: T,
		missing: string,
	): Promise<z.output<T>> {
		const { origin, body, failure } = await this.exchange(request);
		if (failure) throw new ServiceError(failure);
		const parsed = schema.safeParse((body as { data?: unknown }).data);
		if (!parsed.success) throw new ServiceError(describeIncomplete(origin, missing));
		return parsed.data as z.output<T>;
	}

	private async exchange(
		{ endpoint, value, body, settings }: Request,
		context: Context = this.context,
	): Promise<Exchange> {
		const url = buildUrl(this.credentials, endpoint, value);
		const { origin } = new URL(url);
		const options: IHttpRequestOptions = {
			url,
			method: body ? 'POST' : 'GET',
			headers: {
				Accept: 'application/json',
				'User-Agent': USER_AGENT,
				...(body && { 'Content-Type': body instanceof Blob ? body.type : 'application/json' }),
			},
			body: body as IDataObject | undefined,
			timeout: settings.timeoutSeconds * 1000,
			encoding: 'text',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
		};
		const data = { ...this.credentials } as IDataObject as Record<string, string>;
		try {
			const { statusCode, body: text } = (await context.helpers.httpRequestWithAuthentication.call(
				context,
				CREDENTIAL,
				options,
				{
					credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data },
				},
			)) as { statusCode: number; body: string };
			const failure = findFailure(statusCode, text, origin);
			return {
				origin,
				body: parseJson(text),
				isHttpSuccess: isSuccess(statusCode),
				failure: failure && this.redact(failure),
			};
		} catch (error) {
			const failure = describeNetworkFailure(error, settings.timeoutSeconds);
			return {
				origin,
				failure: {
					message: `The service at ${origin} ${failure.reason}`,
					hint: failure.isTimeout
						? "If the service is just slow, raise 'Timeout' in Options."
						: "Check 'Base URL' in the credential, and that this n8n can reach the service.",
					isRejected: !failure.mayHaveArrived,
				},
			};
		}
	}

	/** A service may repeat the token or a secret in its message; they never leave the credential. */
	private redact(failure: Failure): Failure {
		const { accessToken, webhookSecret, previousWebhookSecret } = this.credentials;
		const message = [accessToken, webhookSecret, previousWebhookSecret]
			.filter((secret): secret is string => Boolean(secret))
			.reduce((shown, secret) => shown.replaceAll(secret, '***'), failure.message);
		return { ...failure, message };
	}
}

/** The same context for n8n's HTTP helper, which aborts requests of a stopped execution otherwise. */
const withoutCancelSignal = <T extends Context>(context: T): T =>
	Object.create(context, { getExecutionCancelSignal: { value: () => undefined } }) as T;

const isSuccess = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

/** @returns why an answer is not a success of the task service, if it isn't */
function findFailure(statusCode: number, body: string, origin: string): Failure | undefined {
	if (statusCode >= 300 && statusCode < 400)
		return {
			message: `The service at ${origin} sent the request on to another address, which is not followed so that the access token stays with the configured service`,
			hint: "Put the address that the service really has into 'Base URL' of the credential.",
			code: statusCode,
			isRejected: false,
		};
	const parsed = envelope.safeParse(parseJson(body));
	if (!parsed.success && isSuccess(statusCode))
		return {
			message: `The answer from ${origin} is not one of the task service: it is ${body.trim() ? 'not the expected JSON' : 'empty'}`,
			hint: "Check 'Base URL' and the endpoint paths in the credential.",
			isRejected: false,
		};
	const { code: bodyCode = 200, msg, message = '' } = parsed.data ?? {};
	if (bodyCode === 200 && isSuccess(statusCode)) return undefined;
	const code = bodyCode === 200 ? statusCode : bodyCode;
	const text = msg ?? message;
	const refusal = explainRefusal(statusCode, code, text);
	return { ...refusal, message: `${refusal.message} (${code}${text ? `: ${text}` : ''})`, code };
}

const describeIncomplete = (origin: string, missing: string): Omit<Failure, 'isRejected'> => ({
	message: `The answer from ${origin} is incomplete: ${missing}`,
	hint: 'Check the endpoint paths in the credential.',
});

/** Parses JSON without rounding a long numeric task ID; undefined where the text is not JSON. */
function parseJson(text: string): unknown {
	try {
		return JSON.parse(text.replace(/("taskId"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
	} catch {
		return undefined;
	}
}
