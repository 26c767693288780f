import { Memory } from '../lib/memory';
import { post } from '../lib/post';
import { isEndedAnswer, WAKE_PATH } from './resumeUrl';

/** By address, also of requests under way. */
const known = new Memory<Promise<string | undefined>>('answerers');

/**
 * Asks what keeps callbacks from a resume URL: a proxy may not pass `/webhook-waiting/` on, or want a
 * login. It asks for an execution that doesn't exist, without the token, so nothing else happens
 * (`waiting-webhooks.js`, 2.14.2, 2.41.1). `e2e/reachability` fails first.
 * @param timeout in milliseconds
 * @returns the end of a sentence; undefined: nothing
 */
export async function findObstacle(
	resumeUrl: string,
	timeout: number,
): Promise<string | undefined> {
	const url = new URL(`../0/${WAKE_PATH}`, resumeUrl);
	const before = known.get(url.href);
	if (before) return await before;
	const obstacle = ask(url, timeout);
	known.set(url.href, obstacle);
	return await obstacle;
}

async function ask(url: URL, timeout: number): Promise<string | undefined> {
	const { status, body, silence } = await post(url.href, { timeout });
	if (status === 404 && isEndedAnswer(body)) return undefined;
	const address = url.origin + new URL('..', url).pathname;
	return `callbacks to ${address} would not arrive: it ${silence ?? `answers ${status}`}. Let the proxy before n8n pass POST requests there on, without a login or a redirect, or correct WEBHOOK_URL`;
}
