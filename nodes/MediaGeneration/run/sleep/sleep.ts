import type { INodeExecutionData } from 'n8n-workflow';
import type { Call } from '../../host/call';
import { readsSameCredential } from '../../host/credentialAccess';
import { findObstacle, readResumeUrl } from '../../host/resumeUrl';
import { storeItems } from '../../host/asleep';
import { findWaiter } from '../../host/waiter';
import { isInternalUrl, isLoopbackUrl } from '../../lib/url';
import { beginWait, type Creation, noteSleep } from '../ledger/changes';
import { type Entry, findLimitAt, findAttempt, type HowToWait } from '../ledger/ledger';
import { findRemedy } from '../output/errors';
import { makeOutcomes, outputOrThrow } from '../output/output';
import { findPending, hasError, isErrorIfFailed, type Run, type WaitDecision } from '../run';
import { planWait, PROBE_TIMEOUT } from '../timetable';
import { openNap, numberSleep } from './nap';

/** Decides how to wait for the tasks there are, and for those that will be created. */
export async function decideWait(run: Run, creations: Creation[]): Promise<WaitDecision> {
	const { entries } = run.ledger;
	const toCreate = new Set(creations.map(({ item }) => item.index));
	const waiting = [...entries.keys()].filter(
		(item) => toCreate.has(item) || (entries[item]?.attempts.length && !hasError(run, item)),
	);
	// Adopted tasks call back the execution that created them, so this one must stay awake.
	const isAdopted = (item: number) => findAttempt(entries[item] as Entry)?.adopted;
	if (waiting.some((item) => !toCreate.has(item) && isAdopted(item))) return {};
	const services = await Promise.all(waiting.map(async (item) => await run.getService(item)));
	const credentials = services.map((service) => service.credentials);
	return await decideByCall(run.call, run.ledger.settings?.howToWait ?? 'automatic', credentials);
}

/**
 * Decides whether the execution sleeps or stays awake. It sleeps only where nobody waits for its end,
 * and its resume URL leads here. With Sleep Until Notified, the user vouches for that URL.
 */
export async function decideByCall(
	call: Call,
	howToWait: HowToWait,
	credentials: Array<{ baseUrl: string }>,
): Promise<WaitDecision> {
	const { context } = call;
	// An agent always waits for its tool, so nothing needs explaining.
	if (howToWait === 'polling' || call.isTool) return {};
	const waiter = findWaiter(call);
	if (waiter) return { reason: waiter };
	if (!(await readsSameCredential(context, credentials))) return { reason: UNREADABLE_CREDENTIAL };
	const resumeUrl = readResumeUrl(context);
	if (!credentials.every(({ baseUrl }) => mayReach(baseUrl, resumeUrl, howToWait))) {
		const { origin } = new URL(resumeUrl);
		return { reason: `callbacks to ${origin} would not arrive. ${SET_WEBHOOK_URL}` };
	}
	const obstacle = await findObstacle(resumeUrl, PROBE_TIMEOUT);
	if (howToWait === 'automatic' && obstacle) return { reason: obstacle };
	return { resumeUrl, obstacle };
}

/**
 * Says whether a service may reach the resume URL. Each service reaches a public URL. An internal URL needs
 * a service in this network, and a loopback URL a service on this machine. If the user chose Sleep Until
 * Notified, a service in this network is enough for both.
 */
function mayReach(baseUrl: string, resumeUrl: string, howToWait: HowToWait): boolean {
	if (!isInternalUrl(resumeUrl)) return true;
	if (howToWait === 'callback' || !isLoopbackUrl(resumeUrl)) return isInternalUrl(baseUrl);
	return isLoopbackUrl(baseUrl);
}

const UNREADABLE_CREDENTIAL =
	"the credential has expressions that n8n can't resolve while an execution sleeps";

const SET_WEBHOOK_URL =
	'To let it sleep, set the environment variable WEBHOOK_URL of n8n to the address by which the internet reaches it';

/**
 * Has n8n store the execution and end it, until a webhook wakes it.
 * @returns what n8n outputs if its own timer ends the sleep
 */
export async function fallAsleep(run: Run): Promise<INodeExecutionData[]> {
	const { call, ledger, errors, decision } = run;
	const { context } = call;
	if (decision.obstacle)
		context.logger.warn(`"${context.getNode().name}" sleeps, but ${decision.obstacle}.`);
	beginWait(ledger);
	const { limitAt, lastWakeAt, endByN8nAt } = planWait(findLimitAt(ledger), call.doneBy);
	await context.putExecutionToWait(new Date(endByN8nAt));
	// n8n can't fail an execution whose sleep its own timer ends, so failed tasks are no errors then.
	const isError = isErrorIfFailed(run) && !call.stopsOnError;
	const items = outputOrThrow(call, makeOutcomes(run, { hasWaited: true, isError }), ledger);
	const storedErrors = [...errors].map(([item, error]) => [
		item,
		{ message: (error as Error).message, description: findRemedy(error) },
	]);
	const number = numberSleep(context, ledger);
	noteSleep(ledger, { number, limitAt, lastWakeAt, errors: Object.fromEntries(storedErrors) });
	const nap = openNap(context, ledger);
	nap?.keepNudging();
	// A run sleeps only where all its items have one credential.
	const pending = findPending(run);
	nap?.lookSoon(ledger, async () => await run.getService(pending));
	return storeItems(context, items);
}
