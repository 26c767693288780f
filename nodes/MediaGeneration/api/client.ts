import type { z } from 'zod';
import { readIdempotencyHeader, type Credentials } from './endpoints';
import { ServiceError, UnknownOutcomeError, type Failure } from './errors';
import {
	exchange,
	type Context,
	type Exchange,
	type RequestSettings,
	type ServiceRequest,
} from './exchange';
import { buildForm, type UploadFile } from './multipart';
import { listTokens, listUrlSecrets, Redactor } from './redaction';
import {
	createdTask,
	envelope,
	modelList,
	modelSchema,
	number,
	toMessage,
	uploadedFile,
	webLink,
	type CatalogueModel,
	type UploadedFile,
} from './schemas';
import { failedTask, rawTaskRecord, readCallbackUrl, taskRecord, toTask, type Task } from './task';

/** The body of a request to create a task. */
export interface CreateTaskRequest {
	model: string;
	callBackUrl?: string;
	input: Record<string, unknown>;
}

/** The codes of a task that ended without a result. If there is a record, it says how. */
const GENERATION_FAILED = 501;
const CODES_OF_TASKS: Array<number | undefined> = [GENERATION_FAILED, 408];

/** The folder that files are uploaded to. */
const UPLOAD_PATH = 'n8n';

/** The task service, as one credential reaches it. */
export class TaskService {
	/** Hides the secrets of the credential and of all creations so far. */
	private redactor: Redactor;

	constructor(
		private readonly context: Context,
		readonly credentials: Credentials,
	) {
		const tokens = listTokens(Object.values(context.getQueryData?.() ?? {}));
		this.redactor = Redactor.of(credentials).with(tokens);
	}

	/**
	 * Creates a task, which costs credits, so the request is sent only once, and is never aborted.
	 * @param idempotencyKey 1 to 128 characters, sent where the credential names a header for it
	 * @returns the task's ID
	 * @throws {ServiceError} if nothing was created; {UnknownOutcomeError} if the task may exist
	 */
	async createTask(
		request: CreateTaskRequest,
		settings: RequestSettings,
		idempotencyKey?: string,
	): Promise<string> {
		const header = readIdempotencyHeader(this.credentials);
		const headers = header && idempotencyKey ? { [header]: idempotencyKey } : undefined;
		this.redactor = this.redactor.with(listUrlSecrets(request.callBackUrl ?? ''));
		const answer = await this.send({
			endpoint: 'createTaskPath',
			body: request,
			headers,
			settings,
		});
		const { data, error } = createdTask.safeParse(getData(answer.body));
		if (data && (!answer.failure || answer.isHttpSuccess)) return data.taskId;
		const taskId = data?.taskId ?? answer.foundTaskId;
		if (answer.failure?.isRejected && !taskId) throw new ServiceError(answer.failure);
		const { message, code, answeredBy, hint } =
			answer.failure ?? this.describeIncomplete(answer, 'task ID', error);
		const advice = answeredBy === 'other' && !(code && code >= 500) ? hint : undefined;
		throw new UnknownOutcomeError({ message, taskId, ...(advice && { advice }) }, code);
	}

	/** Reads a task. @throws {ServiceError} with code 404 or 422 when the service doesn't know it */
	async getTask(taskId: string, settings: RequestSettings): Promise<Task> {
		return (await this.getTaskAndCallbackUrl(taskId, settings)).task;
	}

	/** Reads a task like `getTask`, and its callback URL, if its record has the request. */
	async getTaskAndCallbackUrl(
		taskId: string,
		settings: RequestSettings,
	): Promise<{ task: Task; callbackUrl?: string }> {
		const answer = await this.send({ endpoint: 'taskDetailsPath', value: taskId, settings });
		const { code, msg, message = msg } = readEnvelope(answer.body);
		if (code === GENERATION_FAILED && !hasRecord(answer.body))
			return { task: failedTask(taskId, code, message) };
		const record = this.readRecord(answer, taskId, taskRecord);
		return { task: toTask(taskId, record), callbackUrl: readCallbackUrl(record) };
	}

	/** Reads a task's record as the service sends it. @throws {ServiceError} as `getTask` */
	async getTaskRecord(taskId: string, settings: RequestSettings): Promise<object> {
		const answer = await this.send({ endpoint: 'taskDetailsPath', value: taskId, settings });
		return { ...this.readRecord(answer, taskId, rawTaskRecord), taskId };
	}

