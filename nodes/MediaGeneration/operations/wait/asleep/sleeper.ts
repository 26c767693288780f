import type { Logger } from 'n8n-workflow';
import { isUnderway, wasDelivered, type HeldResponse } from '../../../host/delivery';
import { runAfter, settleBy } from '../../../lib/timers';
import type { SleepingRun } from '../../record';
import { Looker, type WaitSettings } from '../looker';
import {
	DUE_EARLY,
	FIRST_PAUSE,
	LAST_NUDGE,
	LAST_WAKE,
	LATE_PAUSE,
	PAUSE_GROWTH,
} from '../timetable';
import { createFetchService } from './fetchService';
import { sendNudge, type Access } from './nudge';

/** A sleep, its tasks, and how they are waited for. */
type Run = SleepingRun<WaitSettings>;

export interface SleeperTools extends Access {
	logger: Pick<Logger, 'info' | 'warn'>;
	/** Names the node and its execution, in n8n's log. */
	name: string;
	/** Is called when the run no longer sleeps. */
	onEnd: () => void;
}

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
	private hasEnded = false;
	/** The response of the webhook that has handed the run to n8n. */
	private delivery?: HeldResponse;
	private hasFailed = false;
	private pause = FIRST_PAUSE;

	constructor(
		{ tasks, settings, asleep }: Run,
		private readonly tools: SleeperTools,
	) {
		this.number = asleep.number;
		this.until = asleep.until;
		this.looker = new Looker(settings);
		this.looker.batch.setTasks(tasks);
		this.schedule();
	}

	/** The run is awake, or the execution has gone on without it. */
	get isOver(): boolean {
		return this.hasEnded || (this.delivery !== undefined && wasDelivered(this.delivery));
	}

	/** The wait limit has passed. */
	get isDue(): boolean {
		return Date.now() >= this.until - DUE_EARLY;
	}

	/** n8n is about to end the sleep by itself. */
	get isTooLate(): boolean {
		return Date.now() >= this.until + LAST_WAKE;
	}

	/** @returns false if another webhook has handed the run to n8n, which has not refused it */
	beginDelivery(response: HeldResponse): boolean {
		if (this.isOver || this.isDelivering) return false;
		this.delivery = response;
		return true;
	}

	/** Ends the looks. */
	end(): void {
		this.hasEnded = true;
	}

	/** Has n8n call the node's webhook, which wakes the execution if all tasks have ended. */
	async nudge(): Promise<void> {
		if (this.isOver || this.isDelivering) return;
		const { logger, name } = this.tools;
		const { openIds, tasks, isEnded } = this.looker.batch;
		const taskId = openIds[0] ?? tasks[0]?.taskId ?? '';
		const answer = await sendNudge(this.tools, taskId);
		// n8n may wait for a slot longer than a nudge for its answer.
		if (answer.failure !== undefined && !this.isDelivering) this.logFailure(answer.failure);
		if (answer.isWoken && isEnded)
			logger.info(`${name}: a look found the end of the tasks, no callback came`);
		if (answer.isWoken || answer.isOver) this.end();
	}

	private get isDelivering(): boolean {
		return this.delivery !== undefined && isUnderway(this.delivery);
	}

	private schedule(): void {
		const left = this.until - Date.now();
		if (this.isOver) this.tools.onEnd();
		if (this.isOver || left <= -LAST_NUDGE) return;
		const pause = left > 0 ? Math.min(this.pause, left) : LATE_PAUSE;
		this.pause *= PAUSE_GROWTH;
		runAfter(pause, () => void this.look());
	}

	private async look(): Promise<void> {
		const { looker, tools, until } = this;
		if (!this.isOver && Date.now() < until) {
			const source = { service: createFetchService(tools.credentials, tools.url) };
			const getSource = () => source;
			// A request that hangs must not keep the execution asleep past the limit.
			const looked = looker.look(looker.batch.openIds, { getSource, untilOpen: true });
			await settleBy(until, looked);
		}
		const { isEnded, failure } = looker.batch;
		if (failure) this.logFailure(failure.message);
		// n8n's own HTTP helper may reach a service that a look can't, for example by a proxy.
		if (isEnded || failure || Date.now() >= until) await this.nudge();
		this.schedule();
	}

	/** Only the first one: a service may be down for long. */
	private logFailure(reason: string): void {
		if (!this.hasFailed) this.tools.logger.warn(`${this.tools.name}: a look failed: ${reason}`);
		this.hasFailed = true;
	}
}
