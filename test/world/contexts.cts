import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INode,
	IWebhookFunctions,
	NodeExecutionHint,
} from 'n8n-workflow';
import type { Readable } from 'node:stream';
import type { WebhookResponse } from './response.cts';

/** The one fake of n8n's contexts, for worlds and for tests of one room. */

/** Optional for the product: undocumented fields of n8n's contexts, and a function that only runs have. */
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

/** Parts of n8n or of the package, by name. */
export type Parts<Whole> = Partial<Record<keyof Whole | (typeof OPTIONAL)[number], unknown>>;

/**
 * Builds a part of n8n or of the package from what a test gives. Reading anything else throws, so that no test passes because
 * something is undefined that n8n always has.
 */
export function fake<Whole extends object>(parts: Parts<Whole>): Whole {
	const optional = new Set<string | symbol>([...OPTIONAL, ...LOOKED_FOR]);
	return new Proxy(parts, {
		get(target, name, receiver) {
			if (name in target || optional.has(name) || typeof name === 'symbol')
				return Reflect.get(target, name, receiver) as unknown;
			throw new Error(`The test gives no ${name}`);
		},
	}) as Whole;
}

/** A request with the token of a credential. */
export interface Request {
	path: string;
	body?: unknown;
	token: string;
	/** Ends the request. */
	signal?: AbortSignal;
}

/** What n8n knows of a node that it calls. */
export interface NodeFacts {
	node: Omit<Partial<INode>, 'parameters'> & { parameters?: Record<string, unknown> };
	/** A call of an MCP server has none. */
	executionId?: string;
	mode?: string;
	/** Names n8n and the workflow. */
	id?: string;
	credentials?: IDataObject;
	/** What the service answers a request with the token of the credential. */
	answer?: (request: Request) => unknown;
	log?: (line: string) => void;
	/** More of n8n's helpers. */
	helpers?: object;
}

type Self = { getExecutionCancelSignal?: () => AbortSignal | undefined };

const HELPERS = {
	prepareBinaryData: async (stream: Readable, fileName: string, mimeType: string) => ({
		fileName,
		mimeType,
		data: (await stream.toArray()).join(''),
	}),
	constructExecutionMetaData: (items: object[], { itemData }: IDataObject) =>
		items.map((item) => ({ ...item, pairedItem: itemData })),
};

/** What n8n gives to all functions of a node. */
export function buildBaseContext<Context extends object>(
	{
		node,
		executionId,
		mode = 'trigger',
		id,
		credentials,
		answer,
		log = () => {},
		helpers,
	}: NodeFacts,
	more: Parts<Context> = {},
): Context {
	async function httpRequestWithAuthentication(
		this: Self,
		_: string,
		{ url, body }: IHttpRequestOptions,
		{ credentialsDecrypted: { data } }: { credentialsDecrypted: { data: IDataObject } },
	) {
		const path = url.slice((credentials?.baseUrl as string | undefined)?.length);
		const signal = this.getExecutionCancelSignal?.();
		return await answer?.({ path, body, token: data.accessToken as string, signal });
	}
	return fake<Context>({
		getNode: () => node,
		getNodeParameter: (name: string, fallback: unknown) => node.parameters?.[name] ?? fallback,
		getExecutionId: () => executionId,
		getMode: () => mode,
		getInstanceId: () => id,
		getWorkflow: () => ({ id, name: 'Films' }),
		getWorkflowSettings: () => ({}),
		getCredentials: async () => credentials,
		logger: { info: log, warn: log, error: log, debug: log },
		helpers: { ...HELPERS, httpRequestWithAuthentication, ...helpers },
		...more,
	});
}

/** What n8n knows of a run. */
export interface RunFacts extends NodeFacts {
	/** What n8n stores for each node, and for all. Null: n8n's Agents run the node without an execution. */
	contextData?: Record<string, object> | null;
	runIndex?: number;
	/** The node is the tool of an agent before version 3. */
	isTool?: boolean;
	items?: Array<{ json: object }>;
	hints?: string[];
	/** What n8n shows with the execution. */
	customData?: object;
}

/** What n8n gives to `execute()`. */
export function buildExecuteContext(
	{ contextData = {}, runIndex = 0, isTool = false, items = [], hints = [], ...more }: RunFacts,
	parts: Parts<IExecuteFunctions> = {},
) {
	const { node, customData = new Map() } = more;
	return buildBaseContext<IExecuteFunctions>(more, {
		getNodeParameter: (name: string, _: number, none: unknown) => node.parameters?.[name] ?? none,
		getContext(scope: string) {
			if (!contextData) throw new Error('`executionData` is not initialized');
			return (contextData[scope === 'flow' ? scope : `node:${node.name}`] ??= {});
		},
		getExecutionContext: () => undefined,
		getExecutionCancelSignal: () => undefined,
		getInputData: () => items,
		getWorkflowDataProxy: () => ({
			$runIndex: runIndex,
			$execution: { customData },
			$: () => ({ isExecuted: true }),
		}),
		getChildNodes: () => [],
		getParentNodes: () => [],
		isToolExecution: () => isTool,
		continueOnFail: () => node.onError?.startsWith('continue') ?? false,
		addExecutionHints: ({ message }: NodeExecutionHint) => hints.push(message),
		...parts,
	});
}

/** What comes for a webhook. */
export interface Received {
	headers: object;
	body: object;
	/** The bytes of the body, where it isn't JSON in UTF-8. */
	bytes?: Buffer;
	query: object;
	response: WebhookResponse;
}

/** What n8n gives to `webhook()`. */
export const buildWebhookContext = (
	facts: NodeFacts,
	{ headers, body, bytes = Buffer.from(JSON.stringify(body)), query, response }: Received,
	more: Parts<IWebhookFunctions> = {},
) =>
	buildBaseContext<IWebhookFunctions>(facts, {
		getHeaderData: () => headers,
		getBodyData: () => body,
		getQueryData: () => query,
		getRequestObject: () => ({ rawBody: bytes }),
		getResponseObject: () => response,
		...more,
	});
