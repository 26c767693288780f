import { buildNotFound } from '../../host/resumeUrl';
import { BoundedMap } from '../../lib/boundedMap';
import { isObject, parseJson } from '../../lib/json';
import { post } from '../../lib/post';
import { cutText } from '../../lib/text';
import { PROBE_TIMEOUT } from './timetable';

/** How long a verdict counts, in milliseconds. That nothing answered is asked again each time. */
const KEPT = { good: 5 * 60_000, bad: 60_000, none: 0 };

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
 * @param resumeUrl its path ends with the execution's ID and our own segment
 * @returns what is in the way, as the end of a sentence; undefined if it leads here
 */
export async function findObstacle(resumeUrl: string): Promise<string | undefined> {
	const url = new URL(resumeUrl);
	const [, path = '', segment = ''] = /^(.*\/)[^/]+(\/[^/]+)$/.exec(url.pathname) ?? [];
	url.pathname = `${path}0${segment}`;
	url.search = '';
	const known = verdicts.get(url.href);
	const isKnown = known !== undefined && known.until > Date.now();
	const verdict = isKnown ? known.verdict : ask(url.href);
	if (!isKnown) verdicts.set(url.href, { verdict, until: Infinity });
	const { obstacle, kept } = await verdict;
	if (!isKnown) verdicts.set(url.href, { verdict, until: Date.now() + KEPT[kept] });
	if (obstacle === undefined) return undefined;
	return `callbacks to ${url.origin}${path} would not arrive: it ${obstacle}. Let the proxy before n8n pass POST requests below ${path} on, without a login or a redirect, or correct WEBHOOK_URL`;
}

async function ask(url: string): Promise<Verdict> {
	const { status, text, failure, isTimeout } = await post(url, { timeout: PROBE_TIMEOUT });
	if (failure !== undefined) return { obstacle: failure, kept: isTimeout ? 'none' : 'bad' };
	const body = parseJson(text);
	if (status === 404 && isObject(body) && body.message === buildNotFound('0'))
		return { kept: 'good' };
	const shown = cutText(text.replace(/\s+/g, ' ').trim(), 80);
	return { obstacle: `answers ${status} ${shown}`.trim(), kept: 'bad' };
}
