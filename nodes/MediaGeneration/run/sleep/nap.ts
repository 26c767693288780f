import type { IExecuteFunctions, IWebhookFunctions, Logger } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { readResumeUrl } from '../../host/resumeUrl';
import { type HeldResponse, isUnderway, wasDelivered } from '../../host/webhook';
import { Memory, weigh } from '../../lib/memory';
import { growPauses, runAfter, spread } from '../../lib/timers';
import {
	findWaitEnd,
	type Ledger,
	listAwaitedIds,
	type Sleep,
	type WaitSettings,
} from '../ledger/ledger';
import { type GetService, Looks } from '../looks';
import { FIRST_PAUSE_AT_LIMIT, LOOK_ASLEEP, PAUSES_ASLEEP, planLastWake } from '../timetable';
import { sendNudge } from './nudge';

type Context = IExecuteFunctions | IWebhookFunctions;

/** Where a sleep stands: `waiting` → `delivering` → `waiting` or `over`. */
export type SleepState =
	/** For the end of its tasks. A webhook may hand the run to n8n. */
	| { is: 'waiting' }
	/** A webhook has handed it to n8n, which has not answered that webhook's sender yet. */
	| { is: 'delivering'; response: HeldResponse }
	/** n8n has woken the run, the execution has gone on without it, or the node sleeps anew. */
	| { is: 'over' };

/** Moves on from `delivering` once n8n has answered: it has taken the run, or has refused it. */
function settleDelivery(state: SleepState): SleepState {
	if (state.is !== 'delivering' || isUnderway(state.response)) return state;
	return wasDelivered(state.response) ? { is: 'over' } : { is: 'waiting' };
}

/** What nudges need, and no more: an execution that sleeps takes no memory. */
interface NapTools {
	/** The resume URL, with n8n's token. */
	url: string;
	/** The tasks of the run. */
	taskIds: string[];
	/** The wait limit, and until when webhooks wake the run, in milliseconds since 1970. */
	until: number;
	lastWake: number;
	logger: Pick<Logger, 'info' | 'warn'>;
	/** Names the node and its execution, in n8n's log. */
	name: string;
}

/**
 * What this process knows of a sleep, beside what n8n has stored: the ends that its webhooks have
 * seen, and whether a webhook has handed the run to n8n. A process that knows nothing asks the service
 * again, and n8n lets only one process wake an execution. Nudges make up for lost callbacks.
 */
export class Nap {
	private lastState: SleepState = { is: 'waiting' };
	private pauses = growPauses(PAUSES_ASLEEP);
	private isNudged = false;
	private hasFailed = false;

	/** @param number of the sleep, among those of the node in the execution */
	constructor(
		readonly number: number,
		private readonly tools: NapTools,
	) {}

	/** The wait limit. */
	get until(): number {
		return this.tools.until;
	}

	getState(): SleepState['is'] {
		this.lastState = settleDelivery(this.lastState);
		return this.lastState.is;
	}

	/** Opens the looks of a webhook. What this process has seen isn't asked again. */
	openLooks({ entries, settings }: Ledger): Looks {
		const looks = new Looks(entries, settings as WaitSettings);
		for (const taskId of this.tools.taskIds) {
			const end = ends.get(this.nameTask(taskId));
			if (end) looks.noteAnswer(taskId, end);
		}
		return looks;
	}

	/** Notes the ends that a webhook has seen. */
	noteEnds({ entries }: Ledger): void {
		for (const { taskId, end } of entries.flatMap(({ attempts }) => attempts)) {
			const key = this.nameTask(taskId);
			if (end && !ends.get(key)) ends.set(key, end, weigh(end));
		}
	}

	/** @returns false unless the run waits: another webhook has handed it to n8n, or it is over */
	beginDelivery(response: HeldResponse): boolean {
		if (this.getState() !== 'waiting') return false;
		this.lastState = { is: 'delivering', response };
		this.forgetEnds();
		return true;
	}

	/** The node sleeps anew, or its execution has gone on. */
	end(): void {
		this.lastState = { is: 'over' };
		this.forgetEnds();
	}

	/** Begins to nudge. Only a process does that has run the node, or has taken a callback. */
	keepNudging(): void {
		if (!this.isNudged) this.schedule();
		this.isNudged = true;
	}

