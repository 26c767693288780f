import { NodeOperationError, type IHookFunctions } from 'n8n-workflow';
import { ServiceError, TaskService } from '../service/client';
import { EndpointError } from '../service/endpoints';
import { optionsOf } from './options';

/** Time for the service to say whether it takes the token: activating waits for it, and n8n activates all at its start. */
const CHECK_SETTINGS = { timeoutSeconds: 5 };

/**
 * Checks the credential before the trigger becomes active. What only its owner can put right stops it: no key, a token
 * that the service does not accept, an address that is none. What may pass is logged: a workflow that n8n activates at its
 * start must not stay off because the service is down then. Where nobody is at hand to read a refusal, at n8n's start and
 * when another main process takes over, the service's word is only logged too.
 * @throws {NodeOperationError} with what to do
 */
export async function checkCredential(context: IHookFunctions): Promise<void> {
	const service = await TaskService.connect(context);
	if (context.getNodeParameter('verifySignature') && !service.signingKeys)
		throw new NodeOperationError(
			context.getNode(),
			'The credential has no Webhook HMAC Key, so callbacks can not be verified',
			{
				description:
					'Generate a webhookHmacKey in your account settings with the service and paste it into the credential, or turn off Verify Signature if you accept callbacks from anyone.',
			},
		);
	if (!optionsOf(context.getNodeParameter('options', {}) as object).fetchDetails) return;
	const fault = await faultOf(service);
	if (!fault) return;
	const attended = !['init', 'leadershipChange'].includes(context.getActivationMode());
	if (fault.lasting && attended)
		throw new NodeOperationError(context.getNode(), fault.message, {
			description: fault.description,
		});
	context.logger.warn(
		`The trigger is active, but task details can not be had now: ${fault.message}. ${fault.description}`,
		{ workflowId: context.getWorkflow().id, nodeName: context.getNode().name },
	);
}

/** What stands between us and the service, if anything; `lasting`: it does not pass by itself. */
async function faultOf(
	service: TaskService,
): Promise<{ message: string; description: string; lasting: boolean } | undefined> {
	try {
		await service.getCredits(CHECK_SETTINGS);
		return undefined;
	} catch (error) {
		if (error instanceof EndpointError)
			return { message: error.message, description: '', lasting: true };
		if (!(error instanceof ServiceError))
			return { message: (error as Error).message, description: '', lasting: false };
		const { message, description, code } = error;
		return { message, description, lasting: code === 401 };
	}
}
