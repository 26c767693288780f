import {
	buildCredentialData,
	CREDENTIAL_TYPE,
	TOKEN,
	WEBHOOK_SECRET,
} from '../dev/fixtures/pair.cts';
import { httpRequest } from '../dev/fixtures/workflows.cts';
import type { Credential, N8n } from '../dev/n8n/n8n.cts';
import type { Workflow } from '../dev/n8n/workflow.cts';
import { startService, type Service, type SettingsInput } from '../dev/service/index.cts';

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
