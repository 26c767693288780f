import { createEndedTask } from '../dev/fixtures/callbacks.cts';
import {
	buildCredentialData,
	CREDENTIAL_TYPE,
	TOKEN,
	WEBHOOK_SECRET,
} from '../dev/fixtures/pair.cts';
import { chain, httpRequest, mediaGeneration } from '../dev/fixtures/workflows.cts';
import type { Execution } from '../dev/n8n/execution.cts';
import type { Credential, N8n } from '../dev/n8n/n8n.cts';
import type { Workflow, WorkflowNode } from '../dev/n8n/workflow.cts';
import {
	startService,
	type CallbackOverrides,
	type Service,
	type SettingsInput,
} from '../dev/service/index.cts';

/** Starts an emulator with credits for any number of tasks, until the end of an `await using` block. */
export const openService = async (settings?: SettingsInput) =>
	await startService({ credits: 1e9, ...settings });

/**
 * Saves a workflow with the credentials that its nodes need to speak to this emulator.
 * @returns its id
 */
export async function importFor(n8n: N8n, service: Service, workflow: Workflow) {
	const credentials: Record<string, Credential> = {};
	for (const [type, data] of Object.entries({
		[CREDENTIAL_TYPE]: buildCredentialData(service),
		crypto: { hmacSecret: WEBHOOK_SECRET },
		httpHeaderAuth: { name: 'Authorization', value: `Bearer ${TOKEN}` },
	}))
		credentials[type] = await n8n.createCredential({ name: 'Bench', type, data });
	return (await n8n.importWorkflow(workflow, { credentials })).id;
}

/** Saves a workflow of these nodes, and runs it until it has succeeded. */
export async function run(n8n: N8n, service: Service, nodes: WorkflowNode[]) {
	const id = await importFor(n8n, service, chain('Bench', nodes));
	const execution = await n8n.waitForExecution(await n8n.run(id));
	if (execution.status !== 'success') throw new Error(execution.getError()?.message);
	return execution;
}

/**
 * Returns a node's first run.
 * @throws {Error} when it did not run
 */
export function getRun(execution: Execution, node: string) {
	const [run] = execution.getRuns(node);
	if (!run) throw new Error(`${node} did not run: ${execution.getError()?.message}`);
	return run;
}

/**
 * Sends a task's callback.
 * @returns the milliseconds until the answer
 * @throws {Error} when the status of the answer isn't the expected one
 */
export async function measureCallback(
	service: Service,
	taskId: string,
	overrides?: CallbackOverrides,
	expected = 200,
) {
	const sent = performance.now();
	const { status, body } = await service.callback(taskId, overrides);
	if (status !== expected) throw new Error(`A callback was answered ${status}: ${body}`);
	return performance.now() - sent;
}

/** A node that marks when the one before it has ended. */
export const NEXT = { name: 'Next', type: 'n8n-nodes-base.noOp' };

/** Builds n8n's own node for requests, with the service's token. */
export const buildHttpRequest = (parameters: Record<string, unknown>) =>
	httpRequest(
		{
			authentication: 'genericCredentialType',
			genericAuthType: 'httpHeaderAuth',
			...parameters,
		},
		{ name: 'HTTP Request', credentials: { httpHeaderAuth: {} } },
	);

/** Builds n8n's own node for requests so that it creates a task for each prompt. */
export const buildCreateRequest = ({ url }: Service) =>
	buildHttpRequest({
		method: 'POST',
		url: `${url}/api/v1/jobs/createTask`,
		sendBody: true,
		specifyBody: 'json',
		jsonBody: '={{ { model: "custom/any", input: { prompt: $json.prompt } } }}',
		options: { timeout: 60_000 },
	});

/** Builds what downloads the result of a new task, a file of this size in MB: our node, and n8n's own node for requests. */
export async function buildDownloads(service: Service, megabytes: number) {
	const prompt = `#noCallback #fileSize=${megabytes}`;
	const taskId = await createEndedTask(service, { prompt });
	return {
		ours: mediaGeneration({
			operation: 'download',
			taskId,
			files: ['result'],
			options: { outputItems: 'perFile' },
		}),
		theirs: httpRequest({
			url: `${service.resultsUrl}/results/${taskId}/result.png`,
			options: { response: { response: { responseFormat: 'file' } } },
		}),
	};
}
