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
	/** The connections, by the node that they come from, and by type. */
	connections: Record<string, Record<string, Outputs>>;
	settings?: object;
	pinData?: object;
}

/** Finds the node of this name, or by default the first node that no other leads to. */
export function findStartNode({ nodes, connections }: Workflow, name?: string) {
	const targets = Object.values(connections).flatMap(({ main }) => main?.flat());
	const followers = new Set(targets.map((connection) => connection?.node));
	const starts = nodes.filter(
		(node) => !followers.has(node.name) && !node.type.endsWith('.stickyNote'),
	);
	const node = name ? nodes.find((one) => one.name === name) : starts[0];
	if (!node) throw new Error(`The workflow has no node ${name ?? 'to start with'}`);
	return node;
}

/** Finds a node's webhook path. For n8n's Webhook node it is a parameter, for a trigger it begins with the webhook ID. */
export function findWebhookPath({ name, type, webhookId, parameters }: WorkflowNode) {
	if (type === 'n8n-nodes-base.webhook') return String(parameters?.path);
	if (!webhookId) throw new Error(`The node "${name}" has no webhookId`);
	return `${webhookId}/webhook`;
}
