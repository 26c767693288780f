import type { IExecuteFunctions, IWebhookFunctions, Logger } from 'n8n-workflow';
import type { Task } from '../../api/task';
import type { Refused } from '../../callback/refusals';
import { NUDGE } from '../../callback/verify';
import { isEndedAnswer, readResumeUrl } from '../../host/resumeUrl';
import { type HeldResponse, isUnderway, wasDelivered } from '../../host/webhookRequest';
import { isObject } from '../../lib/json';
import { Memory, weigh } from '../../lib/memory';
import { post } from '../../lib/post';
import { runAfter, spread } from '../../lib/timers';
import { type Ledger, listAwaitedIds, type Sleep, type WaitSettings } from '../ledger/ledger';
import { type GetService, Looks } from '../looks';
import { NUDGE_TIMEOUT, PAUSE_BEFORE_LOOK_ASLEEP, planNudges } from '../timetable';

type Context = IExecuteFunctions | IWebhookFunctions;

/** Where a sleep stands: `waiting` → `delivering` → `waiting` or `over`. */
type NapPhase =
	/** The tasks have not ended. A webhook may hand the run to n8n. */
	| 'waiting'
	/** A webhook has handed the run to n8n, which has not answered that webhook's sender yet. */
	| 'delivering'
	/** n8n has woken the run, the execution has gone on without it, or the node sleeps anew. */
	| 'over';

/** What a process remembers of a sleep, and no more: executions that sleep should take little memory. */
interface NapFacts extends Omit<Sleep, 'errors'> {
	/** The resume URL, with n8n's token. */
	url: string;
	/** The tasks that the run waits for. */
	taskIds: string[];
	logger: Pick<Logger, 'info' | 'warn'>;
	/** Names the node and its execution, in n8n's log. */
	name: string;
}

/**
 * What this process knows of a sleep, beside what n8n has stored: the ends that its webhooks have
 * seen, and whether a webhook has handed the run to n8n. A process that knows nothing of the sleep asks
 * the service again, and n8n lets only one process wake an execution. Nudges make up for lost callbacks.
 */
export class Nap {
	/** While delivering: the response of the webhook that handed the run to n8n. */
	private delivery?: HeldResponse;
	private isOver = false;
	private isNudging = false;
	private hasWarned = false;

	constructor(readonly facts: NapFacts) {}

	getPhase(): NapPhase {
		// Once n8n has answered the webhook's sender, it has taken the run, or has not.
		if (this.delivery && !isUnderway(this.delivery)) {
			this.isOver ||= wasDelivered(this.delivery);
			this.delivery = undefined;
		}
		if (this.isOver) return 'over';
		return this.delivery ? 'delivering' : 'waiting';
	}

	/** Opens the looks of a webhook. The service isn't asked again for ends that this process has seen. */
	openLooks({ entries, settings }: Ledger): Looks {
		const looks = new Looks(entries, settings as WaitSettings);
		for (const taskId of this.facts.taskIds) {
			const end = ends.get(this.nameTask(taskId));
			if (end) looks.noteAnswer(taskId, end);
		}
		return looks;
	}

	/** Remembers the ends that a look has found, unless the run was handed to n8n meanwhile. */
	noteEnds({ entries }: Ledger): void {
		if (this.getPhase() !== 'waiting') return;
		for (const { taskId, end } of entries.flatMap(({ attempts }) => attempts)) {
			const key = this.nameTask(taskId);
			if (end && !ends.get(key)) ends.set(key, end, weigh(end));
		}
	}

	/** @returns false if another webhook has handed the run to n8n, or the sleep is over */
	beginDelivery(response: HeldResponse): boolean {
		if (this.getPhase() !== 'waiting') return false;
		this.delivery = response;
		this.forgetEnds();
		return true;
	}

	/** The node sleeps anew, or its execution has gone on. */
	end(): void {
		this.isOver = true;
		this.delivery = undefined;
		this.forgetEnds();
	}

	/** Begins to nudge. Only a process that has run the node, or has taken a callback, calls this. */
	keepNudging(): void {
		const { limitAt, lastWakeAt } = this.facts;
		if (!this.isNudging) this.nudgeNext(planNudges(limitAt, lastWakeAt));
		this.isNudging = true;
	}

	private nudgeNext(moments: Generator<number, void>): void {
		const { value: at } = moments.next();
		if (at === undefined || this.getPhase() === 'over') return;
		runAfter(at - Date.now(), () => {
			void this.nudge().then(() => this.nudgeNext(moments));
		});
	}

	/**
	 * Looks soon after the run fell asleep, and nudges if all tasks have ended. No callback may come for
	 * them: a task may have ended before n8n had stored the sleep, or the service may have answered an
	 * equal request with a task of an earlier execution, which the service calls back.
	 */
	lookSoon(ledger: Ledger, getService: GetService): void {
		runAfter(spread(PAUSE_BEFORE_LOOK_ASLEEP), () => void this.look(ledger, getService));
	}

