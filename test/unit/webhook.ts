import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { hmac } from '../../dev/fixtures/callbackCases.cts';

const SECRET = 'a-key';

/** Answers with a task's details, or rejects. */
export type ReadDetails = (taskId: string) => Promise<{ statusCode: number; body: string }>;

export const buildDetails = (taskId: string, state: string, more?: object) => ({
	statusCode: 200,
	body: JSON.stringify({ code: 200, data: { taskId, state, ...more } }),
});

export interface Callback {
	taskId: string;
	/** Signs the callback; by default the credential's own. */
	secret?: string;
	/** The key in the credential. */
	webhookSecret?: string;
	/** Instead of the signed ones. */
	headers?: IDataObject;
	/** Beside the task's ID. */
	data?: IDataObject;
	/** Instead of the contract's. */
	body?: object;
	readDetails?: ReadDetails;
	/** Beside the one that reads details. */
	helpers?: object;
	/** Parts of the context that not every webhook needs. */
	more: Partial<Record<keyof IWebhookFunctions, unknown>>;
}

/** A response of n8n's, as far as the code behind a webhook looks at it. */
export function makeResponse() {
	const listeners: Array<() => void> = [];
	const response = {
		statusCode: 200,
		answer: undefined as unknown,
		writableEnded: false,
		status(code: number) {
			response.statusCode = code;
			return response;
		},
		json(answer: unknown) {
			Object.assign(response, { answer, writableEnded: true });
			return response;
		},
		once: (_event: string, listener: () => void) => listeners.push(listener),
		/** The sender has the answer, or hangs up. */
		close() {
			for (const listener of listeners.splice(0)) listener();
			return response;
		},
	};
	return response;
}

/** Builds what n8n gives a webhook for a callback. */
export function buildContext(
	{
		taskId,
		secret = SECRET,
		webhookSecret = SECRET,
		headers,
		data,
		body = { data: { task_id: taskId, ...data } },
		readDetails,
		helpers,
		more,
	}: Callback,
	response = makeResponse(),
): IWebhookFunctions {
	const timestamp = String(Math.floor(Date.now() / 1000));
	return {
		getHeaderData: () =>
			headers ?? {
				'x-webhook-timestamp': timestamp,
				'x-webhook-signature': hmac(taskId, timestamp, secret).toString('base64'),
			},
		getBodyData: () => body,
		getResponseObject: () => response,
		getWorkflow: () => ({ id: 'workflow' }),
		getMode: () => 'webhook',
		getCredentials: async () => ({
			baseUrl: 'https://api.example.com',
			accessToken: 'token',
			webhookSecret,
		}),
		helpers: {
			httpRequestWithAuthentication: async (_type: string, { url }: { url: string }) =>
				await readDetails?.(String(new URL(url).searchParams.get('taskId'))),
			...helpers,
		},
		logger: { info: () => {}, warn: () => {}, error: () => {} },
		...more,
	} as unknown as IWebhookFunctions;
}

/** Sends a callback to a webhook of n8n's, and returns what n8n and the sender are given. */
export async function sendCallback(
	receive: (context: IWebhookFunctions) => Promise<IWebhookResponseData>,
	callback: Callback,
) {
	const response = makeResponse();
	const result = await receive(buildContext(callback, response));
	// Either the webhook has answered, or n8n does.
	expect(Boolean(result.noWebhookResponse)).toBe(response.writableEnded);
	const received = {
		status: response.statusCode,
		answer: response.answer,
		/** The items that the execution starts or goes on with. */
		output: result.workflowData?.[0],
		/** n8n has stored the execution, and answers. */
		store: () => {
			const { webhookResponse } = result;
			response.json(webhookResponse).close();
			return webhookResponse as unknown;
		},
		/** n8n could not store it. */
		fail: (status = 500) => void response.status(status).json({}).close(),
		/** The sender hangs up while n8n works. */
		hangUp() {
			response.close();
			return received;
		},
	};
	return received;
}
