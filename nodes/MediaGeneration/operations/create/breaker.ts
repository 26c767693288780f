import { UserError } from 'n8n-workflow';
import { ServiceError, UnknownOutcomeError } from '../../api/errors';
import { ERROR_HELP } from '../../api/errorHelp';

/** Codes of refusals that every further creation with the same access token would get too. */
const FINAL_CODES = [401, 402, 433, 455] as const;

/** Some services use the code for too many requests when credits are missing. The message is then that of 402. */
const FINAL_MESSAGES = FINAL_CODES.map((code) => ERROR_HELP[code].message);

/** The number of unknown outcomes in a row after which nothing more is sent. */
const UNKNOWN_LIMIT = 3;

/** Stops creating with an access token when further creations of the run would fail too, or might be paid without a result. */
export class Breaker {
	private readonly reasons = new Map<string, UserError>();
	private readonly unknowns = new Map<string, number>();

	/** @throws {UserError} when nothing more is sent with this account; the error says why, and what to do */
	check(account: string): void {
		const reason = this.reasons.get(account);
		if (reason) throw reason;
	}

	/** Creates a task, unless creating has stopped for this account. @throws {UserError} as `check`, and what `create` throws */
	async run(account: string, create: () => Promise<string>): Promise<string> {
		this.check(account);
		const taskId = await create().catch((error: unknown) => {
			this.note(account, error);
			throw error;
		});
		this.unknowns.delete(account);
		return taskId;
	}

	private note(account: string, error: unknown): void {
		if (error instanceof UnknownOutcomeError) {
			const count = (this.unknowns.get(account) ?? 0) + 1;
			this.unknowns.set(account, count);
			if (count >= UNKNOWN_LIMIT)
				this.end(
					account,
					`for ${count} items in a row it is unknown whether a task was created (${error.message})`,
					"Look at your account's recent tasks with the service. Once the service works again, run the node for the items that were not sent.",
				);
			return;
		}
		this.unknowns.delete(account);
		if (
			error instanceof ServiceError &&
			FINAL_MESSAGES.some((one) => error.message.startsWith(one))
		)
			this.end(
				account,
				`the service refused an earlier one for a reason that applies to all (${error.message})`,
				error.description,
			);
	}

	private end(account: string, reason: string, description?: string | null): void {
		if (this.reasons.has(account)) return;
		this.reasons.set(
			account,
			new UserError(`This item was not sent: ${reason}`, { description: description ?? undefined }),
		);
	}
}
