import { isObject, parseJson } from '../lib/json';
import { Memory } from '../lib/memory';
import { post, type Silence } from '../lib/post';
import { buildNotFound } from './resumeUrl';

/** What answers at the address of resume URLs. */
export type Answerer = { address: string } & (
	| { who: 'n8n' }
	| { who: 'other'; status: number; text: string }
	| { who: 'nobody'; silence: Silence }
);

/** By address, also of requests under way. */
const known = new Memory<Promise<Answerer>>('answerers');

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
	if (before) return await before;
	const answerer = ask(url, url.origin + path, timeout);
	known.set(url.href, answerer);
	return await answerer;
}

async function ask(url: URL, address: string, timeout: number): Promise<Answerer> {
	const answer = await post(url.href, { timeout });
	if ('silence' in answer) return { address, who: 'nobody', silence: answer.silence };
	const { status, text } = answer;
	const body = parseJson(text);
	const isN8n = status === 404 && isObject(body) && body.message === buildNotFound('0');
	return isN8n ? { address, who: 'n8n' } : { address, who: 'other', status, text };
}
