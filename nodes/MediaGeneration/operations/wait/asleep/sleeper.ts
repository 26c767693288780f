import type { IExecuteFunctions, Logger } from 'n8n-workflow';
import type { Credentials } from '../../../api/endpoints';
import { newTask } from '../../../api/task';
import { getSigningSecrets } from '../../../callback/signature';
import { isUnderway, wasDelivered, type HeldResponse } from '../../../host/delivery';
import { BoundedMap } from '../../../lib/boundedMap';
import { runAfter, settleBy } from '../../../lib/timers';
import type { SleepingRun } from '../../record';
import { Looker, type WaitSettings } from '../looker';
import { DUE_EARLY, FIRST_PAUSE, LAST_NUDGE, LATE_PAUSE, PAUSE_GROWTH } from '../timetable';
import { createFetchService } from './fetchService';
import { sendNudge } from './nudge';

/** What looks and nudges need, and no more: an execution that sleeps takes no memory. */
export interface Access {
	/** The resume URL, with n8n's token. */
	url: string;
	credentials: Credentials;
}

type Context = Pick<IExecuteFunctions, 'getExecutionId' | 'getNode' | 'logger'>;

/** The runs that sleep, by execution and node. Of a sleep that has ended, its time is kept. */
const sleepers = new BoundedMap<string, Sleeper | Pick<Sleeper, 'since'>>(10_000);

/** Names the node and its execution, in n8n's log and among all that sleep in this process. */
const nameSleeper = (context: Context): string =>
	`"${context.getNode().name}" (execution ${context.getExecutionId()})`;

/**
 * Finds the sleeper of a run.
 * @param since when the run fell asleep
 * @returns null for a sleep that has ended, as far as this process knows; undefined for an unknown
 */
export function findSleeper(context: Context, since: number): Sleeper | null | undefined {
	const known = sleepers.get(nameSleeper(context));
	if (!known || known.since < since) return undefined;
	return known instanceof Sleeper && known.since === since && !known.isOver ? known : null;
}

/** Begins to look at the tasks of a run that sleeps. An earlier sleep of its node has ended. */
export function openSleeper(
	context: Context,
	run: SleepingRun<WaitSettings>,
	access: Access,
): Sleeper {
	const name = nameSleeper(context);
	const before = sleepers.get(name);
	if (before instanceof Sleeper) before.end();
	const sleeper = new Sleeper(run, { ...access, logger: context.logger, name });
	sleepers.set(name, sleeper);
	return sleeper;
}

/**
 * A run that sleeps, as this process knows it. Another process, or this one after a restart, asks
 * the service again, and n8n lets only one process wake an execution. Looks make up for callbacks
 * that get lost: they ask the service without n8n, and nudge it once all tasks have ended, or at
 * the limit.
 */
export class Sleeper {
	readonly since: number;
	/** The wait limit, in milliseconds since 1970. */
	readonly until: number;
	readonly looker: Looker;
	private hasEnded = false;
	/** The response of the webhook that has handed the run to n8n. */
	private delivery?: HeldResponse;
	private hasFailed = false;
	private pause = FIRST_PAUSE;

	constructor(
		{ tasks, settings, asleep }: SleepingRun<WaitSettings>,
		private readonly tools: Access & { logger: Pick<Logger, 'info' | 'warn'>; name: string },
	) {
		this.since = asleep.since;
		this.until = asleep.until;
		this.looker = new Looker(settings);
		this.looker.batch.setTasks(tasks.map(({ taskId, model }) => newTask(taskId, model)));
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
		const { url, credentials, logger, name } = this.tools;
		const { openIds, tasks, isEnded } = this.looker.batch;
		const taskId = openIds[0] ?? tasks[0]?.taskId ?? '';
		const answer = await sendNudge(url, taskId, getSigningSecrets(credentials)?.current);
		if (answer.failure !== undefined) this.logFailure(answer.failure);
		if (answer.isWoken && isEnded)
			logger.info(`${name}: a look found the end of the tasks, no callback came`);
		if (answer.isWoken || answer.isOver) this.end();
	}

	private get isDelivering(): boolean {
		return this.delivery !== undefined && isUnderway(this.delivery);
	}

	private schedule(): void {
		const left = this.until - Date.now();
		if (this.isOver) this.forget();
		if (this.isOver || left <= -LAST_NUDGE) return;
		const pause = left > 0 ? Math.min(this.pause, left) : LATE_PAUSE;
		this.pause *= PAUSE_GROWTH;
		runAfter(pause, () => void this.look());
	}

	/** Drops tasks and response: thousands of executions may have slept. */
	private forget(): void {
		const { name } = this.tools;
		if (sleepers.get(name) === this) sleepers.set(name, { since: this.since });
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
