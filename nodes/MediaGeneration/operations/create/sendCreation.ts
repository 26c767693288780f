import { UserError } from 'n8n-workflow';
import type { CreateTaskRequest } from '../../api/client';
import { isOverTasks, isRateLimited, ServiceError, UnknownOutcomeError } from '../../api/failure';
import { CREATION_RATE } from '../../api/service';
import { RateLimiters, type RateLimiter } from '../../lib/rateLimiter';
import type { RunRecord } from '../record/runRecord';
import type { Doubts } from '../record/stored';
import type { RequestWork } from '../work';
import { uploadFiles } from './inputFile';
import type { TaskLimit } from './overTasks';

const limiters = new RateLimiters({
	period: CREATION_RATE.period,
	patience: 60_000,
	isTooFast: (error) => isRateLimited(error) && !isOverTasks(error),
});

/** The number of unknown outcomes in a row after which nothing more is sent. */
const UNKNOWN_LIMIT = 3;

/** The same of those that may be refusals, without a task between them. */
const REFUSAL_LIMIT = 10;

/**
 * Sends the creations of one account in a run, each when its turn comes, and once. Once further
 * creations would fail too, or might be paid without a result, nothing more is sent.
 */
export class CreationSender {
	private readonly inTurn: ReturnType<RateLimiter['join']>;
	private readonly doubts: Doubts;
	/** Why nothing more is sent, and what to do. */
	private reason?: UserError;

	/** @param requests the most creations within ten seconds; 0: any number */
	constructor(
		protected readonly record: RunRecord,
		account: string,
		requests: number,
		private readonly taskLimit: TaskLimit,
		signal?: AbortSignal,
	) {
		this.inTurn = limiters.of(account).join(requests || Infinity, signal);
		this.doubts = record.openDoubts(account);
		this.stopInDoubt();
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
			const taskId = await this.send(item, body);
			record.addTask(index, request, taskId);
			return { taskId };
		} catch (error) {
			if (error instanceof UnknownOutcomeError) record.addUnknown(index, request, error.outcome);
			if (isOverTasks(error))
				this.stop(`no time is left to wait for other tasks (${error.message})`, error.description);
			return { error };
		}
	}

	private async send(
		{ service, settings }: RequestWork['item'],
		body: CreateTaskRequest,
	): Promise<string> {
		const create = async () => {
			if (this.reason) throw this.reason;
			const taskId = await service.createTask(body, settings).catch((error: UserError) => {
				this.note(error);
				throw error;
			});
			Object.assign(this.doubts, { inARow: 0, perhapsRefused: 0 });
			return taskId;
		};
		return await this.taskLimit.send(async () => await this.inTurn(create));
	}

	/** Notes whether further creations make sense after a failed one. */
	private note(error: UserError): void {
		const { doubts } = this;
		const { message, description } = error;
		if (error instanceof UnknownOutcomeError) {
			doubts[error.mayBeRefusal ? 'perhapsRefused' : 'inARow']++;
			doubts.message = message;
			this.stopInDoubt();
		} else doubts.inARow = 0;
		if (error instanceof ServiceError && error.endsRun)
			this.stop(
				`the service refused an earlier one for a reason that applies to all (${message})`,
				description,
			);
	}

	/** Earlier tries of n8n count too. */
	private stopInDoubt(): void {
		const { inARow, perhapsRefused, message } = this.doubts;
		const again =
			"Look at your account's recent tasks with the service. Once the service works again, run the node for the items that were not sent.";
		if (inARow >= UNKNOWN_LIMIT)
			this.stop(
				`for ${UNKNOWN_LIMIT} items in a row it is unknown whether a task was created (${message})`,
				again,
			);
		if (perhapsRefused >= REFUSAL_LIMIT)
			this.stop(`for ${REFUSAL_LIMIT} items the service failed at once (${message})`, again);
	}

	private stop(why: string, description?: string | null): void {
		this.reason ??= new UserError(`This item was not sent: ${why}`, {
			description: description ?? undefined,
		});
	}
}
