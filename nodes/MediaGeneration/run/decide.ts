import type { Call } from '../host/call';
import { findObstacle } from '../host/reachability';
import { readResumeUrl } from '../host/resumeUrl';
import { findWaiter, type Waiter } from '../host/waiter';
import { isReadAlike } from '../host/webhookCredential';
import { isInternalUrl, isLoopbackUrl } from '../lib/url';
import { findTask, type HowToWait } from './ledger';
import { listWithoutError } from './onError';
import type { Plan } from './plan';
import type { Run, WaitDecision } from './run';
import { PROBE } from './timetable';

/** Decides how to wait for the tasks there are, and for those that will be created. */
export async function decideWait(run: Run, plans: Plan[]): Promise<WaitDecision> {
	const { settings } = run.ledger;
	const planned = new Set(plans.map(({ item }) => item.index));
	const waiting = listWithoutError(run).filter(
		({ item, entry }) => entry.attempts.length > 0 && !planned.has(item),
	);
	// The service calls the execution back that created them. A hint says that they are of that one.
	if (waiting.some(({ entry }) => findTask(entry)?.elsewhere)) return {};
	const services = [
		...(await Promise.all(waiting.map(async ({ item }) => await run.getService(item)))),
		...plans.map(({ item }) => item.service),
	];
	const credentials = services.map((service) => service.credentials);
	return await decideFor(run.call, settings?.howToWait ?? 'automatic', credentials);
}

/**
 * Decides whether the execution sleeps or stays awake. It sleeps only where nobody waits for its end
 * and the resume URL leads here. With Sleep Until Notified, the user vouches for reachability.
 */
export async function decideFor(
	call: Call,
	chosen: HowToWait,
	credentials: Array<{ baseUrl: string }>,
): Promise<WaitDecision> {
	const { context } = call;
	if (chosen === 'polling') return {};
	const waiter = findWaiter(call);
	// An agent always waits for its tool, so nothing needs explaining.
	if (waiter?.who === 'agent') return {};
	if (waiter) return { reason: explainWaiter(waiter) };
	if (!(await isReadAlike(context, credentials)))
		return { reason: `because ${UNREADABLE_CREDENTIAL}` };
	const resumeUrl = readResumeUrl(context);
	if (!credentials.every(({ baseUrl }) => mayReach(baseUrl, resumeUrl, chosen))) {
		const { origin } = new URL(resumeUrl);
		return { reason: `because callbacks to ${origin} would not arrive. ${SET_WEBHOOK_URL}` };
	}
	const obstacle = await findObstacle(resumeUrl, PROBE);
	if (chosen === 'automatic' && obstacle) return { reason: `because ${obstacle}` };
	return { resumeUrl, obstacle };
}

/** A service in the same network may reach this n8n; one on another machine not by a loopback name. */
function mayReach(baseUrl: string, resumeUrl: string, chosen: HowToWait): boolean {
	if (!isInternalUrl(resumeUrl)) return true;
	if (chosen === 'callback' || !isLoopbackUrl(resumeUrl)) return isInternalUrl(baseUrl);
	return isLoopbackUrl(baseUrl);
}

/** Says why an execution stays awake, as the end of a sentence. */
function explainWaiter(waiter: Exclude<Waiter, { who: 'agent' }>): string {
	if (waiter.who === 'n8n') return "because n8n can't let a run of this kind sleep";
	const caller =
		waiter.node === undefined ? 'the workflow that called this one' : `"${waiter.node}"`;
	return `because ${caller} waits for its end`;
}

const UNREADABLE_CREDENTIAL =
	"the credential has expressions that n8n can't resolve while an execution sleeps";

const SET_WEBHOOK_URL =
	'To let it sleep, set the environment variable WEBHOOK_URL of n8n to the address by which the internet reaches it';
