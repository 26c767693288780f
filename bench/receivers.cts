const { randomUUID } = require('node:crypto');
const path = require('node:path');
const { poll } = require('../dev/n8n/wait.cts');
const {
	CREDENTIAL_TYPE,
	buildCredentialData,
	TOKEN,
	WEBHOOK_SECRET,
} = require('../dev/fixtures/pair.cts');
const { runConcurrently, createEndedTask, sendCallback } = require('../dev/fixtures/callbacks.cts');
const { triggered } = require('../dev/fixtures/workflows.cts');
const { withN8n } = require('./pair.cts');
const { processorTime } = require('./processor.cts');

/**
 * What callbacks can come to: our trigger, and beside it what a user has without it: n8n's bare Webhook node, which
 * verifies nothing and asks nobody, and a chain built by hand that verifies the signature and asks for the details (but
 * neither looks at the age of the timestamp nor tells duplicates). And a trigger that does nothing, which is what n8n makes
 * any trigger of a community package cost. All are active in one n8n, have the same settings and end in one node that does
 * nothing; every callback is signed and is for a task of its own.
 */
const CALLBACKS = 40;
const IN_FLIGHT = 8;

/** @typedef {import('../dev/n8n/workflow.cts').WorkflowNode} Node */

const node = (
	/** @type {string} */ name,
	/** @type {string} */ type,
	/** @type {number} */ typeVersion,
	/** @type {Record<string, any>} */ parameters = {},
	/** @type {object} */ more = {},
) => ({
	id: randomUUID(),
	name,
	type: `n8n-nodes-base.${type}`,
	typeVersion,
	position: [0, 0],
	parameters,
	...more,
});

const END = node('End', 'noOp', 1);

const to = (/** @type {{ name: string } | undefined} */ target) =>
	target ? [{ node: target.name, type: 'main', index: 0 }] : [];

/**
 * A workflow of nodes that lead to one another.
 * @param {Node[]} nodes
 * @param {Record<string, Node>} [elsewhere] by a node's name, where its second output leads
 */
const workflow = (nodes, elsewhere = {}) => ({
	name: 'Intake',
	nodes: [...nodes, ...Object.values(elsewhere)],
	connections: Object.fromEntries(
		nodes
			.slice(0, -1)
			.map(({ name }, index) => [
				name,
				{ main: [to(nodes[index + 1]), ...(elsewhere[name] ? [to(elsewhere[name])] : [])] },
			]),
	),
	settings: { executionOrder: 'v1' },
});

const ours = (/** @type {object} */ options) =>
	workflow([.../** @type {Node[]} */ triggered({ options }).nodes, END]);

const webhook = (/** @type {string} */ responseMode, options = {}) =>
	node('Webhook', 'webhook', 2.1, {
		httpMethod: 'POST',
		path: randomUUID(),
		responseMode,
		options,
	});

const respond = (/** @type {number} */ responseCode) =>
	node(`Respond ${responseCode}`, 'respondToWebhook', 1.5, {
		respondWith: 'json',
		responseBody: '{"accepted":true}',
		options: { responseCode },
	});

/** @param {{ url: string }} service */
const byHand = (service) =>
	workflow(
		[
			webhook('responseNode'),
			node(
				'Crypto',
				'crypto',
				2,
				{
					action: 'hmac',
					type: 'SHA256',
					value: "={{ $json.body.data.task_id }}.{{ $json.headers['x-webhook-timestamp'] }}",
					dataPropertyName: 'expected',
					encoding: 'base64',
				},
				{ credentials: { crypto: {} } },
			),
			node('If', 'if', 2.3, {
				conditions: {
					combinator: 'and',
					options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 3 },
					conditions: [
						{
							id: randomUUID(),
							leftValue: '={{ $json.expected }}',
							rightValue: "={{ $json.headers['x-webhook-signature'] }}",
							operator: { type: 'string', operation: 'equals' },
						},
					],
				},
				options: {},
			}),
			node(
				'HTTP Request',
				'httpRequest',
				4.3,
				{
					url: `=${service.url}/api/v1/jobs/recordInfo?taskId={{ $json.body.data.task_id }}`,
					authentication: 'genericCredentialType',
					genericAuthType: 'httpHeaderAuth',
					options: {},
				},
				{ credentials: { httpHeaderAuth: {} } },
			),
			respond(200),
			END,
		],
		{ If: respond(401) },
	);

const nothing = (more = {}) =>
	workflow([
		{
			...node('Nothing', '', 2, {}, { webhookId: randomUUID(), ...more }),
			type: 'CUSTOM.nothingTrigger',
		},
		END,
	]);

