import { UserError, type IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { CREDENTIAL } from '../../api/endpoints';
import { getNodeContext, readStarter } from '../../host/execution';
import { readResumeUrl } from '../../host/resumeUrl';
import { readAsWebhook } from '../../host/webhookCredential';
import { isInternalUrl, isLoopbackUrl } from '../../lib/url';
import { findWaiter, NO_EXECUTION } from './findWaiter';
import { findObstacle } from './findObstacle';

export type HowToWait = 'automatic' | 'callback' | 'polling';

/** How a run waits. */
export interface WaitDecision {
	/** The URL that resumes the execution, which sleeps; absent if it stays awake and polls. */
	resumeUrl?: string;
	/** Why it stays awake, or what may keep callbacks away; absent if the user chose how it waits. */
	reason?: string;
}

/**
 * Decides whether the execution sleeps or polls. It sleeps only where nobody waits for its end, and
 * where the resume URL leads here. Who chose Sleep Until Notified takes the last part upon himself.
 * @throws {UserError} before anything is created, when that user's n8n can't be reached
 */
export async function decideWait(
	context: IExecuteFunctions,
	chosen: HowToWait,
	services: TaskService[],
): Promise<WaitDecision> {
	if (chosen === 'polling') return {};
	if (!getNodeContext(context)) return { reason: NO_EXECUTION };
	const waiter = findWaiter(readStarter(context));
	if (waiter !== undefined) return { reason: waiter };
	if (!(await canReadCredentialAgain(context, services))) return { reason: UNREADABLE_CREDENTIAL };
	const resumeUrl = readResumeUrl(context);
	const isFor = ({ credentials }: TaskService) => mayReach(credentials.baseUrl, resumeUrl, chosen);
	if (!services.every(isFor)) return refuseToSleep(resumeUrl, chosen);
	const obstacle = await findObstacle(resumeUrl);
	if (chosen === 'automatic' && obstacle) return { reason: obstacle };
	return { resumeUrl, reason: obstacle };
}

const UNREADABLE_CREDENTIAL =
	"the credential has expressions that n8n can't resolve while an execution sleeps";

const SET_WEBHOOK_URL =
	'Set the environment variable WEBHOOK_URL of n8n to the address by which the internet reaches it';

function refuseToSleep(resumeUrl: string, chosen: HowToWait): WaitDecision {
	const { origin } = new URL(resumeUrl);
	const why = `service can't reach this n8n: callbacks would go to ${origin}`;
	if (chosen === 'automatic') return { reason: `the ${why}. To let it sleep: ${SET_WEBHOOK_URL}` };
	const description = `Nothing was created. ${SET_WEBHOOK_URL}, or set 'How to Wait' to Automatic.`;
	throw new UserError(`The ${why}`, { description });
}

/** A service in this network may reach n8n there, but on another machine not by a loopback name. */
function mayReach(baseUrl: string, resumeUrl: string, chosen: HowToWait): boolean {
	if (!isInternalUrl(resumeUrl)) return true;
	if (chosen === 'callback' || !isLoopbackUrl(resumeUrl)) return isInternalUrl(baseUrl);
	return isLoopbackUrl(baseUrl);
}

/** Checks that the webhook of a sleeping execution will read the same credential as each item. */
async function canReadCredentialAgain(
	context: IExecuteFunctions,
	services: TaskService[],
): Promise<boolean> {
	const credentials = JSON.stringify(await readAsWebhook(context, CREDENTIAL));
	return services.every((service) => JSON.stringify(service.credentials) === credentials);
}
