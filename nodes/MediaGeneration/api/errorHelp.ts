/** The meaning of the service's codes, and the next step for the user, in the editor's words. */
interface ErrorHelp {
	message: string;
	hint: string;
}

const NOTHING_CREATED = 'Nothing was created by this request.';

/**
 * The codes that services of this kind answer with, in the body or as HTTP status. The contract
 * shows 200 and 500 only; public services document the others. Below 500, the service certainly did
 * nothing.
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
	405: {
		message: 'The address does not take this kind of request',
		hint: "Check 'Base URL' and the endpoint paths in the credential.",
	},
	413: {
		message: 'The request is too large for the service',
		hint: 'Shorten the texts, or give files by their URL.',
	},
	422: {
		message: 'The service did not accept a field',
		hint: 'The service names the field above. Correct it, then run the node again.',
	},
	429: {
		message: 'The service received too many requests',
		hint: `${NOTHING_CREATED} Wait ten seconds, then run the node again with fewer items at once.`,
	},
	433: {
		message: 'The usage limit of this access token is reached',
		hint: `${NOTHING_CREATED} Raise the limit of the token with the service, or use another token.`,
	},
	455: {
		message: 'The service is under maintenance',
		hint: `${NOTHING_CREATED} Run the node again later.`,
	},
	500: { message: 'The service had an internal fault', hint: 'Run the node again later.' },
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

const isRefusal = (code: number): boolean => code in ERROR_HELP && code < 500;

/**
 * Explains an answer that is not a success.
 * @param code the body's `code`, or the HTTP status where the body has none
 * @param text the service's own message, possibly empty
 * @returns `isRejected`: the service certainly did nothing; `isRateLimited`: it may be sent again
 * later
 */
export function explainRefusal(
	httpStatus: number,
	code: number,
	text: string,
): ErrorHelp & { isRejected: boolean; isRateLimited: boolean } {
	const meaning = findMeaning(httpStatus, code, text);
	const isRejected =
		isRefusal(meaning) && (httpStatus < 300 || httpStatus === code || isRefusal(httpStatus));
	const known: Record<number, ErrorHelp | undefined> = ERROR_HELP;
	const help = known[meaning] ?? (meaning >= 500 ? ERROR_HELP[500] : OTHER);
	return { ...help, isRejected, isRateLimited: meaning === 429 && isRejected };
}