	private async look(ledger: Ledger, getService: GetService): Promise<void> {
		if (this.getPhase() !== 'waiting') return;
		// A copy, because results in the run's own ledger would take memory while the execution sleeps.
		const copy = structuredClone(ledger);
		const looks = this.openLooks(copy);
		const [first = ''] = looks.pendingKeys;
		await looks.lookUntilPending(first, getService);
		this.noteEnds(copy);
		this.warnOf('look', looks.firstLookFailure?.message);
		if (looks.haveEnded) await this.nudge();
	}

	/** Has n8n call the node's webhook, which wakes the execution if all tasks have ended. */
	async nudge(): Promise<void> {
		if (this.getPhase() !== 'waiting') return;
		const { url, taskIds, limitAt, logger, name } = this.facts;
		const isEarly = Date.now() < limitAt;
		const taskId = taskIds.find((id) => !ends.get(this.nameTask(id))) ?? taskIds[0] ?? '';
		const { failure, isWoken, isSleepOver } = await sendNudge(url, taskId);
		// A nudge may give up while n8n still waits for a slot to run the execution.
		if (this.getPhase() !== 'delivering') this.warnOf('nudge', failure);
		if (isWoken && isEarly)
			logger.info(`${name}: a nudge found the end of the tasks, no callback came`);
		if (isSleepOver) this.end();
	}

	/** Warns in n8n's log of a look or nudge that failed, once: a service may be down for long. */
	warnOf(what: 'look' | 'nudge', failure: string | undefined): void {
		if (failure === undefined || this.hasWarned) return;
		this.facts.logger.warn(`${this.facts.name}: a ${what} failed: ${failure}`);
		this.hasWarned = true;
	}

	/** Frees memory: thousands of executions may have slept. */
	private forgetEnds(): void {
		for (const taskId of this.facts.taskIds) ends.delete(this.nameTask(taskId));
	}

	private nameTask(taskId: string): string {
		return `${this.facts.name} ${this.facts.number} ${taskId}`;
	}
}

/** The ends that this process has seen, by sleep and task. The service is asked again for any other. */
const ends = new Memory<Task>('ends');

/** The sleeps that this process knows, by execution and node. */
const naps = new Memory<Nap>('naps', (nap) => nap.getPhase() === 'delivering');

const nameNode = (context: Context): string =>
	`"${context.getNode().name}" (execution ${context.getExecutionId()})`;

/** Numbers a new sleep, above each that this process knows: two calls of a run may fall asleep. */
export const numberSleep = (context: Context, { lastSleepNumber }: Ledger): number =>
	Math.max(lastSleepNumber, naps.get(nameNode(context))?.facts.number ?? 0) + 1;

/**
 * Opens what this process knows of the sleep that n8n has stored. Any other nap of the node ends.
 * @returns undefined if this process knows that the sleep is over: n8n may let a webhook through
 *   before it has stored the end of the sleep
 */
export function openNap(context: Context, ledger: Ledger): Nap | undefined {
	const { number, limitAt, lastWakeAt } = ledger.sleep as Sleep;
	const name = nameNode(context);
	const known = naps.get(name);
	if (known && known.facts.number > number) return undefined;
	// Two processes may give the same number to two sleeps. The sleep that n8n has stored counts.
	if (known?.facts.number === number && known.facts.limitAt === limitAt)
		return known.getPhase() === 'over' ? undefined : known;
	known?.end();
	const nap = new Nap({
		number,
		limitAt,
		lastWakeAt,
		name,
		url: readResumeUrl(context),
		taskIds: listAwaitedIds(ledger.entries),
		logger: context.logger,
	});
	naps.set(name, nap);
	return nap;
}

/** Reasons after which our webhook no longer wakes the execution for this task. */
const FINAL_REASONS: Array<Refused['reason']> = ['taskNotInExecution', 'limitPassed'];

/**
 * Sends a nudge to a resume URL, which has n8n's token. Nothing is thrown.
 * @returns why n8n could not be asked to wake the execution; or whether the execution continues, and
 *   whether the sleep for this task is over
 */
export async function sendNudge(url: string, taskId: string) {
	const { httpStatus, body, silence } = await post(url, {
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ data: { task_id: taskId, callbackType: NUDGE } }),
		timeout: NUDGE_TIMEOUT,
	});
	if (!isObject(body)) {
		const failure = silence ?? `answered ${httpStatus} without n8n's JSON`;
		return { failure: `the resume URL at ${new URL(url).host} ${failure}` };
	}
	const isWoken = body.resumed === true;
	// The body is foreign: its reason may be anything.
	const isRefusedForGood = FINAL_REASONS.includes(body.reason as Refused['reason']);
	return { isWoken, isSleepOver: isWoken || isRefusedForGood || isEndedAnswer(body) };
}
