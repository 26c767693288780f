const { randomUUID } = require('node:crypto');

const NODE = 'n8n-nodes-media-generation.mediaGeneration';
const credentials = { mediaGenerationApi: { id: '', name: '' } };

/**
 * A chain of nodes, each leading to the next, that starts by hand.
 * @param {string} name
 * @param {Array<Partial<import('../../dev/n8n/workflow').WorkflowNode> & { name: string, type: string }>} nodes
 * @returns {import('../../dev/n8n/n8n').Workflow}
 */
function chain(name, nodes) {
	const all = [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1 },
		...nodes,
	].map((node, index) => ({
		id: randomUUID(),
		typeVersion: 1,
		position: [index * 220, 0],
		parameters: {},
		...node,
	}));
	const links = all
		.slice(1)
		.map(({ name: next }, index) => [
			all[index]?.name,
			{ main: [[{ node: next, type: 'main', index: 0 }]] },
		]);
	return {
		name,
		nodes: all,
		connections: Object.fromEntries(links),
		settings: { executionOrder: 'v1' },
	};
}

/**
 * A node that gives out one item for each of the given objects.
 * @param {object[]} items
 */
const items = (items) => ({
	name: 'Items',
	type: 'n8n-nodes-base.code',
	typeVersion: 2,
	parameters: { jsCode: `return ${JSON.stringify(items.map((json) => ({ json })))};` },
});

/**
 * Our action node.
 * @param {Record<string, unknown>} parameters
 * @param {object} [more] settings of the node, for example `onError`
 */
const mediaGeneration = (parameters, more = {}) => ({
	name: 'Media Generation',
	type: NODE,
	typeVersion: 1.1,
	parameters,
	credentials,
	...more,
});

/**
 * A workflow that our trigger starts.
 * @param {Record<string, unknown>} [parameters]
 * @returns {import('../../dev/n8n/n8n').Workflow}
 */
function triggered(parameters = {}) {
	const trigger = {
		id: randomUUID(),
		name: 'Trigger',
		type: `${NODE}Trigger`,
		typeVersion: 1.1,
		position: [0, 0],
		webhookId: randomUUID(),
		parameters,
		credentials,
	};
	return {
		name: 'Triggered',
		nodes: [trigger],
		connections: {},
		settings: { executionOrder: 'v1' },
	};
}

/** Nodes that show what those after ours see. */
const WAIT = {
	/** The prompt of the input item that each output item is paired with, and the status. */
	seen: {
		name: 'Seen',
		type: 'n8n-nodes-base.set',
		typeVersion: 3.4,
		parameters: {
			mode: 'raw',
			jsonOutput: "={{ { prompt: $('Items').item.json.prompt, status: $json.status } }}",
			options: {},
		},
	},
};

module.exports = { chain, items, mediaGeneration, triggered, WAIT };
