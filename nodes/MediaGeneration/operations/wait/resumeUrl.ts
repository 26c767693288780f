import { isObject, parseJson } from '../../lib/json';
import { BoundedMap } from '../../lib/boundedMap';
import { cutText } from '../../lib/text';

/** How long n8n may take to answer itself, in milliseconds. */
const ANSWER_WITHIN = 3_000;

/** How long a verdict counts, in milliseconds: good ones, and bad ones. */
const GOOD_FOR = 5 * 60_000;
const BAD_FOR = 60_000;

/** n8n's answer for an execution that doesn't exist (2.14.2 and 2.41.1; `e2e/proxies` fails first). */
const NO_EXECUTION = 'The execution "0" does not exist.';

/** The longest part of another answer that is shown, in characters. */
const SHOWN_ANSWER = 80;

/** Verdicts by address, and those under way. */
const verdicts = new BoundedMap<string, { verdict: Promise<Verdict>; until: number }>(1_000);

interface Verdict {
	/** Why callbacks may not arrive; absent: the URL leads to this n8n. */
	obstacle?: string;
	keepFor: number;
}

/**
 * Asks whether the resume URL leads to n8n: a proxy may not pass `/webhook-waiting/` on, or want a
 * login. It asks for an execution that doesn't exist, without the token, so nothing else happens.
 * @param resumeUrl ends with the execution's ID, before its query
 * @returns what is in the way, as the end of a sentence; undefined if it leads here
 */
export async function findObstacle(resumeUrl: string): Promise<string | undefined> {
	const { origin, pathname } = new URL(resumeUrl);
	const address = `${origin}${pathname.replace(/[^/]*$/, '')}`;
	const known = verdicts.get(address);
	if (known && known.until > Date.now()) return (await known.verdict).obstacle;
	const verdict = ask(address);
	verdicts.set(address, { verdict, until: Infinity });
	const { obstacle, keepFor } = await verdict;
	verdicts.set(address, { verdict, until: Date.now() + keepFor });
	return obstacle;
}

async function ask(address: string): Promise<Verdict> {
	const signal = AbortSignal.timeout(ANSWER_WITHIN);
	try {
		const response = await fetch(`${address}0`, { method: 'POST', redirect: 'manual', signal });
		const text = await response.text();
		const body = parseJson(text);
		if (response.status === 404 && isObject(body) && body.message === NO_EXECUTION)
			return { keepFor: GOOD_FOR };
		const answer = `${response.status} ${cutText(text.replace(/\s+/g, ' ').trim(), SHOWN_ANSWER)}`;
		return { obstacle: describe(address, `answers ${answer.trim()}`), keepFor: BAD_FOR };
	} catch (error) {
		if (signal.aborted)
			return { obstacle: describe(address, 'does not answer within 3 seconds'), keepFor: 0 };
		const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
		const reason = cause?.code ?? cause?.message ?? message;
		return { obstacle: describe(address, `can't be reached (${reason})`), keepFor: BAD_FOR };
	}
}

const describe = (address: string, what: string): string =>
	`callbacks to ${address} would not arrive: it ${what}. Let the proxy before n8n pass POST requests below ${new URL(address).pathname} on, without a login or a redirect, or correct WEBHOOK_URL`;
