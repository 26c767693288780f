/** What a code of the service means to the user, and what to do next, in the editor's words. */
export interface Meaning {
	what: string;
	next: string;
}

/**
 * The codes that services of this kind answer with, in the body or as HTTP status. The contract shows 200 and 500
 * only; the others are what public services document.
 */
export const MEANINGS = {
	400: {
		what: 'The service could not read the request',
		next: 'The service names the reason above. Correct the field that it names.',
	},
	401: {
		what: 'The service does not accept the access token',
		next: 'Open the Media Generation API credential and paste a valid Access Token; a token of another account or environment is refused too.',
	},
	402: {
		what: 'The account has too few credits',
		next: "Top up the account's credits with the service, then run the node again.",
	},
	403: {
		what: 'The service turned the request away before it was read',
		next: 'Check Base URL in the credential, and that the service allows requests from this n8n.',
	},
	404: {
		what: 'The service has nothing at that address or by that ID',
		next: 'Check the ID that was given, and Base URL and the endpoint paths in the credential.',
	},
	422: {
		what: 'The service did not accept a field',
		next: 'The service names the field above. Correct it, then run the node again.',
	},
	429: {
		what: 'The service received too many requests',
		next: 'What is refused this way creates nothing. Wait ten seconds, then run the node again with fewer items at once.',
	},
	455: {
		what: 'The service is under maintenance',
		next: 'What is refused this way creates nothing. Run the node again later.',
	},
	500: {
		what: 'The service broke off with an internal fault',
		next: 'Run the node again later.',
	},
	501: {
		what: 'The service could not generate the media',
		next: 'Look at the prompt and the media that were sent.',
	},
	505: {
		what: 'The service has this feature switched off',
		next: 'Choose another model, or ask the service when it is back.',
	},
} satisfies Record<number, Meaning>;

/** The meaning of a refusal that only says that requests came too fast. */
export const RATE_LIMITED: Meaning = MEANINGS[429];

const OTHER: Meaning = {
	what: 'The service refused the request',
	next: 'The service names the reason above.',
};

/** Codes by which one sister service says what others say with 429. */
const RATE_LIMIT_CODES = new Set([405, 429, 430]);

/**
 * What a code means; the text decides where services use one code for different things.
 * @param text the service's own message, possibly empty
 */
export function meaningOf(code: number, text: string): Meaning {
	if (RATE_LIMIT_CODES.has(code)) {
		if (/credit|balance|insufficient/i.test(text)) return MEANINGS[402];
		if (code === 429 || /rate|limit|frequen|too many/i.test(text)) return RATE_LIMITED;
	}
	const known: Record<number, Meaning | undefined> = MEANINGS;
	return known[code] ?? (code >= 500 ? MEANINGS[500] : OTHER);
}
