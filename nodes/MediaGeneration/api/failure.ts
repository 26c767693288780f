import { UserError, type Failure as Declared } from 'n8n-workflow';
import type { Envelope } from './schemas';
import { didNothing, explainKind, findKind, SUCCESS, type FailureKind } from './service';

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
	/** What to do next, where the caller can say it better than the kind. */
	next?: string;
	/** It was a creation, and it certainly created nothing. */
	nothingCreated?: boolean;
}

/** Turns the facts into a sentence. */
function describeFailure({ kind, code, origin, detail }: Failure): string {
	const { what: start } = explainKind(kind);
	// The service's own words are about records.
	if (kind === 'unknownTask') return start;
	if (code === undefined) return `${start} ${origin} ${detail}`;
	return `${start} (${code}${detail && `: ${detail}`})`;
}

const chooseNext = ({ kind, next = explainKind(kind).next }: Failure) => next;

/** Begins what to do next, where a creation certainly made no task. */
export const NOTHING_CREATED = 'No task was created.';

/** What to do about a model that the service doesn't know. */
export const CHECK_NAME = 'Check its name, or choose it from the list';

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
	/** Why it failed, as n8n's nodes declare it (`failure.d.ts` of `n8n-workflow`, 2.41.0). */
	readonly failure?: Declared;

	constructor(private readonly found: Failure) {
		const { kind, code, answeredBy, certain, nothingCreated } = found;
		const { endsRun = false, passes = false, cause } = explainKind(kind);
		const next = chooseNext(found);
		super(describeFailure(found), {
			description: nothingCreated ? `${NOTHING_CREATED} ${next}` : next,
		});
		this.kind = kind;
		this.code = code;
		this.answeredBy = answeredBy;
		this.certain = certain;
		this.endsRun = certain && endsRun;
		this.passes = passes;
		this.failure = cause && { cause };
	}

	/** Makes the same error for a model of which the service says nothing: it may be misspelt. */
	ofUnknownModel(model: string): ServiceError {
		if (this.kind !== 'input') return this;
		const next = `The service describes no model "${model}". ${CHECK_NAME}. ${chooseNext(this.found)}`;
		return new ServiceError({ ...this.found, next });
	}
}

/** The service takes no more tasks at once. The creation did nothing, so it can be sent again. */
export const isOverTasks = (error: unknown): error is ServiceError =>
	error instanceof ServiceError && error.kind === 'tasksAtOnce' && error.certain;

/** The request came too soon and did nothing, so it can be sent again. */
export const isRateLimited = (error: unknown): boolean =>
	isOverTasks(error) || (error instanceof ServiceError && error.kind === 'rate' && error.certain);

/** Nothing is at that address. For look-ups: the service has no catalogue, or no such model. */
export const isNotFound = (error: unknown): error is ServiceError =>
	error instanceof ServiceError && error.kind === 'notFound';

/**
 * The service itself says that it doesn't know the task. Some seconds after its creation it may know
 * it. Any other 404 means a wrong path.
 */
export const isUnknownTask = (error: unknown): boolean =>
	error instanceof ServiceError && error.kind === 'unknownTask';

/** Why it's unknown whether a creation made a task. */
export interface UnknownOutcome {
	message: string;
	/** The ID, if the answer had one. */
	taskId?: string;
	/** What else to do, such as what to check in the credential. */
	advice?: string;
	/** When it was given up, while the service worked on it, in milliseconds since 1970. */
	since?: number;
}

/** A creation that may have made a task. It must not be sent again. */
export class UnknownOutcomeError extends UserError {
	constructor(
		readonly outcome: UnknownOutcome,
		readonly code?: number,
		/** The service answered as it does about a link that it can't read. Then no task exists. */
		readonly mayBeRefusal = false,
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
		const kind = 'redirect';
		return { kind, code: httpStatus, answeredBy: 'other', certain, origin, detail: origin };
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
	return { kind: 'unreadable', answeredBy: 'other', certain: false, origin, detail: fault };
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