	/**
	 * Asks the service soon after the run fell asleep, and nudges if all tasks have ended. Nobody may
	 * call for them: a service may have been quicker than n8n, or may call an earlier execution, whose
	 * equal request it answers with the same task.
	 */
	lookSoon(ledger: Ledger, getService: GetService): void {
		runAfter(spread(LOOK_ASLEEP), () => void this.look(ledger, getService));
	}

	private async look(ledger: Ledger, getService: GetService): Promise<void> {
		if (this.getState() !== 'waiting') return;
		// A copy, because results in the run's own ledger would take memory while the execution sleeps.
		const copy = structuredClone(ledger);
		const looks = this.openLooks(copy);
		const [first] = looks.pendingKeys;
		if (first === undefined) return;
		await looks.lookUntilPending(first, getService);
		if (this.getState() !== 'waiting') return;
		this.noteEnds(copy);
		this.warnOf(looks.failure);
		if (looks.haveEnded) await this.nudge();
	}

	/** Has n8n call the node's webhook, which wakes the execution if all tasks have ended. */
	async nudge(): Promise<void> {
		if (this.getState() !== 'waiting') return;
		const { url, taskIds, until, logger, name } = this.tools;
		const isDue = Date.now() >= until;
		const taskId = taskIds.find((one) => !ends.get(this.nameTask(one))) ?? taskIds[0] ?? '';
		const answer = await sendNudge(url, taskId);
		// A nudge may give up while n8n still waits for a slot to run the execution.
		if (answer.failure !== undefined && this.getState() !== 'delivering')
			this.warn(`a nudge failed: ${answer.failure}`);
		if (answer.isWoken && !isDue)
			logger.info(`${name}: a nudge found the end of the tasks, no callback came`);
		if (answer.isWoken || answer.isOver) this.end();
	}

	/** Warns of a look that failed. */
	warnOf(failure?: Error): void {
		if (failure) this.warn(`a look failed: ${failure.message}`);
	}

	/** Warns in n8n's log, once: a service may be down for long. */
	private warn(failure: string): void {
		if (!this.hasFailed) this.tools.logger.warn(`${this.tools.name}: ${failure}`);
		this.hasFailed = true;
	}

	/** Thousands of executions may have slept. */
	private forgetEnds(): void {
		for (const taskId of this.tools.taskIds) ends.delete(this.nameTask(taskId));
	}

	private nameTask(taskId: string): string {
		return `${this.tools.name} ${this.number} ${taskId}`;
	}

	/** Plans the next nudge: after growing pauses, at the limit, and for some time after it. */
	private schedule(): void {
		const now = Date.now();
		const { until, lastWake } = this.tools;
		if (this.getState() === 'over' || now >= lastWake) return;
		const next = Math.min(now + this.pauses.next().value, now >= until ? lastWake : until);
		if (next === until) this.pauses = growPauses({ ...PAUSES_ASLEEP, first: FIRST_PAUSE_AT_LIMIT });
		runAfter(next - now, () => {
			void this.nudge().then(() => this.schedule());
		});
	}
}

/** The ends that webhooks have seen, by sleep and task. Without one, the service is asked again. */
const ends = new Memory<Task>('ends');

/** By execution and node. */
const naps = new Memory<Nap>('naps', (nap) => nap.getState() === 'delivering');

const nameNode = (context: Context): string =>
	`"${context.getNode().name}" (execution ${context.getExecutionId()})`;

/** Numbers a new sleep, above all that this process knows: two calls of a run may fall asleep. */
export const numberSleep = (context: Context, { sleeps }: Ledger): number =>
	Math.max(sleeps, naps.get(nameNode(context))?.number ?? 0) + 1;

/**
 * Finds what this process knows of the sleep that n8n has stored.
 * @returns undefined if the sleep is over, as far as this process knows: n8n may let a webhook
 *   through before it has stored that
 */
export function findNap(context: Context, ledger: Ledger): Nap | undefined {
	const name = nameNode(context);
	const { number, end } = ledger.sleep as Sleep;
	const until = findWaitEnd(ledger);
	const known = naps.get(name);
	if (known && known.number > number) return undefined;
	// Calls in two processes count their sleeps apart. What n8n has stored counts.
	if (known?.number === number && known.until === until)
		return known.getState() === 'over' ? undefined : known;
	known?.end();
	const nap = new Nap(number, {
		url: readResumeUrl(context),
		taskIds: listAwaitedIds(ledger.entries),
		until,
		lastWake: planLastWake({ until, end }),
		logger: context.logger,
		name,
	});
	naps.set(name, nap);
	return nap;
}
