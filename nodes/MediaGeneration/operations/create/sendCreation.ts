import { sleep, UserError } from 'n8n-workflow';
import { identifyAccount } from '../../api/endpoints';
import { ERROR_HELP } from '../../api/errorHelp';
import { isRateLimited, ServiceError, UnknownOutcomeError } from '../../api/errors';
import { RateLimiter } from '../../lib/rateLimiter';
import type { Item, KeyedCreation } from '../operation';

/** Services of this kind usually count creations over ten seconds. */
const CREATION_LIMITS = { period: 10_000, patience: 60_000, isTooFast: isRateLimited };

/**
 * Sends the creations of a run, each when its turn comes, and once. With an idempotency key, one whose answer got lost is sent again.
 * Once further requests with an account would fail too, nothing more is sent with it.
 */
export class CreationSender {
	private readonly limiter: RateLimiter;
	private readonly breaker = new Breaker();

	/**
	 * @param requests the most creations within ten seconds; 0: any number
	 * @param signal sends nothing any more when it is aborted
	 */
	constructor(
		requests: number,
		private readonly signal?: AbortSignal,
	) {
		this.limiter = new RateLimiter({ ...CREATION_LIMITS, requests }, signal);
	}

	/** @throws {UserError} when nothing more is sent with the item's account */
	check({ service }: Item): void {
		this.breaker.check(identifyAccount(service.credentials));
	}

	/**
	 * @param earlier the outcome of an earlier try
	 * @returns the task's ID
	 */
	async send(
		{ service, settings }: Item,
		{ body, idempotencyKey }: Pick<KeyedCreation, 'body'> & Partial<KeyedCreation>,
		earlier?: UnknownOutcomeError,
	): Promise<string> {
		const ask = async () => await service.createTask(body, settings, idempotencyKey);
		const sendUntilKnown = idempotencyKey
			? async () => await askUntilKnown(ask, { signal: this.signal, earlier })
			: ask;
		return await this.limiter.run(
			async () => await this.breaker.run(identifyAccount(service.credentials), sendUntilKnown),
		);
	}
}

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

/** The pauses before a creation is sent again, in milliseconds. */
const PAUSES = [1_000, 2_000, 4_000];

interface Circumstances {
	/** Ends the tries when it is aborted. */
	signal?: AbortSignal;
	/** The outcome of an earlier try. */
	earlier?: UnknownOutcomeError;
}

/**
 * Sends a creation with an idempotency key, and up to three times again if its answer gets lost.
 * @param ask sends the same body with the same key each time
 * @throws {UnknownOutcomeError} when every answer got lost, and for any refusal after a lost one, because the task may exist
 *   already
 * @throws the first error of `ask`, when the service certainly created nothing
 */
async function askUntilKnown(
	ask: () => Promise<string>,
	{ signal, earlier }: Circumstances = {},
): Promise<string> {
	let unknown = earlier;
	for (const pause of [...PAUSES, undefined]) {
		const answer = await ask().then(
			(taskId) => ({ taskId }),
			(error: unknown) => ({ error }),
		);
		if ('taskId' in answer) return answer.taskId;
		const { error } = answer;
		if (error instanceof UnknownOutcomeError && !unknown?.outcome.taskId) unknown = error;
		if (!unknown) throw error;
		if (pause !== undefined) await sleep(pause, signal).catch(() => undefined);
		if (signal?.aborted) break;
	}
	throw unknown as UnknownOutcomeError;
}
