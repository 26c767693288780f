import { randomUUID } from 'node:crypto';
import { createEndedTask, runConcurrently } from '../dev/fixtures/callbacks.cts';
import { CREDENTIAL_TYPE, type Pair } from '../dev/fixtures/pair.cts';
import { connect, triggered, webhook } from '../dev/fixtures/workflows.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import { poll } from '../dev/n8n/wait.cts';
import type { Workflow, WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import byHand from './byHand.json';
import { importFor } from './fixtures.cts';
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

const buildWebhook = (responseMode: string) => webhook({ responseMode });

/** A chain that someone builds in n8n's editor. */
const buildByHand = ({ url }: Service) =>
	JSON.parse(JSON.stringify(byHand).replaceAll('https://api.example', url)) as Workflow;

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
	byHand: buildByHand,
};

/** Activates receivers. */
export async function activate<Name extends ReceiverName>(
	n8n: N8n,
	service: Service,
	names: Name[],
) {
	const receivers = {} as Record<Name, Receiver>;
	for (const name of names) {
		const id = await importFor(n8n, service, RECEIVERS[name](service));
		await n8n.activate(id);
		receivers[name] = { id, url: await n8n.getProductionWebhookUrl(id) };
	}
	return receivers;
}

/**
 * Sends a task's callback.
 * @returns the milliseconds until the answer
 * @throws {Error} when it isn't accepted
 */
async function measureCallback(service: Service, taskId: string, url: string) {
	const sent = performance.now();
	const { status, body } = await service.callback(taskId, { url });
	if (status !== 200) throw new Error(`A callback was answered ${status}: ${body}`);
	return performance.now() - sent;
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
		measureCallback(service, taskId, `${url}?task=${taskId}`),
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
