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
	/** On Error is to continue. */
	goesOn?: boolean;
}

/** Builds what n8n gives to a run. `more` are further parts of the context. */
export function buildContext(
	{ type = 'mediaGeneration', parameters = {}, input = [], goesOn, ...run }: RunSetup = {},
	more: Parts<IExecuteFunctions> = {},
) {
	const onError = goesOn ? 'continueRegularOutput' : undefined;
	const node = { id: 'node', name: 'Node', type, parameters, onError } as const;
	const items = input.map((json) => ({ json }));
	return buildExecuteContext({ node, items, id: 'workflow', executionId: '1', ...run }, more);
}

/** Builds a call of n8n's. */
export const buildCall = (...setup: Parameters<typeof buildContext>) =>
	readCall(buildContext(...setup));

/** Builds the error of a request that the service has rejected. */
export const buildRejection = (code: number, text = '') =>
	findFailure('https://api.example', 200, code, text, '') as ServiceError;

/** Builds the error of a creation of unknown outcome. */
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
	/** Changed fields of the credential. */
	credentials?: object;
	getCredits?: () => Promise<number>;
	/** Entries of Options. By default the rate has no limit. */
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

const KEY = 'a-key';

/** Answers with a task's details, or rejects. */
export type ReadDetails = (taskId: string) => Promise<{ statusCode: number; body: string }>;

export const buildDetails = (taskId: string, state: string, more?: object) => ({
	statusCode: 200,
	body: JSON.stringify({ code: 200, data: { taskId, state, ...more } }),
});

/** A callback, and the node of n8n that gets it. */
export interface Callback extends Omit<NodeFacts, 'answer'> {
	taskId: string;
	/** The key that signs the callback; by default the credential's own. */
	key?: string;
	/** The key in the credential. */
	webhookSecret?: string;
	/** The headers, in place of the signed ones. */
	headers?: IDataObject;
	/** What `data` has beside the task's ID. */
	data?: IDataObject;
	/** The body, in place of the contract's. */
	body?: object;
	/** The bytes of the body, in place of JSON in UTF-8. */
	bytes?: Buffer;
	/** When the callback is signed, as Unix time in seconds; by default now. */
	timestamp?: number | string;
	/** The query of the URL. */
	query?: object;
	readDetails?: ReadDetails;
	/** Parts of the context that not every webhook needs. */
	more?: Parts<IWebhookFunctions>;
}

/** Builds what n8n gives a webhook for a callback. */
export function buildWebhook(
	{
		taskId,
		key = KEY,
		webhookSecret = KEY,
		data,
		body = { data: { task_id: taskId, ...data } },
		bytes = Buffer.from(JSON.stringify(body)),
		timestamp,
		headers = signHeaders(bytes, key, timestamp),
		query = {},
		readDetails,
		more,
		...facts
	}: Callback,
	response = makeResponse(),
): IWebhookFunctions {
	const webhook = {
		id: 'workflow',
		mode: 'webhook',
		credentials: { baseUrl: 'https://api.example.com', accessToken: 'token', webhookSecret },
		answer: async ({ path }: Request) =>
			await readDetails?.(String(new URLSearchParams(path.split('?')[1]).get('taskId'))),
		...facts,
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
		/** Acts as n8n does when it has stored the execution, and answers. */
		store: () => {
			const { webhookResponse } = result;
			response.json(webhookResponse).close();
			return webhookResponse as unknown;
		},
		/** Acts as n8n does when it could not store the execution. */
		fail: () => void response.status(500).json({}).close(),
		/** Acts as a sender that hangs up while n8n works. */
		hangUp() {
			response.close();
			return received;
		},
	};
	return received;
}