const RECEIVERS = {
	withoutDetails: () => ours({ fetchDetails: false }),
	withDetails: () => ours({}),
	nothing: () => nothing(),
	nothingWithCredential: () => nothing({ credentials: { [CREDENTIAL_TYPE]: {} } }),
	bare: () => workflow([webhook('onReceived'), END]),
	withExpression: () => workflow([webhook('onReceived', { responseData: '={{ "ok" }}' }), END]),
	byHand,
};

const NAMES = /** @type {Name[]} */ Object.keys(RECEIVERS);
const VERIFYING = ['withoutDetails', 'withDetails', 'byHand'];

/** @typedef {keyof typeof RECEIVERS} Name */
/** @typedef {{ name: Name, id: string, url: string }} Receiver its workflow and where that is called */
/**
 * Callbacks per second that end in a finished execution; milliseconds until each answer; milliseconds of n8n's processor
 * time per callback, until its execution has ended.
 * @typedef {{ rate: number, answers: number[], processor: number }} Round
 */

/**
 * Runs `work` with an n8n in which all receivers are active.
 * @template T
 * @param {import('../dev/service/index.cts').Service} service
 * @param {Record<string, string>} env added to n8n's environment
 * @param {(n8n: import('../dev/n8n/n8n.cts').N8n, receivers: Receiver[]) => Promise<T>} work
 */
const withReceivers = async (service, env, work) =>
	await withN8n(async (n8n) => await work(n8n, await activate(service, n8n, NAMES)), {
		N8N_CUSTOM_EXTENSIONS: path.join(__dirname, 'nothing'),
		...env,
	});

/**
 * Activates receivers. Each that verifies has refused a callback of another key then.
 * @param {import('../dev/service/index.cts').Service} service
 * @param {import('../dev/n8n/n8n.cts').N8n} n8n
 * @param {Name[]} names
 * @returns {Promise<Receiver[]>}
 */
async function activate(service, n8n, names) {
	/** @type {Record<string, import('../dev/n8n/n8n.cts').Credential>} */
	const credentials = {};
	for (const [type, data] of Object.entries({
		[CREDENTIAL_TYPE]: buildCredentialData(service),
		crypto: { hmacSecret: WEBHOOK_SECRET },
		httpHeaderAuth: { name: 'Authorization', value: `Bearer ${TOKEN}` },
	}))
		credentials[type] = await n8n.createCredential({ name: type, type, data });

	const receivers = [];
	for (const name of names) {
		const made = RECEIVERS[name](service);
		const { id } = await n8n.importWorkflow(made, { credentials });
		await n8n.activate(id);
		const url = await n8n.getProductionWebhookUrl(made);
		receivers.push({ name, id, url });
		if (VERIFYING.includes(name))
			await sendCallback(service, url, await createEndedTask(service), {
				key: 'another',
				expected: 401,
			});
	}
	return receivers;
}

/**
 * A round of genuine callbacks, over when all of its executions are, so that none runs on into the next.
 * @param {import('../dev/service/index.cts').Service} service
 * @param {import('../dev/n8n/n8n.cts').N8n} n8n
 * @param {Receiver} receiver
 * @returns {Promise<Round>}
 */
async function round(service, n8n, { id, url }) {
	const taskIds = await runConcurrently(Array.from({ length: CALLBACKS }), IN_FLIGHT, () =>
		createEndedTask(service),
	);
	const used = processorTime(n8n.pid);
	const begun = Date.now();
	const answers = await runConcurrently(taskIds, IN_FLIGHT, (taskId) =>
		sendCallback(service, url, taskId),
	);
	const finished = await poll(
		async () => {
			const all = await n8n.listExecutions({ workflowId: id, status: 'success' });
			const own = all.filter(({ startedAt }) => Date.parse(startedAt) >= begun);
			return own.length === CALLBACKS ? own : undefined;
		},
		{ timeout: 60_000, what: 'the executions of a round', every: 250 },
	);
	const processor = (processorTime(n8n.pid) - used) / CALLBACKS;
	const ended = Math.max(...finished.map(({ stoppedAt }) => Date.parse(stoppedAt)));
	return { rate: CALLBACKS / ((ended - begun) / 1000), answers, processor };
}

/**
 * What is measured of each receiver, by its name: in interleaved rounds, in one order and then in the other, after one that
 * is not counted.
 * @template T
 * @param {Receiver[]} receivers
 * @param {number} rounds
 * @param {(receiver: Receiver) => Promise<T>} measure
 */
async function interleaved(receivers, rounds, measure) {
	/** @type {Map<Name, T[]>} */
	const measured = new Map(receivers.map(({ name }) => [name, []]));
	for (let index = -1; index < rounds; index++)
		for (const receiver of index % 2 ? receivers : [...receivers].reverse()) {
			const one = await measure(receiver);
			if (index >= 0) measured.get(receiver.name)?.push(one);
		}
	return (/** @type {Name} */ name) => measured.get(name) ?? [];
}

module.exports = { activate, CALLBACKS, IN_FLIGHT, interleaved, round, withReceivers };
