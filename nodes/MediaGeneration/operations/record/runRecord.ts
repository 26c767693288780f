import type { IExecuteFunctions } from 'n8n-workflow';
import { UnknownOutcomeError, type UnknownOutcome } from '../../api/failure';
import { digest } from '../../lib/json';
import { restoreError } from '../errors';
import type { CreateRequest, Failed } from '../operation';
import { noteRunHere } from './runsHere';
import { findUnknownCall, noteUnknownCall, type Shared } from './shared';
import { toSleepingRun, type SleepingRun } from './sleepingRun';
import type { SentItem, StoredRecord } from './stored';
import type { Sleep, Wait } from './wait';

/** A task from an earlier try or execution. It takes the place of the item's request. */
export type RecalledTask = Pick<SentItem, 'model' | 'warning' | 'elsewhere'> & { taskId: string };

/**
 * Remembers what a run of the node has sent, item by item. The same run of the same execution is
 * another try of n8n, the same run of another execution is its retry, anything else is new
 * (docs/generate.md, "What n8n repeats").
 */
export class RunRecord {
	/** The sleep that this run was woken from. */
	readonly woken?: Sleep;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly stored: StoredRecord,
	) {
		const { wait } = stored;
		if (!wait?.asleep?.woken) return;
		this.woken = wait.asleep;
		// n8n need not store it any longer.
		delete wait.asleep;
	}

	/** Recalls an item's task or error, before its expressions are read: they may return others. */
	recall(item: number): RecalledTask | Failed | undefined {
		const { sent, shared } = this.stored;
		const known = sent[item];
		if (known?.unknown) return { error: new UnknownOutcomeError(known.unknown) };
		if (known) return known as RecalledTask;
		const failure = this.woken?.failures[item];
		if (failure) return { error: restoreError(failure) };
		const unknown = findUnknownCall(this.context, shared, item);
		return unknown ? { error: new UnknownOutcomeError(unknown) } : undefined;
	}

	/** Finds the task of the same request for an item in the execution that this one retries. */
	findSame(item: number, request: CreateRequest): RecalledTask | undefined {
		const before = this.stored.earlier?.[item];
		const isSame = before?.taskId !== undefined && before.request === digestRequest(request);
		if (!isSame) return undefined;
		// It stays the task of this item, whatever its expressions return at the next try.
		return (this.stored.sent[item] = { ...before, elsewhere: true }) as RecalledTask;
	}

	/** Notes that a task exists. From now on its ID can be found, whatever happens. */
	addTask(item: number, request: CreateRequest, taskId: string): void {
		this.add(item, request, { taskId });
		this.context.logger.info(`${this.describe(item)} created task ${taskId}`);
	}

	addUnknown(item: number, request: CreateRequest, unknown: UnknownOutcome): void {
		this.add(item, request, { unknown });
		noteUnknownCall(this.context, this.stored.shared, item, unknown);
		const task = unknown.taskId ? `task ${unknown.taskId}` : 'a task';
		this.context.logger.warn(`${this.describe(item)} may have created ${task}: ${unknown.message}`);
	}

	hasSent(item: number): boolean {
		return this.stored.sent[item] !== undefined;
	}

	listTaskIds(): string[] {
		return Object.values(this.stored.sent).flatMap(({ taskId }) => taskId ?? []);
	}

	findTaskId(item: number): string | undefined {
		return this.stored.sent[item]?.taskId;
	}

	/** Which run of the node in its execution this is. */
	get run(): number {
		return this.stored.run;
	}

	/** The execution in an item's idempotency key. One of unknown outcome keeps it in a retry. */
	findOrigin(item: number): string {
		const before = this.stored.earlier?.[item];
		return before?.unknown ? before.origin : this.stored.executionId;
	}

	get shared(): Pick<Shared, 'count'> {
		return this.stored.shared;
	}

	/** The sleep of this run, from which no webhook has woken it. */
	get asleep(): Sleep | undefined {
		return this.stored.wait?.asleep;
	}

	/** Notes that the run sleeps. */
	sleep(sleep: Omit<Sleep, 'number'>): SleepingRun {
		const wait = this.stored.wait as Wait;
		const asleep = { number: ++this.stored.shared.sleeps, ...sleep };
		wait.asleep = asleep;
		return toSleepingRun(this.stored, wait, asleep);
	}

	/** Opens the wait of the run, or of an earlier try. */
	openWait(read: () => Wait['settings']): Wait {
		this.stored.wait ??= { settings: read() };
		noteRunHere(this.context, this.stored);
		return this.stored.wait;
	}

	/** The wait of the run, if an earlier try has opened one. */
	get wait(): Wait | undefined {
		return this.stored.wait;
	}

	private add(
		item: number,
		request: CreateRequest,
		outcome: Pick<SentItem, 'taskId' | 'unknown'>,
	): void {
		const { model, warning } = request;
		const origin = this.findOrigin(item);
		this.stored.sent[item] = {
			request: digestRequest(request),
			model,
			warning,
			origin,
			...outcome,
		};
	}

	private describe(item: number): string {
		const { id = 'none' } = this.context.getWorkflow();
		const execution = this.stored.executionId || 'none';
		return `"${this.context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item})`;
	}
}

const digestRequest = ({ model, input }: CreateRequest): string => digest([model, input]);
