import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { buildExecuteContext, buildWebhookContext } from './contexts.cts';
import type { NodeFacts, Received, Request } from './contexts.cts';
import type { Entry, Execution, N8n, RunData } from './n8n.cts';
import type { Process } from './process.cts';
import type { Creation } from './service.cts';

/** n8n's contexts in a world. */

/** An execution in a process, and what n8n has of it there. */
export interface Place {
	execution: Execution;
	data: RunData;
	process: Process;
}

/** Finds what n8n knows of the node. */
function toNodeFacts(n8n: N8n, { execution, process }: Place, node: Entry['node']): NodeFacts {
	async function answer({ path, body, token, signal }: Request) {
		const sender = { execution: execution.id, process, token };
		const answer = await process.send(
			async () => await n8n.getService().answer(path, body, sender),
			signal,
		);
		const { creation } = answer as { creation?: Creation };
		if (creation) creation.isAnswered = true;
		return answer;
	}
	return {
		node,
		executionId: execution.id,
		mode: execution.mode,
		id: n8n.host,
		credentials: n8n.credentials,
		answer,
		log: (line) => n8n.note(process, line),
		helpers: {
			httpRequest: async ({ url, abortSignal }: { url: string; abortSignal?: AbortSignal }) =>
				await process.send(async () => await n8n.getService().download(url), abortSignal),
		},
	};
}

/** Builds what both contexts have of the world. */
function toParts(n8n: N8n, { execution, process, data }: Place) {
	const resumeUrl = `https://${n8n.host}/webhook-waiting/${execution.id}?signature=${n8n.token}`;
	return {
		getCredentials: async (_: string, item?: number) =>
			await process.ask(() => {
				n8n.onCredential?.(item);
				return { ...n8n.credentials, ...n8n.accountOf?.(item) };
			}),
		additionalKeys: { $execution: { resumeUrl } },
		runExecutionData: data,
	};
}

const HOOK = { name: 'Hook', type: 'n8n-nodes-base.webhook', disabled: false };

/** Builds what n8n gives to a run of the node. */
export function buildRunContext(n8n: N8n, place: Place, entry: Entry) {
	const { node } = entry;
	const { main } = entry.data;
	const { execution, data, process } = place;
	const { resultData, executionData } = data;
	const parents = [{ ...HOOK, parameters: { responseMode: n8n.conditions.responseMode } }];
	// An expression may return another value in each call.
	const varying = n8n.conditions.varies ? { call: n8n.calls++ } : {};
	const readInput = (item: number) =>
		n8n.read?.(item, execution) ?? { ...(main[0]?.[item] as INodeExecutionData).json, ...varying };
	const set = (name: string, text: string) => {
		n8n.note(process, text);
		(resultData.metadata ??= {})[name] = text;
		execution.customData.set(name, text);
	};
	const wait = async (until: Date) => {
		// n8n also tries a node again that sleeps already.
		const isNew = data.waitTill === undefined;
		if (isNew && n8n.clock.now > execution.stoppedAt)
			n8n.wrong.push('sleeps though it was stopped');
		await process.ask(() => {
			if (n8n.conditions.sleepFails) throw new Error('No active execution found');
			data.waitTill = until.getTime();
		});
	};
	const timeoutAt = execution.timeoutAt + process.skew;
	return buildExecuteContext(
		{
			...toNodeFacts(n8n, place, node),
			contextData: executionData.contextData,
			runIndex: resultData.runData[node.name]?.length,
			items: (node.executeOnce ? main[0]?.slice(0, 1) : main[0]) ?? [],
			hints: execution.hints,
			customData: { set },
		},
		{
			...toParts(n8n, place),
			getExecuteData: () => entry,
			getExecutionCancelSignal: () => execution.stopped.signal,
			getNodeParameter: (name: string, item: number, fallback: unknown) =>
				name === 'anyInput'
					? readInput(item)
					: ((node.parameters as IDataObject)[name] ?? fallback),
			getParentNodes: (name: string) => (name === HOOK.name ? [] : parents),
			putExecutionToWait: wait,
			additionalData: { executionTimeoutTimestamp: timeoutAt === Infinity ? undefined : timeoutAt },
		},
	);
}

/** Builds what n8n gives to the webhook of a node that sleeps. */
export function buildWakeContext(n8n: N8n, place: Place, received: Received) {
	const [{ node }] = place.data.executionData.nodeExecutionStack as [Entry];
	const facts = toNodeFacts(n8n, place, { ...node, disabled: false });
	return buildWebhookContext(facts, received, toParts(n8n, place));
}
