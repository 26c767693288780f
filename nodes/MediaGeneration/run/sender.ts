import { CHECK_NAME, buildDoubt, factsOf, isOfKind } from '../api/failure';
import { settleBy } from '../lib/timers';
import { planClosing, type Closing } from './closing';
import { CreationGuard } from './doubts';
import { uploadFiles } from './input/inputFile';
import { noteTask, noteUnknown } from './note';
import type { TaskLimit } from './overTasks';
import { joinPace } from './pace';
import type { Plan } from './plan';
import type { Run } from './run';

/** A model of which the service says nothing may be misspelt. */
function explain({ request }: Plan, error: Error): Error {
	if (!request.isUndescribed || !isOfKind(error, 'input')) return error;
	const next = `The service describes no model "${request.model}". ${CHECK_NAME}. ${error.description}`;
	return error.advise(next);
}

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
	private readonly closing: Closing;
	/** The items whose creations are under way. */
	private readonly underway = new Set<number>();

	constructor(
		private readonly run: Run,
		account: string,
		private readonly limits: Limits,
	) {
		this.closing = planClosing(run.call);
		this.inTurn = joinPace(account, limits.requests, limits.signal);
		const doubts = (run.ledger.doubts ??= {});
		this.guard = new CreationGuard((doubts[account] ??= { inARow: 0, perhapsRefused: 0 }));
	}

	/**
	 * Uploads the files of an item, and creates its task. Once it is too late, nothing is sent any
	 * more. What is under way then may make a task: it is finished, and its ID is logged.
	 * @returns why no task was created; undefined if one was
	 */
	async create(plan: Plan): Promise<Error | undefined> {
		const { last, known, notSent, underway } = this.closing;
		const creating = this.createAndNote(plan);
		const created = await settleBy(last, creating);
		if (created) return created.error;
		// The clock may go back.
		this.guard.reason ??= notSent;
		if (!this.underway.has(plan.item.index)) return notSent;
		const late = known > last ? await settleBy(known, creating) : undefined;
		if (late) return late.error;
		noteUnknown(this.run, plan, { ...underway, since: Date.now() });
		return buildDoubt(underway);
	}

	/** Notes the outcome before anything else. */
	private async createAndNote(plan: Plan): Promise<{ error?: Error }> {
		try {
			noteTask(this.run, plan, await this.uploadAndSend(plan));
			return {};
		} catch (error) {
			const { outcome } = factsOf(error);
			if (outcome) noteUnknown(this.run, plan, outcome);
			if (isOfKind(error, 'tasksAtOnce')) this.guard.noteNoTime(error);
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
			return await this.sendNow(item.index, async () => await service.createTask(body, settings));
		};
		return await this.limits.taskLimit.send(async () => await this.inTurn(send));
	}

	private throwIfStopped(): void {
		if (Date.now() >= this.closing.last) this.guard.reason ??= this.closing.notSent;
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
