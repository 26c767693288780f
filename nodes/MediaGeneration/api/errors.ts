import { UserError } from 'n8n-workflow';

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
	isRejected?: boolean;
	/** It came too fast, and may be sent again later. */
	isRateLimited?: boolean;
}

/** A request that failed. `description` says what to do next. */
export class ServiceError extends UserError {
	readonly code: Failure['code'];
	readonly answeredBy: Failure['answeredBy'];
	readonly isRateLimited: boolean;

	constructor({ message, hint, code, answeredBy, isRateLimited = false }: Failure) {
		super(message, { description: hint });
		this.code = code;
		this.answeredBy = answeredBy;
		this.isRateLimited = isRateLimited;
	}
}

/** The service answered with another task than was asked for, so nothing it says counts. */
export class OtherTaskError extends ServiceError {}

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
