import type { IExecuteFunctions } from 'n8n-workflow';
import { UnknownOutcomeError, type UnknownOutcome } from '../../api/failure';
import { restoreError } from '../../run/errors';
import type { CreateRequest, Failed } from '../operation';
import { noteRunHere, takeTurn, type Turns } from '../../run/here';
import { findUnknownCall, noteUnknownCall, type Shared } from '../../run/shared';
import { toSleepingRun, type SleepingRun } from './sleepingRun';
import {
	countCreations,
	digestRequest,
	hasFailedForGood,
	noteRequest,
	type Doubts,
	type SentItem,
	type StoredRecord,
} from '../../run/ledger';
import type { Sleep, Wait } from './wait';

/** A task from an earlier try or execution. It takes the place of the item's request. */
export type RecalledTask = Omit<SentItem, 'taskId'> & { taskId: string };

/**
 * Remembers what a run of the node has sent, item by item. The same run of the same execution is
 * another try of n8n, the same run of another execution is its retry, anything else is new
 * (docs/generate.md, "What n8n repeats").
 */
export class RunRecord {
	/** The sleep that this run was woken from. */
	readonly woken?: Sleep;
	/** By item, the failed tasks that this try creates again: n8n was given them as errors before. */
	private readonly again: Map<number, string | undefined>;

	/** @param mostTries the most tasks that an item may get */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly stored: StoredRecord,
		private readonly turns: Turns,
		mostTries: number,
	) {
		const { wait } = stored;
		const isTry = !wait?.asleep;
		const isAgain = (sent: SentItem) =>
			sent.handed && hasFailedForGood(sent) && countCreations(sent) < mostTries;
		const again = Object.entries(stored.sent).filter(([, sent]) => isTry && isAgain(sent));
		this.again = new Map(again.map(([item, { taskId }]) => [Number(item), taskId]));
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
		// If the item has a task too, this is why a try could not create that one again.
		const failure = this.woken?.failures[item];
		if (failure) return { error: restoreError(failure) };
		if (known) return known as RecalledTask;
		const unknown = findUnknownCall(this.context, shared, item);
		return unknown ? { error: new UnknownOutcomeError(unknown) } : undefined;
	}

	/** Finds the task of the same request for an item in the execution that this one retries. */
	findSame(item: number, request: CreateRequest): RecalledTask | undefined {
		const before = this.stored.earlier?.[item];
		const isSame = before?.taskId !== undefined && before.request === digestRequest(request);
		if (!isSame) return undefined;
		// One that may still end is waited for again.
		const failed = hasFailedForGood(before) ? before.failed : undefined;
		// It stays the task of this item, whatever its expressions return at the next try.
		const same = { ...before, failed, handed: undefined, elsewhere: true };
		return (this.stored.sent[item] = same) as RecalledTask;
	}

	/** Says whether this try is to create the item's failed task again, and no other call has. */
	createsAgain(item: number): boolean {
		return this.again.has(item) && this.again.get(item) === this.findTaskId(item);
	}

	/**
	 * Runs what sends for an item. n8n may run an execution twice at once: the run that comes later
	 * waits, and finds what the first has sent. It may send what the service has refused to the first.
	 */
	async inTurn<T>(item: number, run: () => Promise<T>): Promise<T> {
		return await takeTurn(this.turns, item, run);
	}

	/** Notes that n8n gets a failed task as the error of its item. */
	addFailed(item: number, task: NonNullable<SentItem['failed']>): void {
		const sent = this.stored.sent[item];
		if (sent?.taskId !== task.taskId) return;
		sent.failed ??= task;
		sent.handed = true;
	}

	/** Notes that a task exists. From now on its ID can be found, whatever happens. */
	addTask(item: number, request: CreateRequest, taskId: string): void {
		const { sent, shared } = this.stored;
		const unknown = sent[item]?.unknown;
		this.add(item, request, { taskId });
		// It took so long that its outcome counted as unknown.
		if (unknown) noteUnknownCall(this.context, shared, item, { ...unknown, taskId });
		this.context.logger.info(`${this.describe(item)} created task ${taskId}`);
	}

	addUnknown(item: number, request: CreateRequest, unknown: UnknownOutcome): void {
		this.add(item, request, { unknown });
		noteUnknownCall(this.context, this.stored.shared, item, unknown);
		const task = unknown.taskId ? `task ${unknown.taskId}` : 'a task';
		this.context.logger.warn(`${this.describe(item)} may have created ${task}: ${unknown.message}`);
	}

	/** @param failed the ID of the item's failed task, in place of which another is sent */
	hasSent(item: number, failed?: string): boolean {
		const sent = this.stored.sent[item];
		return sent !== undefined && (sent.taskId === undefined || sent.taskId !== failed);
	}

	/** Lists the tasks that exist, also the failed ones that were created again. */
	listTaskIds(): string[] {
		return Object.values(this.stored.sent).flatMap(({ taskId, before = [] }) => [
			...before,
			...(taskId === undefined ? [] : [taskId]),
		]);
	}

	findTaskId(item: number): string | undefined {
		return this.stored.sent[item]?.taskId;
	}

	get shared(): Pick<Shared, 'count'> {
		return this.stored.shared;
	}

	/** What is in doubt of an account's creations, in all tries of the run. */
	openDoubts(account: string): Doubts {
		const doubts = (this.stored.doubts ??= {});
		return (doubts[account] ??= { inARow: 0, perhapsRefused: 0 });
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
		const before = this.findBefore(item);
		this.stored.sent[item] = { ...noteRequest(request), before, ...outcome };
	}

	/** Lists the failed tasks before a creation. One of unknown outcome keeps them in a retry. */
	private findBefore(item: number): string[] | undefined {
		const { sent, earlier } = this.stored;
		const failed = sent[item];
		if (failed?.taskId) return [...(failed.before ?? []), failed.taskId];
		const unknown = earlier?.[item];
		return unknown?.unknown && unknown.before;
	}

	private describe(item: number): string {
		const { id = 'none' } = this.context.getWorkflow();
		const execution = this.stored.executionId || 'none';
		return `"${this.context.getNode().name}" (workflow ${id}, execution ${execution}, item ${item})`;
	}
}