	/** Reads the account's credits, fractional. */
	async getCredits(settings: RequestSettings): Promise<number> {
		return await this.request({ endpoint: 'creditsPath', settings }, number, 'number of credits');
	}

	/** Uploads a file, streamed. The service overwrites one of the same name, so it must be unique. */
	async upload(
		fileName: string,
		file: UploadFile,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = buildForm({ uploadPath: UPLOAD_PATH, fileName }, fileName, file);
		const request = { endpoint: 'streamUploadPath', body, settings } as const;
		return await this.request(request, uploadedFile, 'URL for the file');
	}

	/** Lets the service fetch a file from a URL. @param fileName as for `upload` */
	async uploadFromUrl(
		fileName: string,
		fileUrl: string,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = { fileUrl, uploadPath: UPLOAD_PATH, fileName };
		const request = { endpoint: 'urlUploadPath', body, settings } as const;
		return await this.request(request, uploadedFile, 'URL for the file');
	}

	/** Lists the models of the catalogue. @throws {ServiceError} with code 404 when it has none */
	async listModels(settings: RequestSettings): Promise<CatalogueModel[]> {
		return await this.request({ endpoint: 'modelsPath', settings }, modelList, 'list of models');
	}

	/** Reads a model's OpenAPI document; null when the service has none yet. */
	async getModelSchema(model: string, settings: RequestSettings): Promise<unknown> {
		const request = { endpoint: 'modelSchemaPath', value: model, settings } as const;
		return (await this.request(request, modelSchema, 'schema')).openapi;
	}

	/** Asks for a fresh link to a file of this service. @throws {ServiceError} when it gives none */
	async getDownloadUrl(url: string, settings: RequestSettings): Promise<string> {
		const request = { endpoint: 'downloadUrlPath', body: { url }, settings } as const;
		return await this.request(request, webLink, 'link');
	}

	/** Reads the record in a details answer, which must be of the task that was asked for. */
	private readRecord<R extends { taskId?: string }>(
		answer: Exchange,
		taskId: string,
		schema: z.ZodType<R, z.ZodTypeDef, unknown>,
	): R {
		const { origin, body, failure } = answer;
		const decides = CODES_OF_TASKS.includes(readEnvelope(body).code) && hasRecord(body);
		if (failure && !decides) throw new ServiceError(failure);
		const record = this.readData(answer, schema, 'task record');
		if (record.taskId === undefined || record.taskId === taskId) return record;
		throw new ServiceError({
			message: this.redactor.hideInMessage(
				`The answer from ${origin} is of another task: its field data.taskId is ${quote(record.taskId)}, and ${quote(taskId)} was asked for`,
			),
			hint: "Nothing of it was used. Check 'Task Details Path' in the credential, or ask the service.",
			answeredBy: 'service',
		});
	}

	/** @param wanted what an answer lacks whose `data` does not fit the schema */
	private async request<T extends z.ZodTypeAny>(
		request: ServiceRequest,
		schema: T,
		wanted: string,
	): Promise<z.output<T>> {
		const answer = await this.send(request);
		if (answer.failure) throw new ServiceError(answer.failure);
		return this.readData(answer, schema, wanted);
	}

	private readData<T extends z.ZodTypeAny>(
		answer: Exchange,
		schema: T,
		wanted: string,
	): z.output<T> {
		const { success, data, error } = schema.safeParse(getData(answer.body));
		if (success) return data as z.output<T>;
		throw new ServiceError(this.describeIncomplete(answer, wanted, error));
	}

	private describeIncomplete(
		{ origin }: Exchange,
		wanted: string,
		error?: z.ZodError,
	): Omit<Failure, 'isRejected'> {
		const field = ['data', ...(error?.issues[0]?.path ?? [])].join('.');
		return {
			message: `The answer from ${origin} is incomplete: the service gave no ${wanted}. Its field ${field} is missing or has another form`,
			hint: 'Check the endpoint paths in the credential.',
			answeredBy: 'service',
		};
	}

	private readonly send = async (request: ServiceRequest): Promise<Exchange> =>
		await exchange(this.context, this.credentials, request, this.redactor);
}

const readEnvelope = (body: unknown): Partial<z.output<typeof envelope>> =>
	envelope.safeParse(body).data ?? {};

const hasRecord = (body: unknown): boolean => rawTaskRecord.safeParse(getData(body)).success;

const getData = (body: unknown): unknown => (body as { data?: unknown } | undefined)?.data;

const quote = (text: string): string => toMessage(JSON.stringify(text));
