import { UserError } from 'n8n-workflow';
import {
	didNothing,
	FAILURES,
	findKind,
	SUCCESS_CODE,
	type FailureKind,
	type Meaning,
} from './service';
import type { Task } from './task';

/** Why it's unknown whether a creation made a task. */
export interface UnknownOutcome {
	message: string;
	/** The task's ID, if the answer had one. */
	taskId?: string;
	/** What else to do, such as what to check in the credential. */
	remedy?: string;
}

/** What is known of an error. Facts hold no secrets. */
interface Facts extends Partial<Meaning> {
	/** The envelope's `code`, otherwise the HTTP status; absent without a readable answer. */
	code?: number;
	/** `service`: with an envelope; `other`: a web page, for example; absent: nobody answered. */
	answeredBy?: 'service' | 'other';
	/** The service certainly did nothing. */
	didNothing?: boolean;
	/** The service's own words, or the fault of the answer. May be empty. */
	detail?: string;
	/** Present if the error is of a creation that may have made a task. */
	unknown?: UnknownOutcome;
	/** The task that failed, or has not ended in time. */
	task?: Task;
}

/**
 * What went wrong with the service. `description` is the remedy. After an error of the kind `unknown`, a
 * task may exist, so the creation must not be sent again. After `perhapsRejected` there is probably no
 * task, because services answer like this when they can't read a link. But that isn't certain, so such
 * a creation must not be sent again either.
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

	/** Makes the same error with another remedy. */
	withRemedy(remedy: string): ServiceError {
		return new ServiceError(this.kind, this.message, remedy, this.facts);
	}
}

/** Begins the description where a creation certainly made no task. */
export const NOTHING_CREATED = 'No task was created.';

/** What to do about a model that the service doesn't know. */
export const CHECK_NAME = 'Check its name, or choose it from the list';

/** Makes the error of a failed request. @param origin of its URL */
export function buildError(kind: FailureKind, origin: string, facts: Facts): ServiceError {
	const meaning = FAILURES[kind];
	const { code, detail = '', remedy = meaning.remedy } = facts;
	const details =
		code === undefined ? ` ${origin} ${detail}` : ` (${code}${detail && `: ${detail}`})`;
	// Of an unknown task, the service says that there is no record, a word that users don't know.
	const message = meaning.what + (kind === 'unknownTask' ? '' : details);
	return new ServiceError(kind, message, remedy, { ...meaning, ...facts });
}

/** Makes the error of a creation that may have made a task. */
export function buildUnknownError(
	unknown: UnknownOutcome,
	kind: 'unknown' | 'perhapsRejected' = 'unknown',
): ServiceError {
	const { message, taskId, remedy: ownRemedy = '' } = unknown;
	const where = taskId
		? `the service named it ${taskId}. Look at it with Get`
		: 'look at the recent tasks of your account with the service';
	const remedy = `The task may exist and may have been paid for: ${where} before you create it again. ${ownRemedy}`;
	return new ServiceError(kind, message, remedy.trimEnd(), { unknown });
}

/** Whether a request came too soon. Such a request did nothing, so it can be sent again. */
export const isTooFast = (error: unknown): boolean => isOfKind(error, 'rate', 'tasksAtOnce');

export const isOfKind = (
	error: unknown,
	...kinds: Array<ServiceError['kind']>
): error is ServiceError => error instanceof ServiceError && kinds.includes(error.kind);

/** What is known of an error of any class. */
export const factsOf = (error: unknown): Facts =>
	error instanceof ServiceError ? error.facts : {};

/**
 * Finds out why an answer isn't a success; undefined for a success.
 * @param envelopeCode absent if the answer has no envelope
 * @param words the service's own text
 * @param fault why the answer has no envelope, as the end of a sentence about the answer
 */
export function findFailure(
	origin: string,
	httpStatus: number,
	envelopeCode: number | undefined,
	words: string,
	fault: string,
): ServiceError | undefined {
	const isRedirect = httpStatus >= 300 && httpStatus < 400;
	// A redirect isn't from the service itself, whatever its body says.
	const saysFailure = !isRedirect && envelopeCode !== undefined && envelopeCode !== SUCCESS_CODE;
	if (saysFailure || httpStatus >= 300) {
		const code = saysFailure ? envelopeCode : httpStatus;
		const kind = isRedirect ? 'redirect' : findKind(httpStatus, code, words);
		const answeredBy = saysFailure ? 'service' : 'other';
		return buildError(kind, origin, {
			code,
			answeredBy,
			detail: words,
			didNothing: didNothing(kind, httpStatus, code),
		});
	}
	if (envelopeCode !== undefined) return undefined;
	return buildError('unreadable', origin, { answeredBy: 'other', detail: fault });
}

/**
 * Errors before anything was sent, by system call and code. A lost route counts only while connecting,
 * because a route can also be lost later.
 */
const NEVER_SENT =
	/ (ECONNREFUSED|ENOTFOUND|EAI_AGAIN|(CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)_\w+)$|^connect E(HOST|NET)UNREACH$/;

/** Errors of n8n's SSRF protection. */
const SSRF_ERROR = /^SsrfBlocked(Ip|Hostname)Error$/;

export const SLOW_REMEDY = "If it is just slow, raise 'Request Timeout (Seconds)' in Options.";

const TIMEOUT = / (ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/;

/**
 * Finds out why a request got no answer. `detail` ends a sentence about the origin; `remedy` is there if
 * this reason has a remedy of its own.
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
			didNothing: true,
			detail: "can't be reached: this n8n's SSRF protection blocks that address",
			remedy:
				'Nothing was sent. Ask the administrator of this n8n to add that address to N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.',
		};
	const codes = layers.flatMap(({ code, httpCode }) => [code, httpCode]);
	const code = codes.find((one) => typeof one === 'string');
	const systemError = `${String(layers.find(({ syscall }) => syscall)?.syscall)} ${code}`;
	if (NEVER_SENT.test(systemError))
		return { didNothing: true, detail: `can't be reached (${code})` };
	if (!TIMEOUT.test(systemError)) return { detail: 'broke off the connection before it answered' };
	return { detail: `gave no answer within ${timeoutSeconds} s`, remedy: SLOW_REMEDY };
}
