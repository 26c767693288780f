import { NodeOperationError, UserError, type IHookFunctions } from 'n8n-workflow';
import { TaskService } from '../api/client';
import { ServiceError } from '../api/errors';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import { getSigningSecrets } from '../callback/signature';
import { judgeFailure } from './lookups';
import { readOptions, verifiesSignature } from './receive';

/** Time for the service to accept the token: activating waits for it, and n8n activates all triggers when it starts. */
const CHECK_SETTINGS = { timeoutSeconds: 5 };

/** Codes that services may answer with where a task is unknown. */
const UNKNOWN_TASK_CODES = new Set([400, 404, 422]);

/**
 * Checks the credential before the trigger becomes active. A fault that only its owner can correct stops it: no key, a token
 * that the service does not accept, a malformed address. A fault that may pass is logged: a workflow that n8n activates when it
 * starts must not stay off because the service is down. Where nobody is at hand to read a refusal, when n8n starts and
 * when another main process takes over, the service's word is only logged too.
 * @throws {NodeOperationError} with what to do
 */
export async function checkCredential(context: IHookFunctions): Promise<void> {
	const credentials = await context.getCredentials<Credentials>(CREDENTIAL);
	if (
		verifiesSignature(context.getNodeParameter('verifySignature', true)) &&
		!getSigningSecrets(credentials)
	)
		throw new NodeOperationError(
			context.getNode(),
			// n8n shows no description when a workflow is published.
			"The credential has no 'Webhook HMAC Key', so callbacks can't be verified. Generate a webhookHmacKey in your account settings with the service and paste it into the credential, or turn off 'Verify Signature' if you accept callbacks from anyone.",
		);
	if (!readOptions(context.getNodeParameter('options', {}) as object).fetchDetails) return;
	const fault = await findFault(new TaskService(context, credentials));
	if (!fault) return;
	const isAttended = !['init', 'leadershipChange'].includes(context.getActivationMode());
	if (fault.isLasting && isAttended)
		throw new NodeOperationError(context.getNode(), fault.message, {
			description: fault.description,
		});
	context.logger.warn(
		`The trigger is active, but task details can't be read${fault.isPath ? '' : ' now'}: ${fault.message}. ${fault.description}`,
		{ workflowId: context.getWorkflow().id, nodeName: context.getNode().name },
	);
}

interface Fault {
	message: string;
	description: string;
	/** It does not pass by itself, and its owner can correct it for sure. */
	isLasting: boolean;
	/** It is the path of the details that seems to be none. */
	isPath?: boolean;
}

/** No service has a task of this ID. */
const NO_TASK = 'n8n-asks-for-a-task-that-does-not-exist';

/**
 * Finds what keeps us from a task's details, by asking for a task that can't exist: the service must say so in its own words. That
 * needs a valid token too. A path that leads elsewhere is no lasting fault, since some services may answer so for unknown tasks only.
 */
async function findFault(service: TaskService): Promise<Fault | undefined> {
	try {
		await service.getTask(NO_TASK, CHECK_SETTINGS);
		return undefined;
	} catch (error) {
		const { message } = error as Error;
		if (!(error instanceof UserError)) return { message, description: '', isLasting: false };
		const description = error.description ?? '';
		if (!(error instanceof ServiceError)) return { message, description, isLasting: true };
		const { code, answeredBy } = error;
		if (answeredBy === 'service' && (code === undefined || UNKNOWN_TASK_CODES.has(code)))
			return undefined;
		if (code !== 401 && answeredBy === 'other' && judgeFailure(error).outcome === 'unreadable')
			return {
				message: `asked for a task that can't exist, the service did not answer in its own words. ${message}`,
				description:
					"Check 'Task Details Path' in the credential. While it leads nowhere, callbacks count by their signature alone, and items have only the task's ID, with details: unavailable.",
				isLasting: false,
				isPath: true,
			};
		return { message, description, isLasting: code === 401 };
	}
}
