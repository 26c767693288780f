/**
 * What is true of the service, and what a fork for another service changes. It imports nothing.
 * Only `createTaskPath` and the signature are contract (task-service interface); public services of
 * this kind document the rest.
 */

/**
 * The endpoints: fields of the credential, and their defaults. What stands in braces is replaced; a
 * path must have it.
 */
export const ENDPOINTS = {
	createTaskPath: { displayName: 'Create Task Path', path: '/api/v1/jobs/createTask' },
	taskDetailsPath: {
		displayName: 'Task Details Path',
		path: '/api/v1/jobs/recordInfo?taskId={taskId}',
	},
	creditsPath: { displayName: 'Credits Path', path: '/api/v1/chat/credit' },
	streamUploadPath: { displayName: 'Stream Upload Path', path: '/api/file-stream-upload' },
	urlUploadPath: { displayName: 'URL Upload Path', path: '/api/file-url-upload' },
	modelsPath: { displayName: 'Models Path', path: '/api/v1/models' },
	modelSchemaPath: { displayName: 'Model Schema Path', path: '/api/v1/models/{model}/schema' },
	downloadUrlPath: { displayName: 'Download URL Path', path: '/api/v1/common/download-url' },
} as const;

/** The path in the OpenAPI document of a model that creates tasks. One with another answers at once. */
export const TASK_PATH = /\/jobs\/createTask$/i;

/** The folder that files are uploaded to. */
export const UPLOAD_PATH = 'n8n';

/** The scheme of the access token in the header `Authorization`. */
export const TOKEN_SCHEME = 'Bearer';

/** How user agents begin: some front servers answer 403 to those that look like a bare script. */
export const BROWSER = 'Mozilla/5.0';

/**
 * A task's ID. The contract shows no limit; public services use at most 64 characters. This bounds
 * what is remembered, logged and asked for. URLs resolve `.` and `..` to another path.
 */
export const TASK_ID = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]{1,256}$/u;

/** The words for a task's status, in lower case and without separators. */
export const STATES = {
	completed: /^(completed?|done|finished|succeed(ed)?|success)$/,
	failed: /^(aborted|cancell?ed|error(ed)?|expired|fail(ed|ure)?|rejected|terminated|timed?out)$/,
	pending: /^(generating|inprogress|pending|processing|queu(ed|ing)|running|waiting)$/,
};

/** How many creations an account may send in a period of this many milliseconds. */
export const CREATION_RATE = { period: 10_000, most: 20 };

/** The pause between two look-ups of an account, in milliseconds: one a second is allowed. */
export const LOOKUP_PAUSE = 1_100;

/** The headers of a signed callback: Unix time in seconds, and the signature in Base64. */
export const TIMESTAMP_HEADER = 'X-Webhook-Timestamp';
export const SIGNATURE_HEADER = 'X-Webhook-Signature';

/** How far the timestamp may be off by default, in seconds either way. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** What the signature of a callback is made of, as text. The body is no part of it. */
export const buildSignedText = (taskId: string, timestamp: string): string =>
	`${taskId}.${timestamp}`;

/** A callback of this type brings a part of the result before the task ends. */
export const PART_OF_RESULT = /^(text|first)$/i;

/** A callback of this type says that the task failed. */
export const TASK_FAILED = /fail/i;

/** What a failure means for the one who asked. */
interface Meaning {
	/** The codes, in the envelope or as HTTP status. */
	codes?: number[];
	/** The service did nothing. */
	nothingDone?: boolean;
	/** Every later creation of the account would fail too. */
	endsRun?: boolean;
	/** The same request may succeed later. */
	passes?: boolean;
}

/** The code of a success. */
export const SUCCESS = 200;

