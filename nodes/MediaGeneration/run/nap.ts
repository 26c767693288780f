import type { Logger } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import type { Credentials } from '../api/endpoints';
import { isUnderway, wasDelivered, type HeldResponse } from '../host/delivery';
import { runAfter, settleBy } from '../lib/timers';
import type { SleepingRun } from '../operations/record/sleepingRun';
import { Looker } from './look';
import { DUE_EARLY, LAST_NUDGE, LAST_WAKE, NUDGE_PAUSE, PAUSES_ASLEEP } from './timetable';
import { createFetchService } from '../operations/wait/asleep/fetchService';
import { sendNudge } from './nudge';

/** What looks and nudges need, and no more: an execution that sleeps takes no memory. */
export interface Access {
	/** The resume URL, with n8n's token. */
	url: string;
	credentials: Credentials;
}

export interface SleeperTools extends Access {
	logger: Pick<Logger, 'info' | 'warn'>;
	/** Names the node and its execution, in n8n's log. */
	name: string;
	/** Is called when the run no longer sleeps. */
	onOver: () => void;
}

/** Where a sleep stands: `waiting` → `delivering` → `waiting` or `over`. */
export type SleepState =
	/** For the end of its tasks. A webhook may hand the run to n8n. */
	| { is: 'waiting' }
	/** A webhook has handed it to n8n, which has not answered that webhook's sender yet. */
	| { is: 'delivering'; response: HeldResponse }
	/** n8n has woken the run, the execution has gone on without it, or the node sleeps anew. */
	| { is: 'over' };

/** Moves on from `delivering` once n8n has answered: it has taken the run, or has refused it. */
export function settleDelivery(state: SleepState): SleepState {
	if (state.is !== 'delivering' || isUnderway(state.response)) return state;
	return wasDelivered(state.response) ? { is: 'over' } : { is: 'waiting' };
}

/** How many tasks a webhook asks for at once, if the first ones have ended. */
const ASKED_AT_ONCE = 32;

/**
 * A run that sleeps, as this process knows it. Another process, or this one after a restart, asks
 * the service again, and n8n lets only one process wake an execution. Looks make up for callbacks
 * that get lost: they ask the service without n8n, and nudge it once all tasks have ended, or at
 * the limit.
 */
export class Sleeper {
	readonly number: number;
	/** The wait limit, in milliseconds since 1970. */
	readonly until: number;
	readonly looker: Looker;
	private lastState: SleepState = { is: 'waiting' };
	private hasFailed = false;
	private pause = PAUSES_ASLEEP.first;

	constructor(
		{ tasks, settings, asleep }: SleepingRun,
		private readonly tools: SleeperTools,
	) {
		this.number = asleep.number;
		this.until = asleep.until;
		this.looker = new Looker(settings);
		this.looker.known.setTasks(tasks);
		this.schedule();
	}

	getState(): SleepState['is'] {
		this.lastState = settleDelivery(this.lastState);
		return this.lastState.is;
	}

	/** The wait limit has passed. */
	get isDue(): boolean {
		return Date.now() >= this.until - DUE_EARLY;
	}

	/** n8n is about to end the sleep by itself. */
	get isTooLate(): boolean {
		return Date.now() >= this.until + LAST_WAKE;
	}

	/**
	 * Asks for the task of a callback, then for one other, then for several at once, until one has not
	 * ended. Once the wait limit has passed, nothing is asked: the woken run looks.
	 */
	async lookUntilOpen(
		taskId: string,
		service: TaskService,
	): Promise<{ refusal?: 'detailsUnavailable' | 'taskNotEnded' }> {
		if (this.isDue) return {};
		const { looker } = this;
		const { known } = looker;
		const getSource = () => ({ getService: async () => service });
		const look = async (ids: string[], concurrency: number) =>
			await looker.look(ids, { getSource, concurrency, untilOpen: true });
		await look([taskId], 1);
		if (known.isOpen(taskId))
			return { refusal: known.failure ? 'detailsUnavailable' : 'taskNotEnded' };
		const [next] = known.openIds;
		if (next === undefined) return {};
		await look([next], 1);
		if (!known.isOpen(next)) await look(known.openIds, ASKED_AT_ONCE);
		return {};
	}

	/** @returns false unless the run waits: another webhook has handed it to n8n, or it is over */
	beginDelivery(response: HeldResponse): boolean {
		if (this.getState() !== 'waiting') return false;
		this.lastState = { is: 'delivering', response };
		return true;
	}

	/** Ends the looks. */
	end(): void {
		this.lastState = { is: 'over' };
	}

	/** Has n8n call the node's webhook, which wakes the execution if all tasks have ended. */
	async nudge(): Promise<void> {
		if (this.getState() !== 'waiting') return;
		const { logger, name } = this.tools;
		const { openIds, tasks, haveEnded } = this.looker.known;
		const taskId = openIds[0] ?? tasks[0]?.taskId ?? '';
		const answer = await sendNudge(this.tools.url, taskId);
		// n8n may wait for a slot longer than a nudge for its answer.
		if (answer.failure !== undefined && this.getState() !== 'delivering')
			this.logFailure(answer.failure);
		if (answer.isWoken && haveEnded)
			logger.info(`${name}: a look found the end of the tasks, no callback came`);
		if (answer.isWoken || answer.isOver) this.end();
	}

	/** Plans the next look; after the limit, the next nudge. */
	private schedule(): void {
		const left = this.until - Date.now();
		if (this.getState() === 'over') this.tools.onOver();
		if (this.getState() === 'over' || left <= -LAST_NUDGE) return;
		const pause = left > 0 ? Math.min(this.pause, left) : NUDGE_PAUSE;
		this.pause *= PAUSES_ASLEEP.growth;
		runAfter(pause, () => void this.look());
	}

	private async look(): Promise<void> {
		const { looker, tools, until } = this;
		if (this.getState() !== 'over' && Date.now() < until) {
			const service = createFetchService(tools.credentials, tools.url);
			const getSource = () => ({ getService: async () => service });
			// A request that hangs must not keep the execution asleep past the limit.
			const looked = looker.look(looker.known.openIds, { getSource, untilOpen: true });
			await settleBy(until, looked);
		}
		const { haveEnded, failure } = looker.known;
		if (failure) this.logFailure(failure.message);
		// n8n's own HTTP helper may reach a service that a look can't, for example by a proxy.
		if (haveEnded || failure || Date.now() >= until) await this.nudge();
		this.schedule();
	}

	/** Only the first one: a service may be down for long. */
	private logFailure(reason: string): void {
		if (!this.hasFailed) this.tools.logger.warn(`${this.tools.name}: a look failed: ${reason}`);
		this.hasFailed = true;
	}
}
