import { findAnswerer, type Answerer } from '../host/reachability';
import type { Silence } from '../lib/post';
import { cutText } from '../lib/text';
import { isInternalUrl, isLoopbackUrl } from '../lib/url';
import type { HowToWait } from './ledger';
import { PROBE } from './timetable';

/** Asks what keeps callbacks from the resume URL. @returns the end of a sentence; undefined: nothing */
export const findObstacle = async (resumeUrl: string): Promise<string | undefined> =>
	explainAnswerer(await findAnswerer(resumeUrl, PROBE));

/** How much is shown of an answer that isn't n8n's, in characters. */
const SHOWN_ANSWER = 80;

function explainAnswerer(answerer: Answerer): string | undefined {
	if (answerer.who === 'n8n') return undefined;
	const { address } = answerer;
	const { pathname } = new URL(address);
	const what =
		answerer.who === 'nobody' ? describeSilence(answerer.silence) : describeAnswer(answerer);
	return `callbacks to ${address} would not arrive: it ${what}. Let the proxy before n8n pass POST requests below ${pathname} on, without a login or a redirect, or correct WEBHOOK_URL`;
}

/** Says why a host gave no answer, after its name. */
export const describeSilence = (silence: Silence): string =>
	'after' in silence
		? `does not answer within ${silence.after / 1000} seconds`
		: `can't be reached (${silence.code ?? 'no connection'})`;

function describeAnswer({ status, text }: Extract<Answerer, { who: 'other' }>): string {
	const shown = cutText(text.replace(/\s+/g, ' ').trim(), SHOWN_ANSWER);
	return `answers ${status} ${shown}`.trim();
}

/** A service in the same network may reach this n8n; one on another machine not by a loopback name. */
export function mayReach(baseUrl: string, resumeUrl: string, chosen: HowToWait): boolean {
	if (!isInternalUrl(resumeUrl)) return true;
	if (chosen === 'callback' || !isLoopbackUrl(resumeUrl)) return isInternalUrl(baseUrl);
	return isLoopbackUrl(baseUrl);
}
