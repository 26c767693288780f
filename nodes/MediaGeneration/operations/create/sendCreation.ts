import { UserError } from 'n8n-workflow';
import type { CreateTaskRequest } from '../../api/client';
import { isRateLimited, ServiceError, UnknownOutcomeError } from '../../api/failure';
import { CREATION_RATE } from '../../api/service';
import { RateLimiters, type RateLimiter } from '../../lib/rateLimiter';
import { pause } from '../../lib/timers';
import type { RunRecord } from '../record/runRecord';
import type { RequestWork } from '../work';
import { buildIdempotencyKey } from './idempotencyKey';
import { uploadFiles } from './inputFile';

const limiters = new RateLimiters({
	period: CREATION_RATE.period,
	patience: 60_000,
	isTooFast: isRateLimited,
});

/** The number of unknown outcomes in a row after which nothing more is sent. */
const UNKNOWN_LIMIT = 3;

/** The pauses before a creation with an idempotency key is sent again, in milliseconds. */
const PAUSES = [1_000, 2_000, 4_000];

/** What became of a creation. */
type Creation = { taskId: string } | { error: UserError };

const attempt = async (create: () => Promise<string>): Promise<Creation> =>
	await create().then(
		(taskId) => ({ taskId }),
		(error: UserError) => ({ error }),
	);

/**
 * Sends the creations of one account in a run, each when its turn comes, and once. With an
 * idempotency key, one whose answer got lost is sent again. Once further creations would fail too,
 * or might be paid without a result, nothing more is sent.
 */
export class CreationSender {
	private readonly inTurn: ReturnType<RateLimiter['join']>;
	/** Why nothing more is sent, and what to do. */
	private reason?: UserError;
	private unknownsInARow = 0;

	/** @param requests the most creations within ten seconds; 0: any number */
	constructor(
		private readonly record: RunRecord,
		account: string,
		requests: number,
		private readonly signal?: AbortSignal,
	) {
		this.inTurn = limiters.of(account).join(requests || Infinity, signal);
	}

	/** Uploads the files of an item, creates its task, and notes the outcome before anything else. */
	async create({
		index,
		item,
		request,
	}: RequestWork): Promise<{ taskId: string } | { error: unknown }> {
		const { record } = this;
		const { model, callBackUrl } = request;
		try {
			if (this.reason) throw this.reason;
			const body = { model, callBackUrl, input: await uploadFiles(item, request.input) };
			const key = buildIdempotencyKey(record, item, body);
			const taskId = await this.send(item, body, key);
			record.addTask(index, request, taskId);
			return { taskId };
		} catch (error) {
			if (error instanceof UnknownOutcomeError) record.addUnknown(index, request, error.outcome);
			return { error };
		}
	}

	private async send(
		item: RequestWork['item'],
		body: CreateTaskRequest,
		key?: string,
	): Promise<string> {
		const { service, settings } = item;
		const create = async () => await service.createTask(body, settings, key);
		return await this.inTurn(async () => {
			if (this.reason) throw this.reason;
			const outcome = await (key ? this.repeatUntilKnown(create) : attempt(create));
			this.note(outcome);
			if ('error' in outcome) throw outcome.error;
			return outcome.taskId;
		});
	}

	/**
	 * Sends the same body with the same key up to three times again if its answer gets lost. A refusal
	 * after a lost answer leaves the outcome unknown: the task may exist.
	 */
	private async repeatUntilKnown(create: () => Promise<string>): Promise<Creation> {
		let unknown: UnknownOutcomeError | undefined;
		for (const milliseconds of [...PAUSES, 0]) {
			const outcome = await attempt(create);
			if ('taskId' in outcome) return outcome;
			const { error } = outcome;
			if (error instanceof UnknownOutcomeError && !unknown?.outcome.taskId) unknown = error;
			if (!unknown) return outcome;
			await pause(milliseconds, this.signal).catch(() => undefined);
			if (this.signal?.aborted) break;
		}
		return { error: unknown as UnknownOutcomeError };
	}

	/** Notes whether further creations make sense. */
	private note(outcome: Creation): void {
		const error = 'error' in outcome ? outcome.error : undefined;
		this.unknownsInARow = error instanceof UnknownOutcomeError ? this.unknownsInARow + 1 : 0;
		if (!error) return;
		const { message, description } = error;
		if (this.unknownsInARow >= UNKNOWN_LIMIT)
			this.stop(
				`for ${UNKNOWN_LIMIT} items in a row it is unknown whether a task was created (${message})`,
				"Look at your account's recent tasks with the service. Once the service works again, run the node for the items that were not sent.",
			);
		if (error instanceof ServiceError && error.endsRun)
			this.stop(
				`the service refused an earlier one for a reason that applies to all (${message})`,
				description ?? undefined,
			);
	}

	private stop(why: string, description?: string): void {
		this.reason ??= new UserError(`This item was not sent: ${why}`, { description });
	}
}
