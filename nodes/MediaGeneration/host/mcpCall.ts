import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { readNotedRuns } from './notedRuns';

const MCP_TRIGGER = '@n8n/n8n-nodes-langchain.mcpTrigger';

/** n8n's MCP client gives up after 60 s, as those of others do, and its model asks again. */
const ANSWERED_WITHIN = 44_000;

/** What n8n's context of a tool has beside its functions (2.14.2, 2.41.1). */
interface ContextFields {
	workflow?: {
		nodes: Record<string, INode>;
		getChildNodes: (name: string, type: string) => string[];
	};
}

/**
 * Says when a tool's call below an MCP server is to be answered, in milliseconds since 1970; Infinity
 * for any other call. It counts from the client's call: an agent between may call several times.
 * `e2e/agentTools` and `queue` fail first.
 */
export function readMcpDeadline(context: IExecuteFunctions): number {
	if (!isBelowMcp(context)) return Infinity;
	// The agent between is among them, and in queue mode the trigger.
	const runs = Object.values(readNotedRuns(context)).flat();
	return Math.min(Date.now(), ...runs.map(({ startTime }) => startTime)) + ANSWERED_WITHIN;
}

/**
 * Says whether an MCP server leads to the node, and no other trigger has started the execution.
 * n8n has no execution for such a call, or notes its trigger only in queue mode of newer versions.
 */
function isBelowMcp(context: IExecuteFunctions): boolean {
	const startedBy = context.getExecutionContext?.()?.triggerNode?.type ?? MCP_TRIGGER;
	const { workflow } = context as unknown as ContextFields;
	const below = workflow?.getChildNodes(context.getNode().name, 'ai_tool') ?? [];
	const isServer = (name: string) => workflow?.nodes[name]?.type === MCP_TRIGGER;
	return startedBy === MCP_TRIGGER && below.some(isServer);
}
