const { randomUUID } = require('node:crypto');
const { poll } = require('../dev/n8n/wait');
const { CREDENTIAL_TYPE, credentialData, TOKEN, WEBHOOK_SECRET } = require('../test/e2e/harness');
const { atOnce, endedTask } = require('../test/e2e/senders');
const { triggered } = require('../test/e2e/workflows');
const { send } = require('./callback');
const { richService, withN8n } = require('./pair');
const { SETTINGS } = require('./settings');
const { median, percentile } = require('./statistics');

/**
 * Genuine callbacks per second that end in a finished execution, with 8 in flight at once, and how long their answers
 * take. Our trigger stands beside what a user has without it: n8n's bare Webhook node, which verifies nothing and asks
 * nobody, and a chain built by hand that verifies the signature and asks for the details (but neither looks at the age of
 * the timestamp nor tells duplicates). All are active in one n8n, have the same settings and end in one node that does
 * nothing; every callback is signed and is for a task of its own. A round is over when all of its executions are, so that
 * none runs on into the next.
 *
 * As it comes, n8n sets up an isolate for expressions before it calls any trigger but its own Webhook node, and for that
 * one too when a parameter has an expression: so that is shown as well.
 */
const ROUNDS = 7;
const WARM_UP = 1;
const CALLBACKS = 40;
const IN_FLIGHT = 8;

/** @typedef {import('../dev/n8n/workflow').WorkflowNode} Node */

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
	workflow([.../** @type {Node[]} */ (triggered({ options }).nodes), END]);

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

/** The workflows that callbacks are sent to, in each n8n. */
const SIDES = {
	withoutDetails: () => ours({ fetchDetails: false }),
	withDetails: () => ours({}),
	bare: () => workflow([webhook('onReceived'), END]),
	withExpression: () => workflow([webhook('onReceived', { responseData: '={{ "ok" }}' }), END]),
	byHand,
};

const VERIFYING = ['withoutDetails', 'withDetails', 'byHand'];

/** @typedef {keyof typeof SIDES} Side */
/** @typedef {{ rate: number, answers: number[] }} Round callbacks per second; milliseconds until each answer */

/** @type {Array<{ name: string, ours: Side, theirs: Side, goal?: import('./run').Goal }>} */
const COMPARISONS = [
	{
		name: "without details, of what n8n's bare Webhook node takes in",
		ours: 'withoutDetails',
		theirs: 'bare',
		goal: { atLeast: 0.95 },
	},
	{
		name: "without details, of what n8n's Webhook node takes in with an expression in a parameter",
		ours: 'withoutDetails',
		theirs: 'withExpression',
	},
	{
		name: 'with details, of what Webhook, Crypto, If, HTTP Request and Respond to Webhook take in',
		ours: 'withDetails',
		theirs: 'byHand',
		goal: { atLeast: 1.3 },
	},
];

/**
 * Measures all sides in one n8n.
 * @param {import('../dev/service').Service} service
 * @param {import('../dev/n8n/n8n').N8n} n8n
 */
async function measure(service, n8n) {
	/** @type {Record<string, import('../dev/n8n/n8n').Credential>} */
	const credentials = {};
	for (const [type, data] of Object.entries({
		[CREDENTIAL_TYPE]: credentialData(service),
		crypto: { hmacSecret: WEBHOOK_SECRET },
		httpHeaderAuth: { name: 'Authorization', value: `Bearer ${TOKEN}` },
	}))
		credentials[type] = await n8n.createCredential({ name: type, type, data });

	const sides = [];
	for (const [name, make] of Object.entries(SIDES)) {
		const made = make(service);
		const { id } = await n8n.importWorkflow(made, { credentials });
		await n8n.activate(id);
		const url = await n8n.productionWebhookUrl(made);
		sides.push({ name, id, url, rounds: /** @type {Round[]} */ ([]) });
	}

	const newTask = () => endedTask({ service });
	for (const { url } of sides.filter(({ name }) => VERIFYING.includes(name)))
		await send(service, url, await newTask(), { key: 'another', expected: 401 });

	for (let index = -WARM_UP; index < ROUNDS; index++)
		for (const { id, url, rounds } of index % 2 ? sides : [...sides].reverse()) {
			const taskIds = await atOnce(Array.from({ length: CALLBACKS }), IN_FLIGHT, newTask);
			const begun = Date.now();
			const answers = await atOnce(taskIds, IN_FLIGHT, (taskId) => send(service, url, taskId));
			const finished = await poll(
				async () => {
					const all = await n8n.executions({ workflowId: id, status: 'success' });
					const own = all.filter(({ startedAt }) => Date.parse(startedAt) >= begun);
					return own.length === CALLBACKS ? own : undefined;
				},
				{ timeout: 60_000, what: 'the executions of a round', every: 250 },
			);
			const ended = Math.max(...finished.map(({ stoppedAt }) => Date.parse(stoppedAt)));
			if (index >= 0) rounds.push({ rate: CALLBACKS / ((ended - begun) / 1000), answers });
		}
	return /** @type {Record<Side, Round[]>} */ (
		Object.fromEntries(sides.map(({ name, rounds }) => [name, rounds]))
	);
}

const rateOf = (/** @type {Round[]} */ rounds) => median(rounds.map(({ rate }) => rate));

/** @param {Round[]} rounds */
function told(rounds) {
	const answers = rounds.flatMap((round) => round.answers);
	const within = (/** @type {number} */ share) => `${percentile(answers, share).toFixed(0)} ms`;
	return `${rateOf(rounds).toFixed(1)}/s (answers: p50 ${within(0.5)}, p99 ${within(0.99)})`;
}

async function bench() {
	const service = await richService({ taskSeconds: 0 });
	/** @type {import('./run').Row[]} */
	const rows = [];
	try {
		for (const { setting, env } of SETTINGS) {
			const measured = await withN8n((n8n) => measure(service, n8n), env);
			for (const { name, ours, theirs, goal } of COMPARISONS)
				rows.push({
					name: `Callbacks per second ${name}; ${setting}`,
					value: rateOf(measured[ours]) / rateOf(measured[theirs]),
					goal,
					figures: `${told(measured[ours])}, beside ${told(measured[theirs])}; medians of ${ROUNDS} rounds of ${CALLBACKS}, ${IN_FLIGHT} in flight`,
				});
		}
		return rows;
	} finally {
		await service.close();
	}
}

module.exports = { title: 'Intake: from a signed callback to a finished execution', bench };
