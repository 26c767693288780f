import { NodeOperationError, UserError, type IHookFunctions } from 'n8n-workflow';
import { ServiceError, TaskService } from '../api/client';
import { CREDENTIAL, type Credentials } from '../api/endpoints';
import { getSigningSecrets } from '../callback/signature';
import { readOptions, verifiesSignature } from './receive';

/** Time for the service to accept the token: activating waits for it, and n8n activates all triggers when it starts. */
const CHECK_SETTINGS = { timeoutSeconds: 5 };

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
			"The credential has no 'Webhook HMAC Key', so callbacks can't be verified",
			{
				description:
					"Generate a webhookHmacKey in your account settings with the service and paste it into the credential, or turn off 'Verify Signature' if you accept callbacks from anyone.",
			},
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
		`The trigger is active, but task details can't be read now: ${fault.message}. ${fault.description}`,
		{ workflowId: context.getWorkflow().id, nodeName: context.getNode().name },
	);
}

/** Finds what keeps us from the service. A lasting fault does not pass by itself. */
async function findFault(
	service: TaskService,
): Promise<{ message: string; description: string; isLasting: boolean } | undefined> {
	try {
		await service.getCredits(CHECK_SETTINGS);
		return undefined;
	} catch (error) {
		const { message } = error as Error;
		if (!(error instanceof UserError)) return { message, description: '', isLasting: false };
		const isLasting = !(error instanceof ServiceError) || error.code === 401;
		return { message, description: error.description ?? '', isLasting };
	}
}
