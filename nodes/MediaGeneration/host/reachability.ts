import { BoundedMap } from '../lib/boundedMap';
import { isObject, parseJson } from '../lib/json';
import { post, type Silence } from '../lib/post';
import { buildNotFound } from './resumeUrl';

/** What answers at the address of resume URLs. */
export type Answerer = { address: string } & (
	| { who: 'n8n' }
	| { who: 'other'; status: number; text: string }
	| { who: 'nobody'; silence: Silence }
);

/** How long an answer is reused, in milliseconds. A timeout isn't. */
const KEPT = { n8n: 5 * 60_000, other: 60_000, nobody: 60_000 };

/** By address, also of requests under way. */
const known = new BoundedMap<string, { answerer: Promise<Answerer>; until: number }>(1_000);

/**
 * Asks who answers at a resume URL: a proxy may not pass `/webhook-waiting/` on, or want a login.
 * It asks for an execution that doesn't exist, without the token, so nothing else happens
 * (`waiting-webhooks.js`, 2.14.2, 2.41.1). `e2e/reachability` fails first.
 * @param resumeUrl its path ends with the execution's ID and our own segment
 * @param timeout in milliseconds
 */
export async function findAnswerer(resumeUrl: string, timeout: number): Promise<Answerer> {
	const url = new URL(resumeUrl);
	const [, path = '', segment = ''] = /^(.*\/)[^/]+(\/[^/]+)$/.exec(url.pathname) ?? [];
	url.pathname = `${path}0${segment}`;
	url.search = '';
	const before = known.get(url.href);
	if (before && before.until > Date.now()) return await before.answerer;
	const asked = ask(url, url.origin + path, timeout);
	const answerer = asked.then((answer) => answer.answerer);
	known.set(url.href, { answerer, until: Infinity });
	const { keptFor } = await asked;
	known.set(url.href, { answerer, until: Date.now() + keptFor });
	return await answerer;
}

async function ask(
	url: URL,
	address: string,
	timeout: number,
): Promise<{ answerer: Answerer; keptFor: number }> {
	const answer = await post(url.href, { timeout });
	if ('silence' in answer) {
		const keptFor = 'after' in answer.silence ? 0 : KEPT.nobody;
		return { answerer: { address, who: 'nobody', silence: answer.silence }, keptFor };
	}
	const { status, text } = answer;
	const body = parseJson(text);
	if (status === 404 && isObject(body) && body.message === buildNotFound('0'))
		return { answerer: { address, who: 'n8n' }, keptFor: KEPT.n8n };
	return { answerer: { address, who: 'other', status, text }, keptFor: KEPT.other };
}
