import { UserError, type IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { CREDENTIAL } from '../../api/endpoints';
import { isInternalUrl, isLoopbackUrl } from '../../lib/isInternalUrl';
import { hasExecution, isExecuteNode, isLastCall, isTool, readExecutionId } from '../nodeContext';

/** The values of the node's parameter. */
export type WaitFor = 'automatic' | 'callback' | 'polling';

/** How a run waits. */
interface WaitDecision {
	/** The URL that resumes the execution, which sleeps; absent if it stays awake and polls. */
	resumeUrl?: string;
	/** Why it stays awake; absent if the user chose that. */
	reason?: string;
}

/**
 * Decides whether the execution sleeps or polls. If it can't sleep, it polls, whatever the user chose.
 * @throws {UserError} before anything is created, when a callback was chosen and the service can't reach this n8n
 */
export async function decideWait(
	context: IExecuteFunctions,
	{ waitFor: chosen, perFile = false }: { waitFor: WaitFor; perFile?: boolean },
	services: TaskService[],
): Promise<WaitDecision> {
	if (chosen === 'polling') return {};
	const reason =
		findReasonToStayAwake(context) ??
		(perFile && context.getInputData().length > 1 ? PAIRED_BY_POSITION : undefined) ??
		((await canReadCredentialAgain(context, services))
			? undefined
			: "the credential has expressions that n8n can't resolve while an execution sleeps");
	if (reason) return { reason };
	const resumeUrl = context.evaluateExpression('{{ $execution.resumeUrl }}', 0) as string;
	const { origin } = new URL(resumeUrl);
	const isReachable = services.every(({ credentials: { baseUrl } }) =>
		mayReach(baseUrl, resumeUrl, chosen),
	);
	if (isReachable) return { resumeUrl };
	if (chosen === 'callback' && !isTool(context))
		throw new UserError(`The service can't reach this n8n: callbacks would go to ${origin}`, {
			description: `Nothing was created. ${SET_WEBHOOK_URL}, or set 'How to Wait' to Automatic.`,
		});
	return {
		reason: `the service can't reach this n8n: callbacks would go to ${origin}. To let the execution sleep instead: ${SET_WEBHOOK_URL}`,
	};
}

/** n8n treats the output of a webhook like the node's input: it pairs the third item with the third input item. */
const PAIRED_BY_POSITION =
	"after a sleep, n8n pairs items by their position, so the files of several items would be paired with other tasks' items";

const SET_WEBHOOK_URL =
	'Set the environment variable WEBHOOK_URL of n8n to the address by which the internet reaches it';

/**
 * A service inside the network may reach an n8n there. A user who chose a callback knows. A service on another machine can't reach
 * n8n by a loopback name, which n8n uses until somebody sets an address.
 */
function mayReach(baseUrl: string, resumeUrl: string, chosen: WaitFor): boolean {
	if (!isInternalUrl(resumeUrl)) return true;
	if (chosen === 'callback' || !isLoopbackUrl(resumeUrl)) return isInternalUrl(baseUrl);
	return isLoopbackUrl(baseUrl);
}

/** Finds why the execution can't sleep here, apart from its addresses. */
function findReasonToStayAwake(context: IExecuteFunctions): string | undefined {
	const executionId = readExecutionId(context);
	if (executionId === '' || !hasExecution(context))
		return 'there is no execution here that could sleep';
	if (isExecuteNode(context))
		return "n8n deletes the execution of a single node at its end, so a callback couldn't resume it";
	if (ENGINE_V2_ID.test(executionId)) return "n8n's new engine can't let a node sleep";
	if (isTool(context) && !toolCanSleep(context))
		return "of an agent's calls, n8n can let only the last one in a turn sleep, and only with its newest AI Agent node";
	if (isRunForOneItem(context))
		return 'the caller of this sub-workflow runs it once for each item, and n8n would continue with the first that a callback wakes';
	return undefined;
}

/** The execution IDs of engine-v2 are UUIDs. The engine has no active execution, which `putExecutionToWait` needs. */
const ENGINE_V2_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Says whether the call of an agent may sleep. Only n8n's newest agent runs its tools as nodes of the execution. When it continues
 * after a sleep, n8n skips the node that slept (`disableNode` of its waiting webhooks), also for other calls of the same turn.
 * Their input would then count as their result. n8n also assumes that the last run slept. With execution order v0, the agent would
 * run before its calls.
 */
const toolCanSleep = (context: IExecuteFunctions): boolean =>
	!context.isToolExecution() &&
	context.getWorkflowSettings().executionOrder === 'v1' &&
	isLastCall(context);

/**
 * Recognizes a sub-workflow that its caller runs once for each item. n8n continues such a caller with the first run that a webhook
 * resumes (`updateParentExecutionWithChildResults`), and drops the others. A workflow that n8n's Agents call has no parent.
 */
const isRunForOneItem = (context: IExecuteFunctions): boolean =>
	context.getMode() === 'integrated' &&
	context.getInputData().length === 1 &&
	context.getExecutionContext?.()?.parentExecutionId !== undefined;

/**
 * Checks that the webhook of a parked execution will read the same credential. n8n resolves the credential's expressions for it
 * without the run's data, so those that depend on an item or another node fail then. So the credential is read here without input
 * data, as n8n does for a webhook (`getCredentials` in `base-execute-context.js` of n8n-core passes `this.connectionInputData`, the
 * same in 2.14.2 and 2.41.1). If n8n changes this, `e2e/runs` fails first: it charges each item to its own account.
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
	return services.every((service) => JSON.stringify(service.credentials) === credentials);
}

/** Tells the user at the node's output why it polled. */
export const sayWhyAwake = (context: IExecuteFunctions, reason: string): void =>
	context.addExecutionHints({ type: 'info', message: `The node polled: ${reason}.` });
