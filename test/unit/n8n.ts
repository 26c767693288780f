import type {
	IDataObject,
	IExecuteFunctions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { signHeaders } from '../../dev/service/signHeaders.cts';
import type { CreationBody, TaskService } from '../../nodes/MediaGeneration/api/client';
import {
	buildUnknownError,
	findFailure,
	type ServiceError,
} from '../../nodes/MediaGeneration/api/failure';
import type { Item } from '../../nodes/MediaGeneration/run/input/item';
import { readCall } from '../../nodes/MediaGeneration/host/call';
import type { WaitSettings } from '../../nodes/MediaGeneration/run/ledger/ledger';
import type { Creation } from '../../nodes/MediaGeneration/run/ledger/changes';
import {
	buildExecuteContext,
	buildWebhookContext,
	fake,
	type NodeFacts,
	type RunFacts,
	type Parts,
	type Request,
} from '../world/contexts.cts';
import { makeResponse } from '../world/response.cts';

export { fake } from '../world/contexts.cts';

/** A run of the node, as far as the tests vary it. */
export interface RunSetup extends Omit<RunFacts, 'node' | 'items'> {
	/** The type of the node. */
	type?: string;
	/** The node's parameters, as its owner set them. */
	parameters?: Record<string, unknown>;
	/** The JSON of each input item. */
	input?: object[];
	/** On Error is "continue". */
	goesOn?: boolean;
}

/** Builds what n8n gives to a run, and more of it. */
export function buildContext(
	{ type = 'mediaGeneration', parameters = {}, input = [], goesOn, ...run }: RunSetup = {},
	more: Parts<IExecuteFunctions> = {},
) {
	const onError = goesOn ? 'continueRegularOutput' : undefined;
	const node = { id: 'node', name: 'Node', type, parameters, onError } as const;
	const items = input.map((json) => ({ json }));
	return buildExecuteContext({ node, items, id: 'workflow', executionId: '1', ...run }, more);
}

/** Reads what n8n says of a call. */
export const buildCall = (...given: Parameters<typeof buildContext>) =>
	readCall(buildContext(...given));

/** The error after the service has rejected a request. */
export const buildRejection = (code: number, text = '') =>
	findFailure('https://api.example', 200, code, text, '') as ServiceError;

export const buildUnknown = (taskId?: string) =>
	buildUnknownError({ message: 'The service broke off', taskId });

/** How a run waits, where a test doesn't care. */
export const WAIT: WaitSettings = {
	howToWait: 'automatic',
	waitLimit: 60_000,
	timeoutSeconds: 1,
	failedTasks: 'output',
};

interface ItemOptions {
	createTask?: (body: CreationBody) => unknown;
	/** Of the credential. */
	credentials?: object;
	getCredits?: () => Promise<number>;
	/** In Options. By default the rate has no limit. */
	options?: Record<string, unknown>;
}

/** Builds an item of a run, and its service. */
export function buildItem(
	context: IExecuteFunctions,
	index: number,
	{ createTask, credentials, getCredits, options }: ItemOptions = {},
): Item {
	const account = { baseUrl: 'https://api.example', accessToken: 'token', ...credentials };
	const service = fake<TaskService>({
		credentials: account,
		account: `${account.baseUrl} ${account.accessToken}`,
		async createTask(body: CreationBody) {
			const answer = createTask?.(body) ?? `task-${index}`;
			if (answer instanceof Error) throw answer;
			return answer;
		},
		request: getCredits,
	});
	const all: Record<string, unknown> = { tasksPer10Seconds: 0, ...options };
	const option = (name: string) => all[name];
	const call = readCall(context);
	return { index, call, service, option, read: () => '', settings: { timeoutSeconds: 1 } };
}

/** Prepares an item that asks for a task. */
export const prepare = (
	context: IExecuteFunctions,
	index: number,
	options: ItemOptions = {},
): Creation => ({
	item: buildItem(context, index, options),
	request: { model: 'model', input: { prompt: `prompt ${index}` }, userInput: index },
});

const SECRET = 'a-key';

/** Answers with a task's details, or rejects. */
export type ReadDetails = (taskId: string) => Promise<{ statusCode: number; body: string }>;

export const buildDetails = (taskId: string, state: string, more?: object) => ({
	statusCode: 200,
	body: JSON.stringify({ code: 200, data: { taskId, state, ...more } }),
});

/** A callback, and the node of n8n's that it comes to. */
export interface Callback extends Omit<NodeFacts, 'answer'> {
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
	/** Its bytes, instead of JSON's in UTF-8. */
	bytes?: Buffer;
	/** When it is signed, as Unix time in seconds; by default now. */
	timestamp?: number | string;
	/** Of the URL. */
	query?: object;
	readDetails?: ReadDetails;
	/** Parts of the context that not every webhook needs. */
	more?: Parts<IWebhookFunctions>;
}

/** Builds what n8n gives a webhook for a callback. */
export function buildWebhook(
	{
		taskId,
		secret = SECRET,
		webhookSecret = SECRET,
		data,
		body = { data: { task_id: taskId, ...data } },
		bytes = Buffer.from(JSON.stringify(body)),
		timestamp,
		headers = signHeaders(bytes, secret, timestamp),
		query = {},
		readDetails,
		more,
		...of
	}: Callback,
	response = makeResponse(),
): IWebhookFunctions {
	const webhook = {
		id: 'workflow',
		mode: 'webhook',
		credentials: { baseUrl: 'https://api.example.com', accessToken: 'token', webhookSecret },
		answer: async ({ path }: Request) =>
			await readDetails?.(String(new URLSearchParams(path.split('?')[1]).get('taskId'))),
		...of,
	};
	return buildWebhookContext(webhook, { headers, body, bytes, query, response }, more);
}

/** Sends a callback to a webhook of n8n's, and returns what n8n and the sender are given. */
export async function sendCallback(
	receive: (context: IWebhookFunctions) => Promise<IWebhookResponseData>,
	callback: Callback,
) {
	const response = makeResponse();
	const result = await receive(buildWebhook(callback, response));
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
		fail: () => void response.status(500).json({}).close(),
		/** The sender hangs up while n8n works. */
		hangUp() {
			response.close();
			return received;
		},
	};
	return received;
}
