import { UserError } from 'n8n-workflow';
import {
	didNothing,
	explainKind,
	findKind,
	SUCCESS,
	type FailureKind,
	type Meaning,
} from './service';
import type { Task } from './task';

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

/** What is known of an error. It holds no secrets. */
interface Facts extends Partial<Meaning> {
	/** The envelope's `code`, otherwise the HTTP status; absent without a readable answer. */
	code?: number;
	/** The service, by its envelope, or something else such as a web page; absent: nobody. */
	answeredBy?: 'service' | 'other';
	/** The service certainly did nothing. */
	certain?: boolean;
	/** The service's own words, or what is wrong with the answer. May be empty. */
	detail?: string;
	/** Of a creation that may have made a task. */
	outcome?: UnknownOutcome;
	/** The task that failed, or has not ended in time. */
	task?: Task;
}

/**
 * What went wrong with the service. `description` says what to do next. A creation of the kind
 * `unknown` may have made a task, so it must not be sent again. One of the kind `perhapsRejected` got
 * the answer of services that can't read a link, after which no task exists.
 */
export class ServiceError extends UserError {
	constructor(
		readonly kind: FailureKind | 'unknown' | 'perhapsRejected' | 'failedTask',
		message: string,
		override readonly description: string,
		readonly facts: Facts = {},
	) {
		super(message);
	}

	/** Makes the same error with something else to do next. */
	advise(next: string): ServiceError {
		return new ServiceError(this.kind, this.message, next, this.facts);
	}
}

/** Begins what to do next, where a creation certainly made no task. */
export const NOTHING_CREATED = 'No task was created.';

/** What to do about a model that the service doesn't know. */
export const CHECK_NAME = 'Check its name, or choose it from the list';

/** Makes the error of a failed request. @param origin where it went */
export function buildError(kind: FailureKind, origin: string, facts: Facts): ServiceError {
	const meaning = explainKind(kind);
	const { code, detail = '', next = meaning.next } = facts;
	const known =
		code === undefined ? ` ${origin} ${detail}` : ` (${code}${detail && `: ${detail}`})`;
	// The service's own words are about records.
	const message = meaning.what + (kind === 'unknownTask' ? '' : known);
	return new ServiceError(kind, message, next, { ...meaning, ...facts });
}

/** Makes the error of a creation that may have made a task. */
export function buildUnknownError(
	outcome: UnknownOutcome,
	kind: 'unknown' | 'perhapsRejected' = 'unknown',
): ServiceError {
	const { message, taskId, advice = '' } = outcome;
	const where = taskId
		? `the service named it ${taskId}. Look at it with Get`
		: 'look at the recent tasks of your account with the service';
	const next = `The task may exist and may have been paid for: ${where} before you create it again. ${advice}`;
	return new ServiceError(kind, message, next.trimEnd(), { outcome });
}

/** The request came too soon and did nothing, so it can be sent again. */
export const isTooFast = (error: unknown): boolean => isOfKind(error, 'rate', 'tasksAtOnce');

export const isOfKind = (
	error: unknown,
	...kinds: Array<ServiceError['kind']>
): error is ServiceError => error instanceof ServiceError && kinds.includes(error.kind);

/** What is known of an error of any class. */
export const factsOf = (error: unknown): Facts =>
	error instanceof ServiceError ? error.facts : {};

/**
 * Finds out why an answer isn't a success; undefined if it is one.
 * @param said the code of its envelope, if it has one
 * @param words the service's own
 * @param fault why it has no envelope, as a predicate
 */
export function findFailure(
	origin: string,
	httpStatus: number,
	said: number | undefined,
	words: string,
	fault: string,
): ServiceError | undefined {
	const isRedirect = httpStatus >= 300 && httpStatus < 400;
	// Whatever redirects isn't the service.
	const isSaid = !isRedirect && said !== undefined && said !== SUCCESS;
	if (isSaid || httpStatus >= 300) {
		const code = isSaid ? said : httpStatus;
		const kind = isRedirect ? 'redirect' : findKind(httpStatus, code, words);
		const answeredBy = isSaid ? 'service' : 'other';
		const certain = didNothing(kind, httpStatus, code);
		return buildError(kind, origin, { code, answeredBy, certain, detail: words });
	}
	if (said !== undefined) return undefined;
	return buildError('unreadable', origin, { answeredBy: 'other', detail: fault });
}

/** Failures before anything was sent, by system call and code. A route can also be lost later. */
const NEVER_SENT =
	/ (ECONNREFUSED|ENOTFOUND|EAI_AGAIN|(CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)_\w+)$|^connect E(HOST|NET)UNREACH$/;

/** Errors of n8n's SSRF protection. */
const SSRF_ERROR = /^SsrfBlocked(Ip|Hostname)Error$/;

export const SLOW_HINT = "If it is just slow, raise 'Request Timeout (Seconds)' in Options.";

const TIMEOUT = / (ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/;

/**
 * Finds out why a request got no answer. The detail is a predicate of the host; `next` is there if the
 * reason needs something special.
 * @param error what n8n's HTTP helper threw: n8n wraps Node's errors
 */
export function findNetworkFailure(
	error: unknown,
	timeoutSeconds: number,
): Facts & { detail: string } {
	const layers: Array<Record<string, unknown>> = [];
	for (let layer = error; layer && layers.length < 10; layer = (layer as Error).cause)
		layers.push(layer as Record<string, unknown>);
	if (layers.some(({ name }) => SSRF_ERROR.test(String(name))))
		return {
			certain: true,
			detail: "can't be reached: this n8n's SSRF protection blocks that address",
			next: 'Nothing was sent. Ask the administrator of this n8n to add that address to N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.',
		};
	const codes = layers.flatMap(({ code, httpCode }) => [code, httpCode]);
	const code = codes.find((one) => typeof one === 'string');
	const failed = `${String(layers.find(({ syscall }) => syscall)?.syscall)} ${code}`;
	if (NEVER_SENT.test(failed)) return { certain: true, detail: `can't be reached (${code})` };
	if (!TIMEOUT.test(failed))
		return { certain: false, detail: 'broke off the connection before it answered' };
	return { certain: false, detail: `gave no answer within ${timeoutSeconds} s`, next: SLOW_HINT };
}