/** Every kind of failure, and what it means. */
const FAILURES = {
	/** The service could not read the request. */
	request: { codes: [400], nothingDone: true },
	/** The access token is not accepted. */
	token: { codes: [401], nothingDone: true, endsRun: true },
	/** The account has too few credits. */
	credits: { codes: [402], nothingDone: true, endsRun: true },
	/** A server in front of the service turned the request away. */
	turnedAway: { codes: [403], nothingDone: true },
	/** There is nothing at the address, or by the ID. */
	notFound: { codes: [404], nothingDone: true },
	/** The address takes no such request. */
	method: { codes: [405], nothingDone: true },
	tooLarge: { codes: [413], nothingDone: true },
	/** A field was not accepted. */
	input: { codes: [422], nothingDone: true },
	/** Too many requests at once. */
	rate: { codes: [429], nothingDone: true, passes: true },
	/** The access token has a limit of its own, which is used up. */
	keyLimit: { codes: [433], nothingDone: true, endsRun: true },
	maintenance: { codes: [455], nothingDone: true, endsRun: true, passes: true },
	/** The service got no answer from behind for ten minutes. Twice in a row, its task has failed. */
	silent: { codes: [408], passes: true },
	/** The task failed. */
	generation: { codes: [501] },
	/** The feature is switched off. */
	off: { codes: [505] },
	/** Any other code from 500 on. */
	fault: { codes: [500], passes: true },
	/** Any other code. */
	other: {},
	/** An address sent the request on to another one. */
	redirect: {},
	/** A success by HTTP that is not from the service, such as a page. */
	page: {},
	/** An answer of the service in which something is missing. */
	incomplete: {},
	/** Details of another task than was asked for. */
	otherTask: { passes: true },
	/** The request was never sent. */
	unreachable: { nothingDone: true, passes: true },
	/** The request was sent, and no whole answer came. */
	lost: { passes: true },
} satisfies Record<string, Meaning>;

export type FailureKind = keyof typeof FAILURES;

/** Says what a kind of failure means. */
export const explainKind = (kind: FailureKind): Meaning => FAILURES[kind];

/** The service doesn't know a task, where its envelope says one of these for its details. */
export const UNKNOWN_TASK_CODES = [404, 422];

/** Redirects that did nothing. 303 may mean that a task was created. */
const PLAIN_REDIRECTS = [301, 302, 307, 308];

/** Sister services use each of these for the rate, or for missing credits. The text decides. */
const AMBIGUOUS_CODES = [405, 429, 430];
const RATE_TEXT = /\brate[\s-]?limit|\btoo (many|frequent|fast)\b|\bfrequency\b/i;
const CREDITS_TEXT = /\b(credits?|balance)\b/i;

/** Whole texts of code 500 that refuse a request. After any other, a task may exist. */
const INPUT_REFUSAL =
	/^(this )?[\w.[\]-]+ (is not within the range of allowed options|is required|cannot be empty)\.?$/i;
const CREDITS_REFUSAL = /^credits insufficient\.?$/i;

/** Finds the kind of a failure by its code alone. */
function findKindOfCode(code: number): FailureKind {
	const kinds = Object.keys(FAILURES) as FailureKind[];
	const kind = kinds.find((one) => explainKind(one).codes?.includes(code));
	return kind ?? (code >= 500 ? 'fault' : 'other');
}

/**
 * Finds the kind of a failure that has a code. Nowhere else does the service's text decide.
 * @param code the envelope's, or else the HTTP status
 * @param text the service's own words, possibly empty
 */
export function findKind(httpStatus: number, code: number, text: string): FailureKind {
	if (AMBIGUOUS_CODES.includes(code)) {
		if (CREDITS_TEXT.test(text)) return 'credits';
		if (RATE_TEXT.test(text)) return 'rate';
	}
	if (code === 500 && httpStatus === 200) {
		if (CREDITS_REFUSAL.test(text)) return 'credits';
		if (INPUT_REFUSAL.test(text)) return 'input';
	}
	return findKindOfCode(code);
}

/**
 * Says whether the service certainly did nothing when it answered with a failure.
 * @param code the envelope's, or else the HTTP status
 */
export function didNothing(kind: FailureKind, httpStatus: number, code: number): boolean {
	if (kind === 'redirect') return PLAIN_REDIRECTS.includes(httpStatus);
	if (!explainKind(kind).nothingDone) return false;
	if (httpStatus < 300 || httpStatus === code) return true;
	return explainKind(findKindOfCode(httpStatus)).nothingDone ?? false;
}
