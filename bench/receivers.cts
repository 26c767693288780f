import { randomUUID } from 'node:crypto';
import { createEndedTask, runConcurrently } from '../dev/fixtures/callbacks.cts';
import { CREDENTIAL_TYPE, type Pair } from '../dev/fixtures/pair.cts';
import { connect, triggered, webhook } from '../dev/fixtures/workflows.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import { poll } from '../dev/n8n/wait.cts';
import type { WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import { buildHttpRequest, importFor, measureCallback } from './fixtures.cts';
import { readProcessorTime } from './measure.cts';

export const CALLBACKS = 40;
const IN_FLIGHT = 8;
export const ROUND = `rounds of ${CALLBACKS}, ${IN_FLIGHT} in flight`;

/** A receiver's workflow, and the URL that callbacks to it are sent to. */
export interface Receiver {
	id: string;
	url: string;
}

export type ReceiverName = keyof typeof RECEIVERS;

/** Builds a workflow that ends in a node that does nothing. */
const buildReceiver = (...nodes: WorkflowNode[]) =>
	connect('Intake', [...nodes, { name: 'End', type: 'n8n-nodes-base.noOp' }]);

const buildOurs = (options: object) => buildReceiver(...triggered({ options }).nodes);

const buildWebhook = (responseMode: string, options = {}) =>
	webhook(randomUUID(), { responseMode, options });

const buildRespond = (responseCode: number): WorkflowNode => ({
	name: `Respond ${responseCode}`,
	type: 'n8n-nodes-base.respondToWebhook',
	typeVersion: 1.5,
	parameters: { respondWith: 'json', responseBody: '{"accepted":true}', options: { responseCode } },
});

/** n8n's own node that leads on by its first output when the signature is the expected one, and else by its second one. */
const IF_SIGNED: WorkflowNode = {
	name: 'If',
	type: 'n8n-nodes-base.if',
	typeVersion: 2.3,
	parameters: {
		conditions: {
			combinator: 'and',
			options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 3 },
			conditions: [
				{
					id: 'equal',
					leftValue: '={{ $json.expected }}',
					rightValue: "={{ $json.headers['x-webhook-signature'] }}",
					operator: { type: 'string', operation: 'equals' },
				},
			],
		},
		options: {},
	},
};

function buildByHand(service: Service) {
	const crypto: WorkflowNode = {
		name: 'Crypto',
		type: 'n8n-nodes-base.crypto',
		typeVersion: 2,
		parameters: {
			action: 'hmac',
			type: 'SHA256',
			value: "={{ $json.body.data.task_id }}.{{ $json.headers['x-webhook-timestamp'] }}",
			dataPropertyName: 'expected',
			encoding: 'base64',
		},
		credentials: { crypto: {} },
	};
	const accepting = buildReceiver(
		buildWebhook('responseNode'),
		crypto,
		IF_SIGNED,
		buildHttpRequest({
			url: `=${service.url}/api/v1/jobs/recordInfo?taskId={{ $json.body.data.task_id }}`,
		}),
		buildRespond(200),
	);
	const refusing = connect('Refusing', [buildRespond(401)]);
	accepting.connections.If?.main?.push([{ node: 'Respond 401', type: 'main', index: 0 }]);
	return { ...accepting, nodes: [...accepting.nodes, ...refusing.nodes] };
}

const buildNothing = () =>
	buildReceiver({
		name: 'Nothing',
		type: 'CUSTOM.nothingTrigger',
		typeVersion: 2,
		webhookId: randomUUID(),
		credentials: { [CREDENTIAL_TYPE]: {} },
	});

/**
 * The receivers of callbacks that are compared: our trigger; n8n's bare Webhook node, which verifies nothing and asks nobody;
 * a chain built by hand that verifies the signature and asks for the details, but neither looks at the age of the timestamp
 * nor tells duplicates; and a trigger that does nothing. All end in one node that does nothing.
 */
export const RECEIVERS = {
	withoutDetails: () => buildOurs({ fetchDetails: false }),
	withoutMemory: () => buildOurs({ fetchDetails: false, deduplicate: false }),
	withDetails: () => buildOurs({}),
	nothing: buildNothing,
	bare: () => buildReceiver(buildWebhook('onReceived')),
	withExpression: () => buildReceiver(buildWebhook('onReceived', { responseData: '={{ "ok" }}' })),
	byHand: buildByHand,
};

const VERIFYING: ReceiverName[] = ['withoutDetails', 'withoutMemory', 'withDetails', 'byHand'];

/** Activates receivers. Each that verifies has refused a callback of another key then. */
export async function activate<Name extends ReceiverName>(
	n8n: N8n,
	service: Service,
	names: Name[],
) {
	const receivers = {} as Record<Name, Receiver>;
	for (const name of names) {
		const id = await importFor(n8n, service, RECEIVERS[name](service));
		await n8n.activate(id);
		const url = await n8n.getProductionWebhookUrl(id);
		receivers[name] = { id, url };
		if (!VERIFYING.includes(name)) continue;
		const taskId = await createEndedTask(service);
		await measureCallback(service, taskId, { url, secret: 'another' }, 401);
	}
	return receivers;
}

/**
 * Measures a round of genuine callbacks. It is over when all of its executions are, so that none runs on into the next.
 * @returns callbacks per second that end in a finished execution, the milliseconds until each answer, and n8n's processor
 * time in milliseconds per callback, until its execution has ended
 */
export async function measureRound(
	{ service, n8n }: Pick<Pair, 'service' | 'n8n'>,
	{ id, url }: Receiver,
) {
	const tasks = await runConcurrently(Array.from({ length: CALLBACKS }), IN_FLIGHT, () =>
		createEndedTask(service),
	);
	const used = readProcessorTime(n8n.pid);
	const begun = Date.now();
	const answers = await runConcurrently(tasks, IN_FLIGHT, (taskId) =>
		measureCallback(service, taskId, { url: `${url}?task=${taskId}` }),
	);
	const startedAfter = new Date(begun).toISOString();
	const filter = { workflowId: id, status: 'success', startedAfter };
	const finished = await poll(
		async () => {
			const own = await n8n.listExecutions(filter);
			return own.length === CALLBACKS ? own : undefined;
		},
		{ what: 'the executions of a round' },
	);
	const processor = (readProcessorTime(n8n.pid) - used) / CALLBACKS;
	const ended = Math.max(...finished.map(({ stoppedAt }) => Date.parse(String(stoppedAt))));
	return { rate: CALLBACKS / ((ended - begun) / 1000), answers, processor };
}
