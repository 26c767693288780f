import type { z } from 'zod';
import { readResumeSecrets } from '../host/resumeUrl';
import { readIdempotencyHeader, type Credentials } from './endpoints';
import { OtherTaskError, ServiceError, UnknownOutcomeError, type Failure } from './errors';
import {
	exchange,
	type Context,
	type Exchange,
	type RequestSettings,
	type ServiceRequest,
} from './exchange';
import { buildForm, type UploadFile } from './multipart';
import { listUrlSecrets, Redactor } from './redaction';
import {
	createdTask,
	credits,
	modelList,
	modelSchema,
	toMessage,
	uploadedFile,
	webLink,
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

/** The codes of a task that ended without a result. If there is a record, it says how. */
const GENERATION_FAILED = 501;
const CODES_OF_TASKS: Array<number | undefined> = [GENERATION_FAILED, 408];

/** The folder that files are uploaded to. */
const UPLOAD_PATH = 'n8n';

/** The task service, as one credential reaches it. */
export class TaskService {
	/** Hides the secrets of the credential, of the execution's resume URL, and of `hideUrl`. */
	private redactor: Redactor;

	constructor(
		private readonly context: Context,
		readonly credentials: Credentials,
	) {
		const { token, address = '' } = readResumeSecrets(context);
		this.redactor = Redactor.of(credentials).with([token, ...listUrlSecrets(address)]);
	}

	/** Hides the secrets of a callback URL in all that the service says from now on. */
	hideUrl(callBackUrl: string): void {
		this.redactor = this.redactor.with(listUrlSecrets(callBackUrl));
	}

	/** Hides these secrets in what somebody else says, too. */
	hideSecrets(said: unknown): unknown {
		return this.redactor.hideInData(said);
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
		if (request.callBackUrl) this.hideUrl(request.callBackUrl);
		const answer = await this.send({
			endpoint: 'createTaskPath',
			body: request,
			headers,
			settings,
		});
		const { data, error } = createdTask.safeParse(answer.data);
		if (data && answer.isHttpSuccess) return data.taskId;
		const taskId = data?.taskId ?? answer.foundTaskId;
		if (answer.failure?.isRejected && !taskId) throw new ServiceError(answer.failure);
		const { message, code, answeredBy, hint } =
			answer.failure ?? describeIncomplete(answer, createdTask, error);
		const advice = answeredBy === 'other' && !(code && code >= 500) ? hint : undefined;
		throw new UnknownOutcomeError({ message, taskId, advice }, code);
	}

	/** Reads a task. @throws {ServiceError} with code 404 or 422 when the service doesn't know it */
	async getTask(taskId: string, settings: RequestSettings): Promise<Task> {
		const answer = await this.send({ endpoint: 'taskDetailsPath', value: taskId, settings });
		const { said } = answer;
		if (said?.code === GENERATION_FAILED && !hasRecord(answer))
			return toTask(taskId, { state: 'fail', failCode: String(said.code), failMsg: said.text });
		return toTask(taskId, this.readRecord(answer, taskId, taskRecord));
	}

	/** Reads a task's record as the service sends it. @throws {ServiceError} as `getTask` */
	async getTaskRecord(taskId: string, settings: RequestSettings): Promise<object> {
		const answer = await this.send({ endpoint: 'taskDetailsPath', value: taskId, settings });
		return { ...this.readRecord(answer, taskId, rawTaskRecord), taskId };
	}

	async getCredits(settings: RequestSettings): Promise<number> {
		return await this.request({ endpoint: 'creditsPath', settings }, credits);
	}

	/** Uploads a file, streamed. Its name must be unique: the service overwrites one of the same. */
	async upload(
		fileName: string,
		file: UploadFile,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = buildForm({ uploadPath: UPLOAD_PATH, fileName }, fileName, file);
		return await this.request({ endpoint: 'streamUploadPath', body, settings }, uploadedFile);
	}

	/** Lets the service fetch a file from a URL. @param fileName as for `upload` */
	async uploadFromUrl(
		fileName: string,
		fileUrl: string,
		settings: RequestSettings,
	): Promise<UploadedFile> {
		const body = { fileUrl, uploadPath: UPLOAD_PATH, fileName };
		return await this.request({ endpoint: 'urlUploadPath', body, settings }, uploadedFile);
	}

	/** Lists the models of the catalogue. @throws {ServiceError} with code 404 when it has none */
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

	/** Reads the record in a details answer, which must be of the task that was asked for. */
	private readRecord<R extends { taskId?: string | null }>(
		answer: Exchange,
		taskId: string,
		schema: z.ZodType<R, z.ZodTypeDef, unknown>,
	): R {
		const { origin, said, failure } = answer;
		if (failure && !(CODES_OF_TASKS.includes(said?.code) && hasRecord(answer)))
			throw new ServiceError(failure);
		const record = readData(answer, schema);
		if (!record.taskId || record.taskId === taskId) return record;
		throw new OtherTaskError({
			message: this.redactor.hideInMessage(
				`The answer from ${origin} is of another task: its field data.taskId is ${quote(record.taskId)}, and ${quote(taskId)} was asked for`,
			),
			hint: "Nothing of it was used. Check 'Task Details Path' in the credential, or ask the service.",
			answeredBy: 'service',
		});
	}

	private async request<S extends z.ZodTypeAny>(
		request: ServiceRequest,
		schema: S,
	): Promise<z.output<S>> {
		const answer = await this.send(request);
		if (answer.failure) throw new ServiceError(answer.failure);
		return readData(answer, schema);
	}

	private async send(request: ServiceRequest): Promise<Exchange> {
		return await exchange(this.context, this.credentials, request, this.redactor);
	}
}

function readData<S extends z.ZodTypeAny>(answer: Exchange, schema: S): z.output<S> {
	const { success, data, error } = schema.safeParse(answer.data);
	if (success) return data as z.output<S>;
	throw new ServiceError(describeIncomplete(answer, schema, error));
}

function describeIncomplete(
	{ origin }: Exchange,
	{ description }: z.ZodTypeAny,
	error?: z.ZodError,
): Failure {
	const field = ['data', ...(error?.issues[0]?.path ?? [])].join('.');
	return {
		message: `The answer from ${origin} is incomplete: the service gave no ${description}. Its field ${field} is missing or has another form`,
		hint: 'Check the endpoint paths in the credential.',
		answeredBy: 'service',
	};
}

const hasRecord = ({ data }: Exchange): boolean => rawTaskRecord.safeParse(data).success;

const quote = (text: string): string => toMessage(JSON.stringify(text));
