/**
 * Facts about the service. A fork for another service changes this file, which imports nothing, and
 * `callback/scheme`. The contract (task-service interface) has only `createTaskPath` and the
 * signature. The documents of public services of this kind have the rest.
 */

interface EndpointFacts {
	/** Its field in the credential. */
	displayName: string;
	/** The default of this field. */
	path: string;
	/** Stands for the task's ID or the model's name. Each path in the field must contain it. */
	placeholder?: string;
	/** All reads of an account share `READ_RATE`. */
	sharesRate?: true;
	/** The path is below 'Upload Base URL', if the credential has one. */
	isUpload?: true;
}

const FACTS = {
	createTaskPath: { displayName: 'Create Task Path', path: '/api/v1/jobs/createTask' },
	taskDetailsPath: {
		displayName: 'Task Details Path',
		path: '/api/v1/jobs/recordInfo?taskId={taskId}',
		placeholder: '{taskId}',
	},
	creditsPath: { displayName: 'Credits Path', path: '/api/v1/chat/credit' },
	streamUploadPath: {
		displayName: 'Stream Upload Path',
		path: '/api/file-stream-upload',
		isUpload: true,
	},
	urlUploadPath: { displayName: 'URL Upload Path', path: '/api/file-url-upload', isUpload: true },
	modelsPath: { displayName: 'Models Path', path: '/api/v1/models', sharesRate: true },
	modelSchemaPath: {
		displayName: 'Model Schema Path',
		path: '/api/v1/models/{model}/schema',
		placeholder: '{model}',
		sharesRate: true,
	},
	downloadUrlPath: {
		displayName: 'Download URL Path',
		path: '/api/v1/common/download-url',
		sharesRate: true,
	},
} satisfies Record<string, EndpointFacts>;

export type Endpoint = keyof typeof FACTS;

/** The endpoints. Each is a field of the credential. */
export const ENDPOINTS: Record<Endpoint, EndpointFacts> = FACTS;

/** The path in a model's OpenAPI document if the model makes tasks. Other models answer at once. */
export const TASK_PATH = /\/jobs\/createTask$/i;

/** The upload folder. */
export const UPLOAD_PATH = 'n8n';

/**
 * A task's ID. The contract has no limit, public services use at most 64 characters. Ours keeps
 * memory, logs and URLs short. `.` and `..` would change the path of a URL.
 */
export const TASK_ID = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]{1,256}$/u;

/** The service's words for a status, in lower case and without separators. */
export const STATES = {
	completed: /^(completed?|done|finished|succeed(ed)?|success)$/,
	failed: /^(aborted|cancell?ed|error(ed)?|expired|fail(ed|ure)?|rejected|terminated|timed?out)$/,
	pending: /^(generating|inprogress|pending|processing|queu(ed|ing)|running|waiting)$/,
};

/** The least timeout of a creation, in seconds: giving up on a creation makes its outcome unknown. */
export const CREATION_TIMEOUT = 180;

/** The most creations of an account in a period, which is in milliseconds. */
export const CREATION_RATE = { period: 10_000, most: 20 };

/** The most reads of an account in a period. The service allows one per second. */
export const READ_RATE = { period: 1_100, most: 1 };

/** The type of a callback that brings a part of the result before the task ends. */
export const PARTIAL_TYPE = /^(text|first)$/i;

/** The type of a callback that says that the task failed. */
export const FAILED_TYPE = /fail/i;

/** What a kind of failure means: what a run does about such a failure, and what its message says. */
export interface Meaning {
	/** The codes of this kind, in the envelope or as HTTP status. */
	codes?: number[];
	/** The service did nothing. */
	meansNothingDone?: boolean;
	/** Later creations of the account would fail as well. */
	appliesToAll?: boolean;
	/** The same request may succeed later. */
	isTemporary?: boolean;
	/** What happened. `buildError` appends the code and the service's words, or the address and the fault. */
	what: string;
	/** What to do next. */
	remedy: string;
}

/** The envelope's code for success. */
export const SUCCESS_CODE = 200;

/** The service's own upstream was silent for ten minutes. A task with this code may still end. */
export const SILENT_UPSTREAM = 408;

/** The task failed. */
export const FAILED_CODE = 501;

/**
 * Codes of task details that are about the task. A record that comes with such a code is of this task, even
 * if the record has no ID.
 */
export const TASK_CODES = [SILENT_UPSTREAM, FAILED_CODE];

const CHECK_PATHS = "Check 'Base URL' and the endpoint paths in the credential.";

