type Outputs = Array<Array<{ node: string; type: string; index: number }> | null>;

export interface WorkflowNode {
	id?: string;
	name: string;
	type: string;
	typeVersion?: number;
	position?: number[];
	webhookId?: string;
	parameters?: Record<string, unknown>;
	credentials?: Record<string, object>;
}

export interface Workflow {
	name: string;
	nodes: WorkflowNode[];
	/** By the node that they come from, and their type. */
	connections: Record<string, Record<string, Outputs>>;
	settings?: object;
	pinData?: object;
}

/** Returns the named node, or the first that no items come to. */
export function findStartNode({ nodes, connections }: Workflow, name?: string) {
	const targets = Object.values(connections).flatMap(({ main }) => main?.flat());
	const led = new Set(targets.map((connection) => connection?.node));
	const starts = nodes.filter((node) => !led.has(node.name) && !node.type.endsWith('.stickyNote'));
	const node = name ? nodes.find((one) => one.name === name) : starts[0];
	if (!node) throw new Error(`The workflow has no node ${name ?? 'to start with'}`);
	return node;
}

/** Returns a node's webhook path: that of n8n's Webhook node is a parameter, a trigger's starts with its webhook id. */
export function findWebhookPath({ name, type, webhookId, parameters }: WorkflowNode) {
	if (type === 'n8n-nodes-base.webhook') return String(parameters?.path);
	if (!webhookId) throw new Error(`The node "${name}" has no webhookId`);
	return `${webhookId}/webhook`;
}
