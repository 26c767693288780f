/**
 * @typedef {{ id?: string, name: string, type: string, typeVersion?: number, position?: number[], webhookId?: string, disabled?: boolean, parameters?: Record<string, any>, credentials?: Record<string, any> }} WorkflowNode
 * @typedef {{ id?: string, name: string, nodes: WorkflowNode[], connections: Record<string, any>, settings?: object, pinData?: object, [key: string]: any }} Workflow
 */

const TRIGGER_WEBHOOK_PATH = 'webhook';

/**
 * The node that a workflow starts with: the named one, or the first that nothing leads to.
 * @param {Pick<Workflow, 'nodes' | 'connections'>} workflow
 * @param {string} [name]
 */
function startNode({ nodes, connections }, name) {
	const led = new Set(
		Object.values(connections)
			.flatMap((outputs) => Object.values(outputs).flat(2))
			.map((connection) => connection?.node),
	);
	const node = nodes.find((node) =>
		name
			? node.name === name
			: !node.disabled && !led.has(node.name) && !node.type.endsWith('.stickyNote'),
	);
	if (!node) throw new Error(`The workflow has no node ${name ?? 'to start with'}`);
	return node;
}

/**
 * A node's webhook path: n8n's Webhook node says it in full, a trigger's is its webhook id and the path of its type.
 * @param {WorkflowNode} node
 */
function webhookPath({ name, type, webhookId, parameters }) {
	if (type === 'n8n-nodes-base.webhook') return parameters?.path;
	if (!webhookId) throw new Error(`The node "${name}" has no webhookId`);
	return `${webhookId}/${TRIGGER_WEBHOOK_PATH}`;
}

module.exports = { startNode, webhookPath };
