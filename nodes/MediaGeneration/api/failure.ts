import { UserError } from 'n8n-workflow';
import { CREDENTIAL_NAME } from '../lib/brand';
import type { Envelope } from './schemas';
import {
	didNothing,
	explainKind,
	findKind,
	SUCCESS,
	UNKNOWN_TASK_CODES,
	type FailureKind,
} from './service';

/** The facts of a failed request. They hold no secrets. */
export interface Failure {
	kind: FailureKind;
	/** The envelope's `code`, otherwise the HTTP status; absent without a readable answer. */
	code?: number;
	/** The service, by its envelope, or something else such as a web page; absent: nobody. */
	answeredBy?: 'service' | 'other';
	/** The service certainly did nothing. */
	certain: boolean;
	/** Where the request went. */
	origin: string;
	/** The service's own words, or what is wrong with the answer. May be empty. */
	detail: string;
	/** What happened, where the caller can say it better than the kind. */
	what?: string;
	/** What to do next, likewise. */
	next?: string;
	/** It was a creation, and it certainly created nothing. */
	nothingCreated?: boolean;
}

const CHECK_ADDRESS =
	"Check 'Base URL' in the credential, and that this n8n can reach the service.";

const CHECK_PATHS = "Check 'Base URL' and the endpoint paths in the credential.";

interface Sentence {
	/** A text gets the code and the service's own words appended. */
	what: string | ((failure: Failure) => string);
	/** What to do next. */
	next: string;
}

const SENTENCES: Record<FailureKind, Sentence> = {
	request: {
		what: 'The service could not read the request',
		next: 'The service names the reason above. Correct that field.',
	},
	token: {
		what: 'The service does not accept the access token',
		next: `Open the ${CREDENTIAL_NAME} credential and paste a valid 'Access Token'. A token of another account or environment is refused too.`,
	},
	credits: {
		what: 'The account has too few credits',
		next: "Top up the account's credits with the service, then run the node again.",
	},
	turnedAway: {
		what: 'The service turned the request away before reading it',
		next: "Check 'Base URL' in the credential, and that the service allows requests from this n8n.",
	},
	notFound: {
		what: 'The service has nothing at that address or by that ID',
		next: `Check the ID. ${CHECK_PATHS}`,
	},
	method: { what: 'The address does not take this kind of request', next: CHECK_PATHS },
	tooLarge: {
		what: 'The request is too large for the service',
		next: 'Shorten the texts, or give files by their URL.',
	},
	input: {
		what: 'The service did not accept a field',
		next: 'The service names the field above. Correct it, then run the node again.',
	},
	rate: {
		what: 'The service received too many requests',
		next: 'Wait ten seconds, then run the node again with fewer items at once.',
	},
	keyLimit: {
		what: 'The usage limit of this access token is reached',
		next: 'Raise the limit of the token with the service, or use another token.',
	},
	maintenance: { what: 'The service is under maintenance', next: 'Run the node again later.' },
	fault: { what: 'The service had an internal fault', next: 'Run the node again later.' },
	generation: {
		what: 'The service could not generate the media',
		next: 'Check the prompt and the media that were sent.',
	},
	off: {
		what: 'The service has this feature switched off',
		next: 'Choose another model, or ask the service when it is back.',
	},
	silent: { what: 'The service refused the request', next: 'The service names the reason above.' },
	other: { what: 'The service refused the request', next: 'The service names the reason above.' },
	redirect: {
		what: ({ origin }) =>
			`The service at ${origin} redirected the request. This is not followed, so that the access token only goes to the configured service`,
		next: "Set 'Base URL' in the credential to the service's real address.",
	},
	page: {
		what: ({ origin, detail }) => `The answer from ${origin} ${detail}`,
		next: CHECK_PATHS,
	},
	incomplete: {
		what: ({ origin, detail }) =>
			`The answer from ${origin} is incomplete: the service gave no ${detail}`,
		next: 'Check the endpoint paths in the credential.',
	},
	otherTask: {
		what: ({ origin, detail }) => `The answer from ${origin} is of another task: ${detail}`,
		next: "It was ignored. Check 'Task Details Path' in the credential, or ask the service.",
	},
	unreachable: {
		what: ({ origin, detail }) => `The service at ${origin} ${detail}`,
		next: CHECK_ADDRESS,
	},
	lost: { what: ({ origin, detail }) => `The service at ${origin} ${detail}`, next: CHECK_ADDRESS },
};

/** Turns the facts into a sentence. */
function describeFailure(failure: Failure): string {
	const { kind, code, detail } = failure;
	const { what } = SENTENCES[kind];
	if (failure.what) return failure.what;
	if (typeof what !== 'string') return what(failure);
	return `${what} (${code}${detail && `: ${detail}`})`;
}

/** A failed request. `description` says what to do next. */
export class ServiceError extends UserError {
	readonly kind: FailureKind;
	readonly code: Failure['code'];
	readonly answeredBy: Failure['answeredBy'];
	readonly certain: boolean;
	/** Later creations of the account would fail as well. */
	readonly endsRun: boolean;
	/** The same request may succeed later. */
	readonly passes: boolean;
	/** It was a creation, and it certainly created nothing. */
	readonly nothingCreated: boolean;

	constructor(failure: Failure) {
		const { kind, code, answeredBy, certain, nothingCreated = false } = failure;
		super(describeFailure(failure), { description: failure.next ?? SENTENCES[kind].next });
		const { endsRun = false, passes = false } = explainKind(kind);
		this.kind = kind;
		this.code = code;
		this.answeredBy = answeredBy;
		this.certain = certain;
		this.endsRun = certain && endsRun;
		this.passes = passes;
		this.nothingCreated = nothingCreated;
	}
}

