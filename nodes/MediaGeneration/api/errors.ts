import { UserError } from 'n8n-workflow';
import { CHECK_PATHS, explainRefusal } from './errorHelp';
import { describeNetworkFailure } from './networkFailure';
import { envelope } from './schemas';

/** Why a request did not return what was asked for. */
export interface Failure {
	message: string;
	/** The next step for the user. */
	hint: string;
	/** The body's `code`, or else the HTTP status; absent where no readable answer came. */
	code?: number;
	/** The service, in its envelope, or something else, such as a page; absent: nobody. */
	answeredBy?: 'service' | 'other';
	/** The service certainly did nothing. */
	isRejected: boolean;
	/** It came too fast, and may be sent again later. */
	isRateLimited?: boolean;
}

/** A request that failed. `description` says what to do next. */
export class ServiceError extends UserError {
	readonly code: Failure['code'];
	readonly answeredBy: Failure['answeredBy'];
	readonly isRateLimited: boolean;

	constructor(failure: Omit<Failure, 'isRejected'>) {
		super(failure.message, { description: failure.hint });
		this.code = failure.code;
		this.answeredBy = failure.answeredBy;
		this.isRateLimited = failure.isRateLimited ?? false;
	}
}

export const isRateLimited = (error: unknown): boolean =>
	error instanceof ServiceError && error.isRateLimited;

/** Why it's unknown whether a creation made a task. */
export interface UnknownOutcome {
	message: string;
	/** The ID, if the refusal named one. */
	taskId?: string;
	/** What to check in the credential, if something other than the service answered. */
	advice?: string;
}

/** A creation that may have made a task. Only with an idempotency key may it be sent again. */
export class UnknownOutcomeError extends ServiceError {
	constructor(
		readonly outcome: UnknownOutcome,
		code?: number,
	) {
		const { message, taskId, advice } = outcome;
		const where = taskId
			? `the service named it ${taskId}. Look at it with Get`
			: 'look at the recent tasks of your account with the service';
		const warning = `The task may exist and may have been paid for: ${where} before you create it again.`;
		super({ message, hint: [warning, advice].filter(Boolean).join(' '), code });
	}
}

export const isSuccess = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

/** Redirects of an address that did nothing. 303 may mean that a task was created. */
const PLAIN_REDIRECTS = [301, 302, 307, 308];

/**
 * Finds out why an answer is not a success; undefined if it is one.
 * @param fault why it can't be read if it has no envelope, after "it is"
 */
export function findFailure(
	statusCode: number,
	body: unknown,
	fault: string,
	origin: string,
): Failure | undefined {
	if (statusCode >= 300 && statusCode < 400)
		return {
			message: `The service at ${origin} sent the request on to another address, which is not followed so that the access token stays with the configured service`,
			hint: "Put the address that the service really has into 'Base URL' of the credential.",
			code: statusCode,
			answeredBy: 'other',
			isRejected: PLAIN_REDIRECTS.includes(statusCode),
		};
	const parsed = envelope.safeParse(body);
	if (!parsed.success && isSuccess(statusCode))
		return {
			message: `The answer from ${origin} is not from the task service: it is ${fault}`,
			hint: CHECK_PATHS,
			answeredBy: 'other',
			isRejected: false,
		};
	const { code: bodyCode = 200, message = '', msg = message } = parsed.data ?? {};
	if (bodyCode === 200 && isSuccess(statusCode)) return undefined;
	const code = bodyCode === 200 ? statusCode : bodyCode;
	const refusal = explainRefusal(statusCode, code, msg);
	return {
		...refusal,
		message: `${refusal.message} (${code}${msg && `: ${msg}`})`,
		code,
		answeredBy: bodyCode === 200 ? 'other' : 'service',
	};
}

/** Says why a request got no answer. */
export function describeNoAnswer(origin: string, error: unknown, timeoutSeconds: number): Failure {
	const { reason, hint, isTimeout, mayHaveArrived } = describeNetworkFailure(error, timeoutSeconds);
	const next = isTimeout
		? "If the service is just slow, raise 'Timeout' in Options."
		: "Check 'Base URL' in the credential, and that this n8n can reach the service.";
	return {
		message: `The service at ${origin} ${reason}`,
		hint: hint ?? next,
		isRejected: !mayHaveArrived,
	};
}
