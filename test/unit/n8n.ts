import type {
	IDataObject,
	IExecuteFunctions,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { signHeaders } from '../../dev/service/signHeaders.cts';
import type { CreateTaskRequest, TaskService } from '../../nodes/MediaGeneration/api/client';
import {
	buildUnknownError,
	findFailure,
	type ServiceError,
} from '../../nodes/MediaGeneration/api/failure';
import type { Item } from '../../nodes/MediaGeneration/run/input/item';
import { readCall } from '../../nodes/MediaGeneration/host/call';
import type { RunSettings } from '../../nodes/MediaGeneration/run/ledger/ledger';
import type { Creation } from '../../nodes/MediaGeneration/run/ledger/note';
import { makeResponse } from '../world/response.cts';

/** What the product looks for in n8n's contexts and does without: undocumented fields, and a function that only runs have. */
const OPTIONAL = [
	'additionalData',
	'additionalKeys',
	'executeData',
	'hints',
	'runExecutionData',
	'workflow',
	'_getCredentials',
	'getExecutionCancelSignal',
] as const;

/** What Jest and the language look for in any object. */
const LOOKED_FOR = ['then', 'toJSON', 'asymmetricMatch', '$$typeof', 'nodeType', 'tagName'];

/**
 * Builds a part of n8n or of the package from what a test gives. To read anything else throws, so that no test passes because
 * something is undefined that n8n always has.
 */
export function fake<Whole extends object>(
	given: Partial<Record<keyof Whole | (typeof OPTIONAL)[number], unknown>>,
): Whole {
	const known = new Set<string | symbol>([...OPTIONAL, ...LOOKED_FOR]);
	return new Proxy(given, {
		get(target, name, receiver) {
			if (name in target || known.has(name) || typeof name === 'symbol')
				return Reflect.get(target, name, receiver) as unknown;
			throw new Error(`The test gives no ${name}`);
		},
	}) as Whole;
}

/** A run of the node, as far as the tests vary it. */
export interface Run {
	/** The node's context, which n8n keeps with the execution. Null: n8n's Agents run the node without an execution. */
	kept?: object | null;
	run?: number;
	/** A call of an MCP server has none. */
	executionId?: string;
	/** The type of the node. */
	type?: string;
	/** The node's parameters, as its owner set them. */
	parameters?: object;
	/** The tool of an agent that is older than the newest. */
	isTool?: boolean;
	/** The JSON of each input item. */
	input?: object[];
	/** On Error is "continue". */
	goesOn?: boolean;
}

/** Builds what n8n gives to a run, and more of it. */
export function buildContext(
	{
		kept = {},
		run = 0,
		type = 'mediaGeneration',
		parameters = {},
		isTool = false,
		input = [],
		goesOn = false,
		...rest
	}: Run = {},
	more: Partial<Record<keyof IExecuteFunctions, unknown>> = {},
) {
	const { executionId } = { executionId: '1', ...rest };
	return fake<IExecuteFunctions>({
		getContext(of: string) {
			if (!kept) throw new Error('`executionData` is not initialized');
			// What all nodes share goes along with what is the node's.
			return of === 'flow' ? ((kept as { flow?: object }).flow ??= {}) : kept;
		},
		getExecutionContext: () => undefined,
		getExecutionId: () => executionId,
		getExecutionCancelSignal: () => undefined,
		getInputData: () => input.map((json) => ({ json })),
		getInstanceId: () => 'instance',
		getNode: () => ({ id: 'node', name: 'Node', type, parameters }),
		getWorkflow: () => ({ id: 'workflow', name: 'Films' }),
		getWorkflowDataProxy: () => ({ $runIndex: run, $execution: { customData: new Map() } }),
		getWorkflowSettings: () => ({}),
		isToolExecution: () => isTool,
		continueOnFail: () => goesOn,
		helpers: {},
		logger: { info() {}, warn() {} },
		...more,
	});
}

/** Reads what n8n says of a call. */
export const buildCall = (...given: Parameters<typeof buildContext>) =>
	readCall(buildContext(...given));

/** The error after a refusal of the service. */
export const refuse = (code: number, text = '') =>
	findFailure('https://api.example', 200, code, text, '') as ServiceError;

export const unknown = (taskId?: string) =>
	buildUnknownError({ message: 'The service broke off', taskId });

/** How a run waits, where a test doesn't care. */
export const WAIT: RunSettings = {
	howToWait: 'automatic',
	waitLimit: 60_000,
	timeoutSeconds: 1,
	failedTasks: 'output',
};

interface ItemOptions {
	createTask?: (body: CreateTaskRequest) => unknown;
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
		async createTask(body: CreateTaskRequest) {
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
	request: { model: 'model', input: { prompt: `prompt ${index}` }, given: index },
	attempts: 0,
});

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
	/** Of the URL. */
	query?: object;
	readDetails?: ReadDetails;
	/** Parts of the context that not every webhook needs. */
	more: Partial<Record<keyof IWebhookFunctions, unknown>>;
}

/** Builds what n8n gives a webhook for a callback. */
export function buildWebhook(
	{
		taskId,
		secret = SECRET,
		webhookSecret = SECRET,
		headers,
		data,
		body = { data: { task_id: taskId, ...data } },
		query = {},
		readDetails,
		more,
	}: Callback,
	response = makeResponse(),
): IWebhookFunctions {
	const signed = signHeaders({ data: { taskId } }, secret);
	return fake<IWebhookFunctions>({
		getHeaderData: () => headers ?? signed,
		getBodyData: () => body,
		getQueryData: () => query,
		getRequestObject: () => ({ rawBody: Buffer.from(JSON.stringify(body)) }),
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
		},
		logger: { info: () => {}, warn: () => {}, error: () => {} },
		...more,
	});
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