/** The request came too soon and did nothing, so it can be sent again. */
export const isRateLimited = (error: unknown): boolean =>
	error instanceof ServiceError && error.kind === 'rate' && error.certain;

/** Nothing is at that address. For look-ups: the service has no catalogue, or no such model. */
export const isNotFound = (error: unknown): error is ServiceError =>
	error instanceof ServiceError && error.kind === 'notFound';

/** The service itself says that it doesn't know the task. Any other 404 means a wrong path. */
export const isUnknownTask = ({
	code = 0,
	answeredBy,
}: Pick<Failure, 'code' | 'answeredBy'>): boolean =>
	answeredBy === 'service' && UNKNOWN_TASK_CODES.includes(code);

/** Why it's unknown whether a creation made a task. */
export interface UnknownOutcome {
	message: string;
	/** The ID, if the answer had one. */
	taskId?: string;
	/** What to check in the credential, if something other than the service answered. */
	advice?: string;
}

/** A creation that may have made a task. Only with an idempotency key may it be sent again. */
export class UnknownOutcomeError extends UserError {
	constructor(
		readonly outcome: UnknownOutcome,
		readonly code?: number,
	) {
		const { message, taskId, advice } = outcome;
		const where = taskId
			? `the service named it ${taskId}. Look at it with Get`
			: 'look at the recent tasks of your account with the service';
		const warning = `The task may exist and may have been paid for: ${where} before you create it again.`;
		super(message, { description: [warning, advice].filter(Boolean).join(' ') });
	}
}

/**
 * Finds out why an answer isn't a success; undefined if it is one.
 * @param said its envelope, if it has one
 * @param fault why it can't be read if it has none, as a predicate
 */
export function findFailure(
	httpStatus: number,
	said: Envelope | undefined,
	fault: string,
	origin: string,
): Failure | undefined {
	if (httpStatus >= 300 && httpStatus < 400) {
		const certain = didNothing('redirect', httpStatus, httpStatus);
		return { kind: 'redirect', code: httpStatus, answeredBy: 'other', certain, origin, detail: '' };
	}
	const isSaid = said !== undefined && said.code !== SUCCESS;
	if (isSaid || httpStatus >= 400) {
		const code = isSaid ? said.code : httpStatus;
		const detail = said?.text ?? '';
		const kind = findKind(httpStatus, code, detail);
		const answeredBy = isSaid ? 'service' : 'other';
		return { kind, code, answeredBy, certain: didNothing(kind, httpStatus, code), origin, detail };
	}
	if (said) return undefined;
	return { kind: 'page', answeredBy: 'other', certain: false, origin, detail: fault };
}

/** Why a request got no answer. */
interface NetworkFailure {
	kind: 'unreachable' | 'lost';
	/** A predicate for the host. */
	reason: string;
	/** What to do, if this reason needs something special. */
	next?: string;
}

/** Errors of n8n's SSRF protection, which refuses to connect. */
const GUARD_ERROR = /^SsrfBlocked(Ip|Hostname)Error$/;

const GUARD_HINT =
	'Nothing was sent. If this n8n is to reach that address, ask its administrator to add it to the environment variable N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.';

/** Failures before anything was sent, by system call and code. */
const NEVER_SENT: Array<[pattern: RegExp, reason: string, next?: string]> = [
	[/ GUARD$/, "this n8n's SSRF protection blocks that address", GUARD_HINT],
	[/ ECONNREFUSED$/, 'nothing answers at that address'],
	[/ (ENOTFOUND|EAI_AGAIN)$/, 'its host name is not known'],
	[/ ERR_INVALID_URL$/, 'its URL is malformed'],
	[
		/ (CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)_/,
		'its certificate has expired, is not trusted, or belongs to another host',
	],
	// Only while connecting: a route can also be lost later.
	[/^connect E(HOST|NET)UNREACH$/, 'there is no route to its host'],
];

export const SLOW_HINT = "If it is just slow, raise 'Request Timeout (Seconds)' in Options.";

const TIMEOUT = / (ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/;

/** @param error what n8n's HTTP helper threw: n8n wraps Node's errors */
export function findNetworkFailure(error: unknown, timeoutSeconds: number): NetworkFailure {
	const failed = readSystemError(error);
	const [, reason, next] = NEVER_SENT.find(([pattern]) => pattern.test(failed)) ?? [];
	if (reason) return { kind: 'unreachable', reason: `can't be reached: ${reason}`, next };
	if (!TIMEOUT.test(failed))
		return { kind: 'lost', reason: 'broke off the connection before it answered' };
	return { kind: 'lost', reason: `gave no answer within ${timeoutSeconds} s`, next: SLOW_HINT };
}

/** Reads system call and code from an error or its causes, separated by a blank. */
function readSystemError(error: unknown): string {
	let code = '';
	let syscall: unknown;
	for (let depth = 0, inner = error; inner && depth < 10; depth++) {
		const layer = inner as Record<string, unknown>;
		if (GUARD_ERROR.test(String(layer.name))) code = 'GUARD';
		code ||= [layer.code, layer.httpCode].find((value) => typeof value === 'string') ?? '';
		syscall ??= layer.syscall;
		inner = layer.cause;
	}
	return `${String(syscall)} ${code}`;
}
