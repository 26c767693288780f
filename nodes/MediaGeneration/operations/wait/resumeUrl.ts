import { UserError, type IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { CREDENTIAL } from '../../api/endpoints';
import { hasExecution, isLastCall, isTool } from '../nodeContext';
import { isInternalUrl } from '../../lib/isInternalUrl';

/**
 * Finds the URL by which the service resumes this execution, once it sleeps.
 * @returns undefined when the execution has to stay awake: an agent's tool polls then, as does a sub-workflow that is run for one
 * item, or a credential that can't be read again
 * @throws {UserError} before anything is created, when the service can't reach the URL
 */
export async function findResumeUrl(
	context: IExecuteFunctions,
	services: TaskService[],
): Promise<string | undefined> {
	if (isTool(context) && !toolCanSleep(context)) return undefined;
	if (isRunForOneItem(context)) return undefined;
	if (!(await canReadCredentialAgain(context, services))) return undefined;
	const url = context.evaluateExpression('{{ $execution.resumeUrl }}', 0) as string;
	const isReachable =
		!isInternalUrl(url) || services.every(({ credentials }) => isInternalUrl(credentials.baseUrl));
	if (isReachable) return url;
	if (isTool(context)) return undefined;
	throw new UserError(
		`The service can't reach this n8n: callbacks would go to ${new URL(url).origin}`,
		{
			description:
				"Nothing was created. Set the environment variable WEBHOOK_URL of n8n to the address by which the internet reaches it, or set 'Wait For' to Polling.",
		},
	);
}

/**
 * Says whether the call of an agent may sleep. Only n8n's newest agent runs its tools as nodes of the execution. When it continues after a
 * sleep, n8n skips the node that slept (`disableNode` of its waiting webhooks), also for other calls of the same turn, whose
 * input would count as their result; and it takes the last run for the one that slept. With execution order v0 the agent itself
 * would come before its calls.
 */
const toolCanSleep = (context: IExecuteFunctions): boolean =>
	!context.isToolExecution() &&
	hasExecution(context) &&
	context.getWorkflowSettings().executionOrder === 'v1' &&
	isLastCall(context);

/**
 * Recognizes a sub-workflow that its caller runs once for each item. There, n8n continues the caller with the first of them that a
 * webhook resumes (`updateParentExecutionWithChildResults`), and drops the others. One that n8n's Agents call has no parent.
 */
const isRunForOneItem = (context: IExecuteFunctions): boolean =>
	context.getMode() === 'integrated' &&
	context.getInputData().length === 1 &&
	context.getExecutionContext?.()?.parentExecutionId !== undefined;

/**
 * Checks that the webhook of a parked execution will read the same credential. n8n resolves expressions in a credential for it
 * without the run's data, so one that depends on an item, or on another node, can't be read then. The credential is read here as
 * n8n does it for a webhook: without input data.
 */
async function canReadCredentialAgain(
	context: IExecuteFunctions,
	services: TaskService[],
): Promise<boolean> {
	const asWebhook = Object.create(context, {
		connectionInputData: { value: undefined },
	}) as IExecuteFunctions;
	const credentials = JSON.stringify(
		await asWebhook.getCredentials(CREDENTIAL).catch(() => undefined),
	);
	if (services.every((service) => JSON.stringify(service.credentials) === credentials)) return true;
	context.addExecutionHints({
		type: 'info',
		message:
			"The credential has expressions that n8n can't resolve while an execution sleeps, so the node polled instead of waiting for the callback.",
	});
	return false;
}
