import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { SLUG } from '../lib/brand';
import { isObject } from '../lib/json';
import { Memory } from '../lib/memory';
import { post } from '../lib/post';
import { lookInside } from './internals';

/**
 * The last segment of our resume URLs. All nodes of an execution share one resume URL, and n8n finds
 * the webhook of the node that is meant by this segment (`waiting-webhooks.js`, 2.14.2, 2.41.1).
 * `e2e/neighbors` fails first.
 */
const WAKE_PATH = SLUG;

/**
 * Reads the URL that wakes the execution. Its query has n8n's token, and its address may have a login.
 * An expression would return the same URL, but needs an isolate of n8n (2.14.2, 2.41.1). `queue/queue`
 * fails first.
 */
export function readResumeUrl(context: IExecuteFunctions | IWebhookFunctions): string {
	const own = lookInside(context).additionalKeys?.$execution?.resumeUrl;
	const url = new URL(
		own ?? (context.evaluateExpression('{{ $execution.resumeUrl }}', 0) as string),
	);
	url.pathname += `/${WAKE_PATH}`;
	return url.href;
}

/**
 * Reads what is secret in the execution's resume URL: the token, which n8n stores with the execution,
 * and its address, which may have a login (`get-additional-keys.js`). `e2e/trigger` and
 * `e2e/reachability` fail first.
 */
export function readResumeSecrets(context: object): { token?: string; address?: string } {
	const { runExecutionData, additionalData } = lookInside(context);
	return {
		token: runExecutionData?.resumeToken,
		address: additionalData?.webhookWaitingBaseUrl,
	};
}

/**
 * Says whether a value is the resume URL of an execution, or the expression for it. The URL may have
 * another hostname than n8n knows. `e2e/pasted` fails first.
 */
export function isResumeUrl(context: object, value: unknown): boolean {
	const { address } = readResumeSecrets(context);
	const own = address && URL.canParse(address) ? [`${new URL(address).pathname}/`] : [];
	return ['$execution.resumeUrl', ...own].some((part) => String(value).includes(part));
}

/**
 * n8n's messages for an execution that no longer waits, or waits at another node
 * (`waiting-webhooks.js`, 2.14.2, 2.41.1). An execution that is running may be about to sleep.
 * `e2e/neighbors` and `e2e/reachability` fail first.
 */
const NO_LONGER_WAITS =
	/^The (workflow for )?execution ".*(does not exist|has finished|matching path)/;

/** Says whether n8n, and not something before it, answers that the execution no longer waits. */
export const isEndedAnswer = (body: unknown): boolean =>
	isObject(body) && NO_LONGER_WAITS.test(String(body.message));

/** What keeps callbacks away, by address. Runs that ask at the same time share a request. */
const obstacles = new Memory<Promise<string | undefined>>('obstacles');

/**
 * Asks what keeps callbacks from a resume URL: a proxy may not pass `/webhook-waiting/` on, or want a
 * login. The request is for an execution that doesn't exist, without the token, so nothing else happens
 * (`waiting-webhooks.js`, 2.14.2, 2.41.1). `e2e/reachability` fails first.
 * @param timeout in milliseconds
 * @returns the end of a sentence; undefined if nothing keeps callbacks away
 */
export async function findObstacle(
	resumeUrl: string,
	timeout: number,
): Promise<string | undefined> {
	const url = new URL(`../0/${WAKE_PATH}`, resumeUrl);
	const known = obstacles.get(url.href);
	if (known) return await known;
	const obstacle = askForObstacle(url, timeout);
	obstacles.set(url.href, obstacle);
	return await obstacle;
}

async function askForObstacle(url: URL, timeout: number): Promise<string | undefined> {
	const { httpStatus, body, silence } = await post(url.href, { timeout });
	if (httpStatus === 404 && isEndedAnswer(body)) return undefined;
	const address = url.origin + new URL('..', url).pathname;
	return `callbacks to ${address} would not arrive: it ${silence ?? `answers ${httpStatus}`}. Let the proxy before n8n pass POST requests there on, without a login or a redirect, or correct WEBHOOK_URL`;
}
