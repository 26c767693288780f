/** The meaning of the service's codes, and the next step for the user, in the editor's words. */
export interface ErrorHelp {
	message: string;
	hint: string;
}

/**
 * The codes that services of this kind answer with, in the body or as HTTP status. The contract shows 200 and 500
 * only; the others are documented by public services.
 */
export const ERROR_HELP = {
	400: {
		message: 'The service could not read the request',
		hint: 'The service names the reason above. Correct the field that it names.',
	},
	401: {
		message: 'The service does not accept the access token',
		hint: "Open the Media Generation API credential and paste a valid 'Access Token'. A token of another account or environment is refused too.",
	},
	402: {
		message: 'The account has too few credits',
		hint: "Top up the account's credits with the service, then run the node again.",
	},
	403: {
		message: 'The service turned the request away before reading it',
		hint: "Check 'Base URL' in the credential, and that the service allows requests from this n8n.",
	},
	404: {
		message: 'The service has nothing at that address or by that ID',
		hint: "Check the ID, and 'Base URL' and the endpoint paths in the credential.",
	},
	422: {
		message: 'The service did not accept a field',
		hint: 'The service names the field above. Correct it, then run the node again.',
	},
	429: {
		message: 'The service received too many requests',
		hint: 'Nothing was created by this request. Wait ten seconds, then run the node again with fewer items at once.',
	},
	433: {
		message: 'The usage limit of this access token is reached',
		hint: 'Nothing was created by this request. Raise the limit of the token with the service, or use another token.',
	},
	455: {
		message: 'The service is under maintenance',
		hint: 'Nothing was created by this request. Run the node again later.',
	},
	500: {
		message: 'The service had an internal fault',
		hint: 'Run the node again later.',
	},
	501: {
		message: 'The service could not generate the media',
		hint: 'Check the prompt and the media that were sent.',
	},
	505: {
		message: 'The service has this feature switched off',
		hint: 'Choose another model, or ask the service when it is back.',
	},
} satisfies Record<number, ErrorHelp>;

const OTHER: ErrorHelp = {
	message: 'The service refused the request',
	hint: 'The service names the reason above.',
};

/**
 * The codes for a request that the service turned away before acting on it. After any other code, a task may exist.
 */
const REJECTED_CODES = new Set([400, 401, 402, 403, 404, 422, 429, 433, 455]);

/** One sister service uses 405 and 430 for what others say with 429. The message decides. */
const RATE_LIMIT_CODES = new Set([405, 429, 430]);
const RATE_LIMIT_TEXT = /\brate[\s-]?limit|\btoo (many|frequent|fast)\b|\bfrequency\b/i;
const CREDITS_TEXT = /\b(credits?|balance)\b/i;

export interface Refusal extends ErrorHelp {
	/** The service certainly did nothing. False: it may have done what was asked. */
	isRejected: boolean;
	/** Requests came too fast. It may be sent again later. */
	isRateLimited: boolean;
}

/**
 * Explains an answer that is not a success.
 * @param code the body's `code`, or the HTTP status where the body has none
 * @param text the service's own message, possibly empty
 */
export function explainRefusal(httpStatus: number, code: number, text: string): Refusal {
	const lacksCredits = RATE_LIMIT_CODES.has(code) && CREDITS_TEXT.test(text);
	const isTooFast =
		!lacksCredits && (code === 429 || (RATE_LIMIT_CODES.has(code) && RATE_LIMIT_TEXT.test(text)));
	const isListed = lacksCredits || isTooFast || REJECTED_CODES.has(code);
	const isRejected =
		isListed && (httpStatus < 300 || httpStatus === code || REJECTED_CODES.has(httpStatus));
	return {
		...findHelp(lacksCredits ? 402 : isTooFast ? 429 : code),
		isRejected,
		isRateLimited: isTooFast && isRejected,
	};
}

function findHelp(code: number): ErrorHelp {
	const known: Record<number, ErrorHelp | undefined> = ERROR_HELP;
	return known[code] ?? (code >= 500 ? ERROR_HELP[500] : OTHER);
}
