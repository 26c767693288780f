import {
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IHttpRequestOptions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { z } from 'zod';
import { meaningOf, RATE_LIMITED } from './answers';
import {
	createdTask,
	credits,
	envelope,
	rawTaskRecord,
	taskRecord,
	uploadedFile,
	type UploadedFile,
} from './contract';
import { disconnectionOf, type Disconnection } from './connection';
import { endpointUrl, type Addresses, type Endpoint } from './endpoints';
import { MultipartBody, type UploadFile } from './multipart';
import type { SigningKeys } from './signature';
import { taskOf, type Task } from './task';

/** Name of the credential type. */
export const CREDENTIAL = 'mediaGenerationApi';

/** The credential as n8n decrypts it. */
export interface Credentials extends Addresses, Partial<Record<Endpoint, string>> {
	accessToken: string;
	webhookSecret?: string;
	previousWebhookSecret?: string;
}

/** What the service takes to create a task. */
export interface CreateTaskRequest {
	model: string;
	callBackUrl?: string;
	input: Record<string, unknown>;
}

export interface RequestSettings {
	timeoutSeconds: number;
}

/**
 * A request that did not give what was asked for. `outcome` says whether the service surely did nothing
 * (`rejected`), or may have done what was asked (`unknown`): what creates a task must then not be repeated.
 */
export class ServiceError extends Error {
	constructor(
		message: string,
		readonly description: string,
		readonly outcome: 'rejected' | 'unknown',
		/** The body's `code` or else the HTTP status; absent where no readable answer came. */
		readonly code?: number,
		/** Whether it was refused only because requests came too fast: it may be sent again, later. */
		readonly rateLimited = false,
	) {
		super(message);
		this.name = 'ServiceError';
	}
}

const LOOK_FIRST =
	'The task may exist and may have been paid for: look at the recent tasks of your account with the service before you create it again.';

/** A create that was sent, and of which nobody knows whether it made a task. @param what what happened to it */
export const outcomeUnknown = (what: string, code?: number): ServiceError =>
	new ServiceError(what, LOOK_FIRST, 'unknown', code);

/** Makes the ServiceError of one request: what happened, what to do, and whether the service may have acted on it. */
type Fail = (
	what: string,
	next: string,
	known?: { code?: number; sent?: boolean; rateLimited?: boolean },
) => ServiceError;

type Context = IExecuteFunctions | IWebhookFunctions | IHookFunctions;

interface Answer {
	body: string;
	statusCode: number;
	headers: IDataObject;
}

/** The folder that files are uploaded to. */
const UPLOAD_PATH = 'n8n';

/** A user agent that front servers take for no bare script; some answer 403 to those. */
const USER_AGENT = 'Mozilla/5.0 (compatible; n8n-nodes-media-generation)';

/** How long callbacks share what was read of a credential, in milliseconds: what its owner changes counts that much later. */
export const SHARED_FOR = 1_000;

/** What callbacks share, by node and credential. */
const shared = new Map<string, Promise<Credentials>>();

/** The task service, as one credential reaches it. */
export class TaskService {
	private constructor(
		private readonly context: Context,
		readonly credentials: Credentials,
	) {}

	/** Reads the node's credential, once. */
	static async connect(context: Context): Promise<TaskService> {
		return new TaskService(context, await context.getCredentials<Credentials>(CREDENTIAL));
	}

	/** As `connect`, for callbacks, which come in crowds: they share a read for a second, since each costs n8n an isolate. */
	static async connectShared(context: IWebhookFunctions): Promise<TaskService> {
		const { id, credentials } = context.getNode();
		const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL]?.id} ${context.getMode()}`;
		const known = shared.get(key);
		if (known) return new TaskService(context, await known);
		const read = context.getCredentials<Credentials>(CREDENTIAL);
		shared.set(key, read);
		const forget = () => shared.delete(key);
		void read.then(async () => await sleep(SHARED_FOR)).then(forget, forget);
		return new TaskService(context, await read);
	}

	/** The keys that callbacks may be signed with; undefined when the credential has none. */
	get signingKeys(): SigningKeys | undefined {
		const { webhookSecret, previousWebhookSecret } = this.credentials;
		const previous = previousWebhookSecret?.trim() ? previousWebhookSecret : undefined;
		return webhookSecret?.trim() ? { current: webhookSecret, previous } : undefined;
	}

	/**
	 * Creates a task, which costs credits: it is sent once and never again.
	 * @returns the task's id
	 * @throws {ServiceError} with `outcome: 'unknown'` when the task may exist all the same
	 */
	async createTask(request: CreateTaskRequest, settings: RequestSettings): Promise<string> {
		const data = await this.request(
			{ endpoint: 'createTaskPath', creates: true, body: request, settings },
			createdTask,
			'the service gave no task ID',
		);
		return data.taskId;
	}

	/**
	 * The task as the service knows it now.
	 * @throws {ServiceError} with code 404 or 422 when the service does not know the task
	 */
	async getTask(taskId: string, settings: RequestSettings): Promise<Task> {
		return taskOf(await this.taskDetails(taskId, settings, taskRecord));
	}

	/**
	 * The task's record as the service gives it, with what a Task leaves out.
	 * @throws {ServiceError} with code 404 or 422 when the service does not know the task
	 */
	async getTaskRecord(taskId: string, settings: RequestSettings): Promise<object> {
		return await this.taskDetails(taskId, settings, rawTaskRecord);
	}

	/** The account's credits, fractional. */
	async getCredits(settings: RequestSettings): Promise<number> {
		return await this.request(
			{ endpoint: 'creditsPath', settings },
			credits,
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

	private async taskDetails<T extends z.ZodTypeAny>(
		taskId: string,
		settings: RequestSettings,
		schema: T,
	): Promise<z.output<T>> {
		return await this.request(
			{ endpoint: 'taskDetailsPath', taskId, settings },
			schema,
			'the service gave no task record',
		);
	}

	private async request<T extends z.ZodTypeAny>(
		{
			endpoint,
			taskId,
			body,
			creates = false,
			settings,
		}: {
			endpoint: Endpoint;
			taskId?: string;
			body?: object;
			creates?: boolean;
			settings: RequestSettings;
		},
		schema: T,
		missing: string,
	): Promise<z.output<T>> {
		const fail: Fail = (what, next, { code, sent = true, rateLimited } = {}) =>
			creates && sent
				? outcomeUnknown(this.redact(what), code)
				: new ServiceError(this.redact(what), next, 'rejected', code, rateLimited);
		const url = endpointUrl(this.credentials, endpoint, taskId);
		const { origin } = new URL(url);
		let answer: Answer;
		try {
			answer = await this.send({
				url,
				method: body ? 'POST' : 'GET',
				headers: {
					Accept: 'application/json',
					'User-Agent': USER_AGENT,
					...(body && { 'Content-Type': body instanceof Blob ? body.type : 'application/json' }),
				},
				body: body as IDataObject | undefined,
				timeout: settings.timeoutSeconds * 1000,
			});
		} catch (error) {
			throw notConnected(disconnectionOf(error, settings.timeoutSeconds), origin, fail);
		}
		const data = schema.safeParse(dataOf(answer, origin, fail));
		if (data.success) return data.data as z.output<T>;
		throw fail(
			`The answer from ${origin} is incomplete: ${missing}`,
			'Check the endpoint paths in the credential.',
		);
	}

	private async send(options: IHttpRequestOptions): Promise<Answer> {
		return (await this.context.helpers.httpRequestWithAuthentication.call(
			this.context,
			CREDENTIAL,
			{
				...options,
				encoding: 'text',
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			},
			{
				credentialsDecrypted: {
					id: '',
					name: '',
					type: CREDENTIAL,
					data: { ...this.credentials } as IDataObject as Record<string, string>,
				},
			},
		)) as Answer;
	}

	/** A service may repeat the token or a key in its message; they never leave the credential. */
	private redact(text: string): string {
		const { accessToken, webhookSecret, previousWebhookSecret } = this.credentials;
		return [accessToken, webhookSecret, previousWebhookSecret]
			.filter((secret): secret is string => Boolean(secret))
			.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
	}
}

/** What an answer carries. @throws what `fail` makes of an answer that is a refusal, or none of the service's */
function dataOf({ statusCode, body }: Answer, origin: string, fail: Fail): unknown {
	if (statusCode >= 300 && statusCode < 400)
		throw fail(
			`The service at ${origin} sent the request on to another address, which is not followed so that the access token stays with the configured service`,
			'Put the address that the service really has into Base URL of the credential.',
			{ code: statusCode, sent: false },
		);
	const ok = statusCode < 300;
	const parsed = envelope.safeParse(parseJson(body));
	if (!parsed.success && !ok) throw refusal(statusCode, '', fail);
	if (!parsed.success)
		throw fail(
			`The answer from ${origin} is not one of the task service: it is ${body.trim() ? 'not the expected JSON' : 'empty'}`,
			'Check Base URL and the endpoint paths in the credential.',
		);
	const { code, msg, message, data } = parsed.data;
	if (code !== 200 || !ok)
		throw refusal(code === 200 ? statusCode : code, msg ?? message ?? '', fail);
	return data;
}

function refusal(code: number, text: string, fail: Fail): ServiceError {
	const meaning = meaningOf(code, text);
	return fail(`${meaning.what} (${code}${text ? `: ${text}` : ''})`, meaning.next, {
		code,
		sent: code >= 500,
		rateLimited: meaning === RATE_LIMITED,
	});
}

function notConnected(
	{ what, sent, timedOut }: Disconnection,
	origin: string,
	fail: Fail,
): ServiceError {
	const next = timedOut
		? 'If the service is just slow, raise Timeout in Options.'
		: 'Check Base URL in the credential, and that this n8n can reach the service.';
	return fail(`The service at ${origin} ${what}`, next, { sent });
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
