import { isOverTasks, ServiceError, UnknownOutcomeError } from '../api/failure';
import { settleBy } from '../lib/timers';
import { CreationGuard } from './doubts';
import { refuseRun } from './errors';
import { uploadFiles } from './input/inputFile';
import { noteTask, noteUnknown } from './note';
import type { TaskLimit } from './overTasks';
import { joinPace } from './pace';
import type { Plan } from './plan';
import type { Run } from './run';

const STILL_UNDERWAY = {
	message: 'The service took so long to create the task that the MCP client would have given up',
	advice: "Do not create it again. Its ID will be in n8n's log.",
};

const buildLateError = () =>
	refuseRun(
		'There was no time left to create the task, because MCP clients give up after a minute',
		'The client may call again.',
	);

const explain = ({ request }: Plan, error: Error): Error =>
	request.isUndescribed && error instanceof ServiceError
		? error.ofUnknownModel(request.model)
		: error;

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
	private readonly inTurn: ReturnType<typeof joinPace>;
	private readonly guard: CreationGuard;
	/** The items whose creations are under way. */
	private readonly underway = new Set<number>();

	constructor(
		private readonly run: Run,
		account: string,
		private readonly limits: Limits,
	) {
		this.inTurn = joinPace(account, limits.requests, limits.signal);
		const doubts = (run.ledger.doubts ??= {});
		this.guard = new CreationGuard((doubts[account] ??= { inARow: 0, perhapsRefused: 0 }));
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
		this.guard.reason ??= buildLateError();
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
			if (isOverTasks(error)) this.guard.noteNoTime(error);
			return { error: explain(plan, error as Error) };
		}
	}

	private async uploadAndSend({ item, request }: Plan): Promise<string> {
		this.throwIfStopped();
		const { service, settings } = item;
		const { model, callBackUrl } = request;
		const body = { model, callBackUrl, input: await uploadFiles(item, request.input) };
		const send = async () => {
			this.throwIfStopped();
			if (Date.now() >= this.run.call.answerBy) throw buildLateError();
			return await this.sendNow(item.index, async () => await service.createTask(body, settings));
		};
		return await this.limits.taskLimit.send(async () => await this.inTurn(send));
	}

	private throwIfStopped(): void {
		if (this.guard.reason) throw this.guard.reason;
	}

	private async sendNow(index: number, createTask: () => Promise<string>): Promise<string> {
		this.underway.add(index);
		const [outcome] = await Promise.allSettled([createTask()]);
		this.underway.delete(index);
		if (outcome.status === 'rejected') {
			this.guard.noteFailed(outcome.reason as Error);
			throw outcome.reason;
		}
		this.guard.noteCreated();
		return outcome.value;
	}
}
