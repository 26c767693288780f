import { BoundedMap } from '../../lib/boundedMap';
import { isObject, parseJson } from '../../lib/json';
import { post } from '../../lib/post';
import { cutText } from '../../lib/text';

/** How long n8n may take to answer itself, in milliseconds. */
const ANSWER_WITHIN = 3_000;

/** How long a verdict counts, in milliseconds. That nothing answered is asked again each time. */
const KEPT = { good: 5 * 60_000, bad: 60_000, none: 0 };

/** n8n's answer for an execution that doesn't exist (2.14.2, 2.41.1; `e2e/proxies` fails first). */
const NOT_FOUND = 'The execution "0" does not exist.';

interface Verdict {
	/** Why callbacks would not arrive, as a predicate; absent: the address leads to this n8n. */
	obstacle?: string;
	kept: keyof typeof KEPT;
}

/** Verdicts by address, and those under way. */
const verdicts = new BoundedMap<string, { verdict: Promise<Verdict>; until: number }>(1_000);

/**
 * Asks whether a resume URL leads to n8n: a proxy may not pass `/webhook-waiting/` on, or want a
 * login. It asks for an execution that doesn't exist, without the token, so nothing else happens.
 * @param resumeUrl ends with the execution's ID, before its query
 * @returns what is in the way, as the end of a sentence; undefined if it leads here
 */
export async function findObstacle(resumeUrl: string): Promise<string | undefined> {
	const { origin, pathname } = new URL(resumeUrl);
	const path = pathname.replace(/[^/]*$/, '');
	const address = origin + path;
	const known = verdicts.get(address);
	const isKnown = known !== undefined && known.until > Date.now();
	const verdict = isKnown ? known.verdict : ask(`${address}0`);
	if (!isKnown) verdicts.set(address, { verdict, until: Infinity });
	const { obstacle, kept } = await verdict;
	if (!isKnown) verdicts.set(address, { verdict, until: Date.now() + KEPT[kept] });
	if (obstacle === undefined) return undefined;
	return `callbacks to ${address} would not arrive: it ${obstacle}. Let the proxy before n8n pass POST requests below ${path} on, without a login or a redirect, or correct WEBHOOK_URL`;
}

async function ask(url: string): Promise<Verdict> {
	const { status, text, failure, isTimeout } = await post(url, { timeout: ANSWER_WITHIN });
	if (failure !== undefined) return { obstacle: failure, kept: isTimeout ? 'none' : 'bad' };
	const body = parseJson(text);
	if (status === 404 && isObject(body) && body.message === NOT_FOUND) return { kept: 'good' };
	const shown = cutText(text.replace(/\s+/g, ' ').trim(), 80);
	return { obstacle: `answers ${status} ${shown}`.trim(), kept: 'bad' };
}
