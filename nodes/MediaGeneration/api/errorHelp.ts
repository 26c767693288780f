import type { Failure } from './errors';
import type { Envelope } from './schemas';

const CHECK_PATHS = "Check 'Base URL' and the endpoint paths in the credential.";

const NOTHING_CREATED = 'Nothing was created by this request.';

/**
 * The codes of services of this kind, in the body or as HTTP status: what happened, then what to
 * do. The contract shows 200 and 500 only; public services document the others.
 */
const HELP: Record<number, string> = {
	400: 'The service could not read the request. It names the reason above. Correct that field.',
	401: "The service does not accept the access token. Open the Media Generation API credential and paste a valid 'Access Token'. A token of another account or environment is refused too.",
	402: "The account has too few credits. Top up the account's credits with the service, then run the node again.",
	403: "The service turned the request away before reading it. Check 'Base URL' in the credential, and that the service allows requests from this n8n.",
	404: `The service has nothing at that address or by that ID. Check the ID. ${CHECK_PATHS}`,
	405: `The address does not take this kind of request. ${CHECK_PATHS}`,
	413: 'The request is too large for the service. Shorten the texts, or give files by their URL.',
	422: 'The service did not accept a field. It names the field above. Correct it, then run the node again.',
	429: `The service received too many requests. ${NOTHING_CREATED} Wait ten seconds, then run the node again with fewer items at once.`,
	433: `The usage limit of this access token is reached. ${NOTHING_CREATED} Raise the limit of the token with the service, or use another token.`,
	455: `The service is under maintenance. ${NOTHING_CREATED} Run the node again later.`,
	500: 'The service had an internal fault. Run the node again later.',
	501: 'The service could not generate the media. Check the prompt and the media that were sent.',
	505: 'The service has this feature switched off. Choose another model, or ask the service when it is back.',
};

const OTHER = 'The service refused the request. It names the reason above.';

/** Explains one of the service's codes: what it means, and the next step for the user. */
export function explainCode(code: number): Pick<Failure, 'message' | 'hint'> {
	const help = HELP[code] ?? (code >= 500 ? HELP[500] : undefined) ?? OTHER;
	const [message = '', ...next] = help.split('. ');
	return { message, hint: next.join('. ') };
}

/** Sister services use each of these for the rate, or for missing credits. The text decides. */
const AMBIGUOUS_CODES = new Set([405, 429, 430]);
const RATE_TEXT = /\brate[\s-]?limit|\btoo (many|frequent|fast)\b|\bfrequency\b/i;
const CREDITS_TEXT = /\b(credits?|balance)\b/i;

/** Whole texts of code 500 that refuse the input. After any other, a task may exist. */
const INPUT_REFUSAL =
	/^(this )?[\w.[\]-]+ (is not within the range of allowed options|is required|cannot be empty)\.?$/i;
const CREDITS_REFUSAL = /^credits insufficient\.?$/i;

/** Finds the code that means what the text says. */
function findMeaning(httpStatus: number, code: number, text: string): number {
	if (AMBIGUOUS_CODES.has(code)) {
		if (CREDITS_TEXT.test(text)) return 402;
		return RATE_TEXT.test(text) ? 429 : code;
	}
	if (code !== 500 || httpStatus !== 200) return code;
	if (CREDITS_REFUSAL.test(text)) return 402;
	return INPUT_REFUSAL.test(text) ? 422 : code;
}

/** With a known code below 500, the service certainly did nothing. */
const isRefusal = (code: number): boolean => code in HELP && code < 500;

/**
 * Explains an answer that is not a success.
 * @param code the body's `code`, or the HTTP status where the body has none
 * @param text the service's own message, possibly empty
 */
export function explainRefusal(httpStatus: number, code: number, text: string): Failure {
	const meaning = findMeaning(httpStatus, code, text);
	const help = explainCode(meaning);
	const isRejected =
		isRefusal(meaning) && (httpStatus < 300 || httpStatus === code || isRefusal(httpStatus));
	const message = `${help.message} (${code}${text && `: ${text}`})`;
	return { ...help, message, code, isRejected, isRateLimited: meaning === 429 && isRejected };
}

/** Redirects of an address that did nothing. 303 may mean that a task was created. */
const PLAIN_REDIRECTS = [301, 302, 307, 308];

/**
 * Finds out why an answer is not a success; undefined if it is one.
 * @param said its envelope, if it has one
 * @param fault why it can't be read if it has none, after "it is"
 */
export function findFailure(
	httpStatus: number,
	said: Envelope | undefined,
	fault: string,
	origin: string,
): Failure | undefined {
	if (httpStatus >= 300 && httpStatus < 400)
		return {
			message: `The service at ${origin} sent the request on to another address, which is not followed so that the access token stays with the configured service`,
			hint: "Put the address that the service really has into 'Base URL' of the credential.",
			code: httpStatus,
			answeredBy: 'other',
			isRejected: PLAIN_REDIRECTS.includes(httpStatus),
		};
	if (said && said.code !== 200)
		return { ...explainRefusal(httpStatus, said.code, said.text ?? ''), answeredBy: 'service' };
	if (httpStatus >= 400)
		return { ...explainRefusal(httpStatus, httpStatus, said?.text ?? ''), answeredBy: 'other' };
	if (said) return undefined;
	return {
		message: `The answer from ${origin} is not from the task service: it is ${fault}`,
		hint: CHECK_PATHS,
		answeredBy: 'other',
	};
}
