import { UserError } from 'n8n-workflow';
import { factsOf, isOfKind, type ServiceError } from '../api/failure';
import { findNext } from './errors';

/** Counts an account's creations of unknown outcome in an execution. Too many stop its further ones. */
export interface Doubts {
	/** How many in a row, without those that may be refusals. */
	inARow: number;
	/** How many that may be refusals, since the last task. */
	perhapsRefused: number;
	/** What the last one said. */
	message?: string;
}

/** The number of unknown outcomes in a row after which nothing more is sent. */
const UNKNOWN_LIMIT = 3;

/** The same of those that may be refusals, without a task between them. */
const REFUSAL_LIMIT = 10;

/**
 * Decides whether further creations of an account make sense: they don't once they would fail too, or
 * might be paid without a result. Earlier tries and runs of the execution count too.
 */
export class CreationGuard {
	/** Why nothing more is sent, and what to do. */
	reason?: UserError;

	/** @param doubts what the ledger has of the account */
	constructor(private readonly doubts: Doubts) {
		this.stopInDoubt();
	}

	noteCreated(): void {
		Object.assign(this.doubts, { inARow: 0, perhapsRefused: 0 });
	}

	/** Notes a creation that failed. */
	noteFailed(error: Error): void {
		const { doubts } = this;
		const { message } = error;
		if (isOfKind(error, 'unknown', 'perhapsRefused')) {
			doubts[error.kind === 'unknown' ? 'inARow' : 'perhapsRefused']++;
			doubts.message = message;
			this.stopInDoubt();
		} else doubts.inARow = 0;
		if (factsOf(error).endsRun)
			this.stop(
				`the service refused an earlier one for a reason that applies to all (${message})`,
				findNext(error),
			);
	}

	/** Notes that the service took no more tasks at once until the time for that was over. */
	noteNoTime(error: ServiceError): void {
		this.stop(`no time is left to wait for other tasks (${error.message})`, error.description);
	}

	private stopInDoubt(): void {
		const { inARow, perhapsRefused, message } = this.doubts;
		const again =
			"Look at your account's recent tasks with the service. Once the service works again, retry the execution from the list, or run the node for the items that were not sent.";
		if (inARow >= UNKNOWN_LIMIT)
			this.stop(
				`for ${UNKNOWN_LIMIT} items in a row it is unknown whether a task was created (${message})`,
				again,
			);
		if (perhapsRefused >= REFUSAL_LIMIT)
			this.stop(`for ${REFUSAL_LIMIT} items the service failed at once (${message})`, again);
	}

	private stop(why: string, description?: string): void {
		this.reason ??= new UserError(`This item was not sent: ${why}`, { description });
	}
}
