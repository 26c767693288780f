import { UserError } from 'n8n-workflow';
import { isOverTasks, isRateLimited, ServiceError, UnknownOutcomeError } from '../api/failure';
import { CREATION_RATE } from '../api/service';
import { RateLimiters, type RateLimiter } from '../lib/rateLimiter';
import { settleBy } from '../lib/timers';
import { RefusedRunError } from './errors';
import { uploadFiles } from './inputFile';
import type { Doubts } from './ledger';
import { noteTask, noteUnknown } from './note';
import type { Run } from './open';
import type { TaskLimit } from './overTasks';
import type { Plan } from './plan';

const limiters = new RateLimiters({
	period: CREATION_RATE.period,
	patience: 60_000,
	isTooFast: (error) => isRateLimited(error) && !isOverTasks(error),
});

/** The number of unknown outcomes in a row after which nothing more is sent. */
const UNKNOWN_LIMIT = 3;

/** The same of those that may be refusals, without a task between them. */
const REFUSAL_LIMIT = 10;

const STILL_UNDERWAY = {
	message: 'The service took so long to create the task that the MCP client would have given up',
	advice: "Do not create it again. Its ID will be in n8n's log.",
};

const buildLateError = (): RefusedRunError =>
	new RefusedRunError(
		'There was no time left to create the task, because MCP clients give up after a minute',
		{ description: 'The client may call again.' },
	);

/** How a run sends the creations of an account. */
interface Limits {
	/** The most creations within ten seconds; 0: any number. */
	requests: number;
	taskLimit: TaskLimit;
	/** When aborted, creations that wait are rejected. */
	signal?: AbortSignal;
}

/**
 * Sends the creations of one account in a run, each when its turn comes, and once. Once further
 * creations would fail too, or might be paid without a result, nothing more is sent.
 */
export class CreationSender {
	private readonly inTurn: ReturnType<RateLimiter['join']>;
	private readonly doubts: Doubts;
	/** The items whose creations are under way. */
	private readonly underway = new Set<number>();
	/** Why nothing more is sent, and what to do. */
	private reason?: UserError;

	constructor(
		private readonly run: Run,
		account: string,
		private readonly limits: Limits,
	) {
		this.inTurn = limiters.of(account).join(limits.requests || Infinity, limits.signal);
		const doubts = (run.ledger.doubts ??= {});
		this.doubts = doubts[account] ??= { inARow: 0, perhapsRefused: 0 };
		this.stopInDoubt();
	}

	/**
	 * Uploads the files of an item, and creates its task. If the answer must be there before that is
	 * done, nothing is sent any more, but what is under way may make a task: it is finished, and its
	 * ID is logged.
	 * @returns why no task was created; undefined if one was
	 */
	async create(plan: Plan): Promise<Error | undefined> {
		const created = await settleBy(this.run.call.answerBy, this.createAndNote(plan));
		if (created) return created.error;
		// The clock may go back.
		this.reason ??= buildLateError();
		if (!this.underway.has(plan.item.index)) return buildLateError();
		noteUnknown(this.run, plan, STILL_UNDERWAY);
		return new UnknownOutcomeError(STILL_UNDERWAY);
	}

	/** Notes the outcome before anything else. */
	private async createAndNote(plan: Plan): Promise<{ error?: Error }> {
		try {
			noteTask(this.run, plan, await this.uploadAndSend(plan));
			return {};
		} catch (error) {
			if (error instanceof UnknownOutcomeError) noteUnknown(this.run, plan, error.outcome);
			if (isOverTasks(error))
				this.stop(`no time is left to wait for other tasks (${error.message})`, error.description);
			return { error: error as Error };
		}
	}

	private async uploadAndSend({ item, request }: Plan): Promise<string> {
		if (this.reason) throw this.reason;
		const { service, settings } = item;
		const { model, callBackUrl } = request;
		const body = { model, callBackUrl, input: await uploadFiles(item, request.input) };
		const send = async () => {
			if (this.reason) throw this.reason;
			if (Date.now() >= this.run.call.answerBy) throw buildLateError();
			return await this.sendNow(item.index, async () => await service.createTask(body, settings));
		};
		return await this.limits.taskLimit.send(async () => await this.inTurn(send));
	}

	private async sendNow(index: number, createTask: () => Promise<string>): Promise<string> {
		this.underway.add(index);
		const [outcome] = await Promise.allSettled([createTask()]);
		this.underway.delete(index);
		if (outcome.status === 'rejected') {
			this.note(outcome.reason as UserError);
			throw outcome.reason;
		}
		Object.assign(this.doubts, { inARow: 0, perhapsRefused: 0 });
		return outcome.value;
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