const KINDS = {
	token: {
		codes: [401],
		meansNothingDone: true,
		appliesToAll: true,
		what: 'The service does not accept the access token',
		remedy: "Open the credential and paste a valid 'Access Token'.",
	},
	credits: {
		codes: [402, 433],
		meansNothingDone: true,
		appliesToAll: true,
		what: 'The account or its access token has too few credits',
		remedy: "Top up the account's credits with the service, or raise the limit of the token.",
	},
	turnedAway: {
		codes: [403, 405],
		meansNothingDone: true,
		what: 'The service, or a server in front of it, turned the request away',
		remedy: `${CHECK_PATHS} See that the service allows requests from this n8n.`,
	},
	/** Nothing is at that address. */
	notFound: {
		codes: [404],
		meansNothingDone: true,
		what: 'The service has nothing at that address',
		remedy: CHECK_PATHS,
	},
	/** The service says so itself, in task details. */
	unknownTask: {
		what: 'The service has no task with this ID',
		remedy: 'Check Task ID.',
	},
	input: {
		codes: [400, 413, 422],
		meansNothingDone: true,
		what: 'The service did not accept what was sent',
		remedy: 'Correct what the service names.',
	},
	/** Too many requests at once. */
	rate: {
		codes: [429],
		meansNothingDone: true,
		isTemporary: true,
		what: 'The service received too many requests',
		remedy: 'Wait ten seconds, then run fewer items at once.',
	},
	/** The account has as many unfinished tasks as it may have at once. */
	tasksAtOnce: {
		meansNothingDone: true,
		isTemporary: true,
		what: 'The service takes no more tasks at once',
		remedy:
			"Put this node into Loop Over Items, with a 'Batch Size' that the service takes at once, or raise 'Limit Wait Time' of Generate.",
	},
	maintenance: {
		codes: [455],
		meansNothingDone: true,
		appliesToAll: true,
		isTemporary: true,
		what: 'The service is under maintenance',
		remedy: 'Run the node again later.',
	},
	/** Also any other code from 500 on, except 505, by which a service says that it lacks a feature. */
	internal: {
		codes: [SILENT_UPSTREAM, 500],
		isTemporary: true,
		what: 'The service had an internal fault',
		remedy: 'Run the node again later.',
	},
	/** Any other code. */
	other: {
		codes: [505],
		what: 'The service rejected the request',
		remedy: 'Ask the service what this means.',
	},
	redirect: {
		what: 'The service redirected the request, which is not followed, so that nobody else gets the access token',
		remedy: "Set 'Base URL' in the credential to the service's real address.",
	},
	/** HTTP says success, but the answer is no envelope (a web page, for example) or lacks what we need. */
	unreadable: { what: 'The answer from', remedy: CHECK_PATHS },
	/** No complete answer came back, or the answer to another request. */
	lost: {
		isTemporary: true,
		what: 'The service at',
		remedy: "Check 'Base URL' in the credential, and that this n8n can reach the service.",
	},
} satisfies Record<string, Meaning>;

export type FailureKind = keyof typeof KINDS;

/** The kinds of failures: what is done and said about each. */
export const FAILURES: Record<FailureKind, Meaning> = KINDS;

/** Codes of task details, in the envelope, by which the service says that it doesn't know the task. */
export const UNKNOWN_TASK_CODES = [404, 422];

/** Redirects after which nothing was done. A 303 may follow a creation. */
const PLAIN_REDIRECTS = [301, 302, 307, 308];

/** Codes for too many requests, too many tasks at once, and too few credits. The text tells which. */
const AMBIGUOUS_CODES = [405, 429, 430];
const CONCURRENCY_TEXT =
	/\b(concurren(t|cy|tly)|parallel|simultaneous(ly)?|tasks? (at once|at the same time|in progress)|(running|unfinished) tasks?)\b/i;
const RATE_TEXT = /\brate[\s-]?limit|\btoo (many|frequent|fast)\b|\bfrequency\b/i;
const CREDITS_TEXT = /\b(credits?|balance)\b/i;

/** Complete texts of code 500 by which services reject a creation. After other texts, a task may exist. */
const INPUT_REJECTIONS = [
	/^(this )?[\w.[\]-]+ (is not within the range of allowed options|is required|cannot be empty)\.?$/i,
	/^([\w.[\]-]+ )?file type (is )?not supported\.?$/i,
	/^(the )?([\w.[\]-]+ )?(text )?length (cannot exceed|exceeds) the maximum (limit|length)\.?$/i,
	/^(image|video|audio|file) fetch failed(\. check access settings or use our [\w ]+ instead)?\.?$/i,
];
const CREDITS_REJECTION = /^credits insufficient\.?$/i;

/**
 * Whether an internal error may be a rejection. Services answer like this when they can't read a link
 * in the input, but also in an outage.
 * @param milliseconds how long the answer took
 */
export const mayBeRejection = (httpStatus: number, code: number, milliseconds: number): boolean =>
	httpStatus === 200 && code === 500 && milliseconds < 5_000;

/** Finds the kind of a failure by its code alone. */
function findKindOfCode(code: number): FailureKind {
	const kinds = Object.keys(FAILURES) as FailureKind[];
	const kind = kinds.find((one) => FAILURES[one].codes?.includes(code));
	return kind ?? (code >= 500 ? 'internal' : 'other');
}

/**
 * Finds the kind of a failure that has a code. This is the only place where the service's text
 * decides.
 * @param code the envelope's, or else the HTTP status
 * @param text the service's own words, possibly empty
 */
export function findKind(httpStatus: number, code: number, text: string): FailureKind {
	if (AMBIGUOUS_CODES.includes(code)) {
		if (CONCURRENCY_TEXT.test(text)) return 'tasksAtOnce';
		if (CREDITS_TEXT.test(text)) return 'credits';
		if (RATE_TEXT.test(text)) return 'rate';
	}
	if (code === 500 && httpStatus === 200) {
		if (CREDITS_REJECTION.test(text)) return 'credits';
		if (INPUT_REJECTIONS.some((pattern) => pattern.test(text))) return 'input';
	}
	return findKindOfCode(code);
}

/**
 * Whether the service certainly did nothing, given the failure that it answered with.
 * @param code the envelope's, or else the HTTP status
 */
export function didNothing(
	kind: FailureKind,
	httpStatus: number,
	code: number,
): boolean | undefined {
	if (kind === 'redirect') return PLAIN_REDIRECTS.includes(httpStatus);
	if (!FAILURES[kind].meansNothingDone) return false;
	if (httpStatus < 300 || httpStatus === code) return true;
	// The HTTP status differs from the envelope, so it must mean that nothing was done too.
	return FAILURES[findKindOfCode(httpStatus)].meansNothingDone;
}
