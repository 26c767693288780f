import { NodeOperationError, UserError, type IHookFunctions } from 'n8n-workflow';
import { TaskService } from '../api/client';
import type { Credentials } from '../api/endpoints';
import { ServiceError } from '../api/failure';
import { GET_KEY } from '../callback/scheme';
import { explainWeakKeys, readSigningKeys } from '../callback/signature';
import { CREDENTIAL } from '../lib/brand';
import { toPlainError } from '../lib/text';
import { judgeFailure } from './fetchDetails';
import { readSettings } from './options';

/** No service has a task with this ID. */
const NO_TASK = 'n8n-asks-for-a-task-that-does-not-exist';

/** Short, because n8n waits for each trigger when it starts. */
const ACTIVATION_SETTINGS = { timeoutSeconds: 5 };

/**
 * Checks the credential before the trigger becomes active. Other failures are only logged, so that a
 * service that is down when n8n starts doesn't keep the workflow off.
 * @throws {NodeOperationError} if the key is missing, or for what only the owner can correct
 */
export async function checkCredential(context: IHookFunctions): Promise<void> {
	const { verifySignature, fetchDetails } = readSettings(context);
	const credentials = await context.getCredentials<Credentials>(CREDENTIAL);
	const keys = readSigningKeys(credentials);
	if (verifySignature && !keys)
		throw new NodeOperationError(
			context.getNode(),
			// n8n shows no description when a workflow is published.
			`The credential has no 'Webhook HMAC Key', so callbacks can't be verified. ${GET_KEY}, or turn off 'Verify Signature' if you accept callbacks from anyone.`,
		);
	const weakness = verifySignature && keys && explainWeakKeys(keys);
	if (weakness) warn(context, weakness);
	if (!fetchDetails) return;
	try {
		await new TaskService(context, credentials).getTask(NO_TASK, ACTIVATION_SETTINGS);
	} catch (error) {
		// Saying that it doesn't know the task takes a valid token, so then all is well.
		if (judgeFailure(error).outcome !== 'unknown') report(context, error as Error);
	}
}

const warn = (context: IHookFunctions, text: string): void =>
	context.logger.warn(text, {
		workflowId: context.getWorkflow().id,
		nodeName: context.getNode().name,
	});

/** Throws what only the owner can correct if somebody is there to read it, and logs the rest. */
function report(context: IHookFunctions, error: Error & { description?: string }): void {
	const { message, description } = error;
	const isOwners =
		error instanceof ServiceError ? error.kind === 'token' : error instanceof UserError;
	// Nobody reads an error when n8n starts, or when another main process takes over.
	const isAttended = !['init', 'leadershipChange'].includes(context.getActivationMode());
	if (isOwners && isAttended)
		throw toPlainError(new NodeOperationError(context.getNode(), message, { description }));
	warn(
		context,
		`The trigger is active, but task details can't be read: ${message}. ${description ?? ''}`,
	);
}
