import type {
	IDataObject,
	IHttpRequestOptions,
	INodeExecutionData,
	NodeExecutionHint,
} from 'n8n-workflow';
import type { Readable } from 'node:stream';
import type { Account, Entry, Execution, N8n, RunData } from './n8n.cts';
import type { Process } from './process.cts';
import type { WebhookResponse } from './response.cts';
import type { Creation } from './service.cts';

/** n8n's contexts, as it gives them to `execute()` and `webhook()`. */

type Self = { getExecutionCancelSignal?: () => AbortSignal | undefined };

const buildResumeUrl = ({ host, token }: N8n, { id }: Execution): string =>
	`https://${host}/webhook-waiting/${id}?signature=${token}`;

/** The functions of n8n that both have. */
function buildBase(n8n: N8n, execution: Execution, process: Process) {
	const { baseUrl } = n8n.credentials;
	const log = (line: string) => n8n.note(process, line);
	async function request(
		this: Self,
		_: string,
		{ url, body }: IHttpRequestOptions,
		{ credentialsDecrypted: { data } }: { credentialsDecrypted: { data: Account } },
	) {
		const sender = { execution: execution.id, process, token: data.accessToken };
		const service = n8n.getService();
		const answer = await process.send(
			async () => await service.answer(url.slice(baseUrl.length), body, sender),
			this.getExecutionCancelSignal?.(),
		);
		const { creation } = answer as { creation?: Creation };
		if (creation) creation.isAnswered = true;
		return answer;
	}
	return {
		getExecutionId: () => execution.id,
		getMode: () => execution.mode,
		getInstanceId: () => n8n.host,
		getWorkflow: () => ({ id: n8n.host, name: 'Films' }),
		getWorkflowSettings: () => ({}),
		getCredentials: async (_: string, item?: number) =>
			await process.ask(() => {
				n8n.onCredential?.(item);
				return { ...n8n.credentials, ...n8n.accountOf?.(item) };
			}),
		logger: { info: log, warn: log, error: log, debug: log },
		evaluateExpression: () => buildResumeUrl(n8n, execution),
		additionalKeys: { $execution: { resumeUrl: buildResumeUrl(n8n, execution) } },
		helpers: {
			httpRequestWithAuthentication: request,
			httpRequest: async ({ url, abortSignal }: { url: string; abortSignal?: AbortSignal }) =>
				await process.send(async () => await n8n.getService().download(url), abortSignal),
			prepareBinaryData: async (stream: Readable, fileName: string, mimeType: string) => ({
				fileName,
				mimeType,
				data: (await stream.toArray()).join(''),
			}),
			constructExecutionMetaData: (items: object[], { itemData }: IDataObject) =>
				items.map((item) => ({ ...item, pairedItem: itemData })),
		},
	};
}

interface Run {
	data: RunData;
	entry: Entry;
	process: Process;
}

const HOOK = { name: 'Hook', type: 'n8n-nodes-base.webhook', disabled: false };

/** What n8n gives to a run of the node. */
export function buildExecuteContext(n8n: N8n, execution: Execution, { data, entry, process }: Run) {
	const { node } = entry;
	const { runData } = data.resultData;
	const parents = [{ ...HOOK, parameters: { responseMode: n8n.conditions.responseMode } }];
	// An expression may return another value in each call.
	const varying = n8n.conditions.varies ? { call: n8n.calls++ } : {};
	const readInput = (item: number) =>
		n8n.read?.(item, execution) ?? {
			...(entry.data.main[0]?.[item] as INodeExecutionData).json,
			...varying,
		};
	const read = (name: string, item: number, fallback: unknown) =>
		name === 'anyInput' ? readInput(item) : ((node.parameters as IDataObject)[name] ?? fallback);
	const setCustomData = (name: string, text: string) => {
		n8n.note(process, text);
		(data.resultData.metadata ??= {})[name] = text;
		execution.customData.set(name, text);
	};
	const proxy = {
		$runIndex: runData[node.name]?.length ?? 0,
		$execution: { customData: { set: setCustomData } },
		$: () => ({ isExecuted: true }),
	};
	const wait = async (until: Date) => {
		// A node that sleeps already is tried again by n8n, also then.
		const isNew = data.waitTill === undefined;
		if (isNew && n8n.clock.now > execution.stoppedAt)
			n8n.wrong.push('sleeps though it was stopped');
		await process.ask(() => {
			if (n8n.conditions.parkingFails) throw new Error('No active execution found');
			data.waitTill = until.getTime();
		});
	};
	return {
		...buildBase(n8n, execution, process),
		getNode: () => node,
		continueOnFail: () => node.onError?.startsWith('continue') ?? false,
		isToolExecution: () => false,
		getInputData: () => (node.executeOnce ? entry.data.main[0]?.slice(0, 1) : entry.data.main[0]),
		getExecuteData: () => entry,
		getContext: (of: string) =>
			(data.executionData.contextData[of === 'flow' ? of : `node:${node.name}`] ??= {}),
		getNodeParameter: read,
		getWorkflowDataProxy: () => proxy,
		getExecutionContext: () => undefined,
		getExecutionCancelSignal: () => execution.stopped.signal,
		getChildNodes: () => [],
		getParentNodes: (name: string) => (name === HOOK.name ? [] : parents),
		addExecutionHints: ({ message }: NodeExecutionHint) => execution.hints.push(message),
		putExecutionToWait: wait,
		additionalData: { executionTimeoutTimestamp: toTimestamp(execution, process) },
		runExecutionData: data,
	} as unknown;
}

const toTimestamp = ({ timeoutAt }: Execution, { skew }: Process): number | undefined =>
	timeoutAt === Infinity ? undefined : timeoutAt + skew;

interface Call {
	data: RunData;
	process: Process;
	request: { body: object; headers: object; response: WebhookResponse };
}

/** What n8n gives to the webhook of the node that sleeps. */
export function buildWebhookContext(
	n8n: N8n,
	execution: Execution,
	{ data, process, request: { body, headers, response } }: Call,
) {
	const [entry] = data.executionData.nodeExecutionStack as [Entry];
	return {
		...buildBase(n8n, execution, process),
		getNode: () => ({ ...entry.node, disabled: false }),
		getHeaderData: () => headers,
		getBodyData: () => body,
		getRequestObject: () => ({ rawBody: Buffer.from(JSON.stringify(body)) }),
		getQueryData: () => ({ signature: n8n.token }),
		getResponseObject: () => response,
		runExecutionData: data,
	} as unknown;
}
