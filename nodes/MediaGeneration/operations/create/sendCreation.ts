import { sleep, UserError } from 'n8n-workflow';
import type { CreateTaskRequest, TaskService } from '../../api/client';
import { identifyAccount } from '../../api/endpoints';
import { ERROR_HELP } from '../../api/errorHelp';
import { isRateLimited, UnknownOutcomeError } from '../../api/errors';
import { RateLimiter } from '../../lib/rateLimiter';
import type { Item } from '../operation';

/** Services of this kind usually count creations over ten seconds. */
const CREATION_LIMITS = { period: 10_000, patience: 60_000, isTooFast: isRateLimited };

/** Refusals that every further creation with the same token would get too, by their message. */
const FINAL_MESSAGES = ([401, 402, 433, 455] as const).map((code) => ERROR_HELP[code].message);

/** The number of unknown outcomes in a row after which nothing more is sent. */
const UNKNOWN_LIMIT = 3;

/** The pauses before a creation with an idempotency key is sent again, in milliseconds. */
const PAUSES = [1_000, 2_000, 4_000];

/**
 * Sends the creations of a run, each when its turn comes, and once. With an idempotency key, one whose
 * answer got lost is sent again. Once further creations with an access token would fail too, or might
 * be paid without a result, nothing more is sent with it.
 */
export class CreationSender {
	private readonly limiter: RateLimiter;
	/** Why nothing more is sent, by account. */
	private readonly reasons = new Map<string, UserError>();
	/** The number of unknown outcomes in a row, by account. */
	private readonly unknowns = new Map<string, number>();

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

	/** @throws {UserError} when nothing more is sent with this account: why, and what to do */
	check({ credentials }: TaskService): void {
		const reason = this.reasons.get(identifyAccount(credentials));
		if (reason) throw reason;
	}

	/** @returns the task's ID */
	async send({ service, settings }: Item, body: CreateTaskRequest, key?: string): Promise<string> {
		const account = identifyAccount(service.credentials);
		const create = async () => await service.createTask(body, settings, key);
		return await this.limiter.run(async () => {
			this.check(service);
			const answer = await (key ? this.repeatUntilKnown(create) : create()).catch(
				(error: UserError) => error,
			);
			this.note(account, answer);
			if (typeof answer !== 'string') throw answer;
			return answer;
		});
	}

	/**
	 * Sends a creation up to three times again if its answer gets lost.
	 * @param create sends the same body with the same key each time
	 * @throws {UnknownOutcomeError} also for a refusal after a lost answer: the task may exist already
	 */
	private async repeatUntilKnown(create: () => Promise<string>): Promise<string> {
		let unknown: UnknownOutcomeError | undefined;
		for (const pause of [...PAUSES, 0]) {
			const answer = await create().catch((error: UserError) => error);
			if (typeof answer === 'string') return answer;
			if (answer instanceof UnknownOutcomeError && !unknown?.outcome.taskId) unknown = answer;
			if (!unknown) throw answer;
			await sleep(pause, this.signal).catch(() => undefined);
			if (this.signal?.aborted) break;
		}
		throw unknown as UnknownOutcomeError;
	}

	/** Notes whether further creations with the account make sense. */
	private note(account: string, answer: string | UserError): void {
		if (answer instanceof UnknownOutcomeError) {
			const count = (this.unknowns.get(account) ?? 0) + 1;
			this.unknowns.set(account, count);
			if (count < UNKNOWN_LIMIT) return;
			return this.stop(
				account,
				`for ${count} items in a row it is unknown whether a task was created (${answer.message})`,
				"Look at your account's recent tasks with the service. Once the service works again, run the node for the items that were not sent.",
			);
		}
		this.unknowns.delete(account);
		if (typeof answer !== 'string' && FINAL_MESSAGES.some((one) => answer.message.startsWith(one)))
			this.stop(
				account,
				`the service refused an earlier one for a reason that applies to all (${answer.message})`,
				answer.description ?? undefined,
			);
	}

	private stop(account: string, why: string, description?: string): void {
		if (!this.reasons.has(account))
			this.reasons.set(account, new UserError(`This item was not sent: ${why}`, { description }));
	}
}
