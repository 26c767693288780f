import { randomUUID } from 'node:crypto';
import { createEndedTask, runConcurrently } from '../dev/fixtures/callbacks.cts';
import { CREDENTIAL_TYPE } from '../dev/fixtures/pair.cts';
import { connect, triggered, webhook } from '../dev/fixtures/workflows.cts';
import type { N8n } from '../dev/n8n/n8n.cts';
import { poll } from '../dev/n8n/wait.cts';
import type { Workflow, WorkflowNode } from '../dev/n8n/workflow.cts';
import type { Service } from '../dev/service/index.cts';
import byHand from './byHand.json';
import { importFor } from './measure.cts';

export const CALLBACKS = 40;
const IN_FLIGHT = 8;

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

/**
 * The receivers of callbacks that are compared: our trigger; a trigger that does nothing; n8n's bare Webhook node, which verifies
 * nothing and asks nobody; and a chain that someone builds in n8n's editor, which verifies the signature and asks for the
 * details, but neither looks at the age of the timestamp nor tells duplicates. All end in one node that does nothing.
 */
export const RECEIVERS = {
	withoutDetails: () => buildOurs({ fetchDetails: false }),
	withoutMemory: () => buildOurs({ fetchDetails: false, deduplicate: false }),
	withDetails: () => buildOurs({}),
	nothing: () =>
		buildReceiver({
			name: 'Nothing',
			type: 'CUSTOM.nothingTrigger',
			typeVersion: 2,
			webhookId: randomUUID(),
			credentials: { [CREDENTIAL_TYPE]: {} },
		}),
	bare: () => buildReceiver(webhook({ responseMode: 'onReceived' })),
	byHand: ({ url }: Service) =>
		JSON.parse(JSON.stringify(byHand).replaceAll('https://api.example', url)) as Workflow,
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
 * Measures a round of genuine callbacks. It is over when all of its executions are, so that none runs on into the next.
 * @returns callbacks per second that end in a finished execution
 * @throws {Error} when a callback isn't accepted
 */
export async function measureRound(n8n: N8n, service: Service, { id, url }: Receiver) {
	const tasks = await runConcurrently(Array.from({ length: CALLBACKS }), IN_FLIGHT, () =>
		createEndedTask(service),
	);
	const begun = Date.now();
	await runConcurrently(tasks, IN_FLIGHT, async (taskId) => {
		const { status, body } = await service.callback(taskId, { url: `${url}?task=${taskId}` });
		if (status !== 200) throw new Error(`A callback was answered ${status}: ${body}`);
	});
	const startedAfter = new Date(begun).toISOString();
	const filter = { workflowId: id, status: ['success'], startedAfter };
	const finished = await poll(
		async () => {
			const own = await n8n.listExecutions(filter);
			return own.length === CALLBACKS ? own : undefined;
		},
		{ what: 'the executions of a round' },
	);
	const ended = Math.max(...finished.map(({ stoppedAt }) => Date.parse(String(stoppedAt))));
	return CALLBACKS / ((ended - begun) / 1000);
}
