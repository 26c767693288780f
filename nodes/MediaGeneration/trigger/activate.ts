import { NodeOperationError, UserError, type IHookFunctions } from 'n8n-workflow';
import { TaskService } from '../api/client';
import { ServiceError } from '../api/errors';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import { getSigningSecrets } from '../callback/verify';
import { judgeFailure } from './lookups';
import { readOptions, verifiesSignature } from './receive';

/** The timeout of the check. Activating waits for it, and n8n activates all triggers when it starts. */
const CHECK_SETTINGS = { timeoutSeconds: 5 };

/** Codes that services use for an unknown task. */
const UNKNOWN_TASK_CODES = new Set([400, 404, 422]);

/**
 * Checks the credential before the trigger becomes active. A fault that only its owner can correct stops it: no key, a token that
 * the service does not accept, a malformed address. A fault that may pass is only logged, so that a workflow doesn't stay off
 * because the service is down when n8n starts. When n8n starts, or another main process takes over, nobody reads an error, so what
 * the service says is only logged too.
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
	/** It doesn't pass by itself, and its owner can certainly correct it. */
	isLasting: boolean;
	/** The details path seems to be wrong. */
	isPath?: boolean;
}

/** No service has a task with this ID. */
const NO_TASK = 'n8n-asks-for-a-task-that-does-not-exist';

/**
 * Finds out why task details can't be read. It asks for a task that can't exist, and the service must say so in its own envelope.
 * That needs a valid token too. A wrong path is no lasting fault, because some services may answer like that only for unknown
 * tasks.
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
				message: `when asked for a task that can't exist, the service did not answer in its own words. ${message}`,
				description:
					"Check 'Task Details Path' in the credential. While it is wrong, callbacks count by their signature alone, and items have only the task's ID, with details: unavailable.",
				isLasting: false,
				isPath: true,
			};
		return { message, description, isLasting: code === 401 };
	}
}
