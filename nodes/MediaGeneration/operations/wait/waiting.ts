import type {
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
	Logger,
} from 'n8n-workflow';
import type { Credentials } from '../../api/endpoints';
import type { Task } from '../../api/task';
import { getSigningSecrets } from '../../callback/signature';
import { readParked, readStoredItems, storeItems } from '../../host/parking';
import { BoundedMap } from '../../lib/boundedMap';
import { runAfter, settleBy } from '../../lib/timers';
import { STORED_WAIT, type RunRecord, type Wait } from '../record';
import { createFetchService, sendLook } from './lookRequests';
import { Looker, type WaitSettings } from './looker';

/** What n8n has stored for an execution that sleeps. */
export interface StoredWait {
	items: INodeExecutionData[];
	settings: WaitSettings;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
	/** Without the token, which n8n keeps. */
	resumeUrl?: string;
}

type Sleeper = Pick<IExecuteFunctions, 'getExecutionId' | 'getNode' | 'logger'>;

/** What looks need, and no more: an execution that sleeps takes no memory. */
interface LookTools {
	/** The resume URL, with n8n's token. */
	url: string;
	credentials: Credentials;
	logger: Pick<Logger, 'info' | 'warn'>;
	label: string;
}

/**
 * When n8n ends a wait by itself, in milliseconds after the wait limit. It looks every 60 seconds
 * for waits that end within 70, and sets a timer that it does not clear when a webhook resumes the
 * execution; the timer would end its next wait (`wait-tracker.js`, 2.41.1). So no webhook resumes
 * an execution from `LAST_RESUME` after the limit on, and timers come later than that.
 */
export const N8N_ENDS_AFTER = 100_000;
export const LAST_RESUME = 28_000;

/** The time before the first look, in milliseconds, and the growth of the pauses after it. */
const FIRST_PAUSE = 30_000;
const GROWTH = 3;

/** The pause between looks from the wait limit on, in milliseconds, and for how long they go on. */
const LATE_PAUSE = 4_000;
const LATE_FOR = 26_000;

/** n8n's statuses for an execution that waits no more, or not for these tasks. */
const GONE = new Set<unknown>([404, 409, 410]);

/**
 * Parks the execution until a webhook resumes it with other items, or until the limit has passed.
 * @param access the resume URL, with n8n's token, and the credential, for looks
 */
export async function fallAsleep(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
	{ wait, until }: { wait: Wait<WaitSettings>; until: number },
	access: Pick<LookTools, 'url' | 'credentials'>,
): Promise<void> {
	const { origin, pathname } = new URL(access.url);
	await context.putExecutionToWait(new Date(until + N8N_ENDS_AFTER));
	storeItems(context, items);
	Object.assign(wait, { parkedUntil: until, resumeUrl: origin + pathname });
	// n8n empties the array that the node returns, where its errors have an output of their own.
	openWaiting(context, { items: [...items], settings: wait.settings, until }, access);
}

/**
 * Parks a run again that has parked before: with Retry On Fail, n8n runs a node again if its first
 * output item has an error, even if it has parked.
 * @returns the parked items; undefined for a run that has not parked
 */
export async function sleepAgain(
	context: IExecuteFunctions,
	{ wait }: RunRecord,
): Promise<INodeExecutionData[] | undefined> {
	if (wait?.parkedUntil === undefined) return undefined;
	await context.putExecutionToWait(new Date(wait.parkedUntil + N8N_ENDS_AFTER));
	return readStoredItems(context);
}

/** Reads in a webhook what n8n has stored; undefined if the execution doesn't sleep here. */
export function readStoredWait(context: IWebhookFunctions): StoredWait | undefined {
	const { items, entry } = readParked<Wait<WaitSettings>>(context, STORED_WAIT);
	if (entry?.parkedUntil === undefined) return undefined;
	return { items, settings: entry.settings, until: entry.parkedUntil, resumeUrl: entry.resumeUrl };
}

/** The executions that sleep, by execution and node. */
const sleeping = new BoundedMap<string, WaitingExecution>(10_000);

/** Names the node and its execution, in n8n's log and among all that sleep in this process. */
const nameSleep = (context: Sleeper): string =>
	`"${context.getNode().name}" (execution ${context.getExecutionId()})`;

export const findWaiting = (context: Sleeper): WaitingExecution | undefined =>
	sleeping.get(nameSleep(context));

/** Begins to look at the tasks of an execution that sleeps. Its wait before this one has ended. */
export function openWaiting(
	context: Sleeper,
	stored: StoredWait,
	access: Pick<LookTools, 'url' | 'credentials'>,
): WaitingExecution {
	const label = nameSleep(context);
	sleeping.get(label)?.stop();
	const waiting = new WaitingExecution(stored, { ...access, logger: context.logger, label });
	sleeping.set(label, waiting);
	return waiting;
}

/**
 * An execution that sleeps, as this process knows it. Another process, or this one after a restart,
 * asks the service again, and n8n lets only one process continue an execution. Looks make up for
 * callbacks that get lost: they ask the service, and go through n8n only once all tasks have ended,
 * or at the limit, after which n8n outputs the items as they were parked.
 */
export class WaitingExecution {
	readonly looker: Looker;
	private isDelivering = false;
	private freeSince = 0;
	private isStopped = false;
	private hasFailed = false;
	private pause = FIRST_PAUSE;

	constructor(
		readonly stored: StoredWait,
		private readonly tools: LookTools,
	) {
		this.looker = new Looker(stored.items.flatMap(readTask), stored.settings);
		this.schedule();
	}

	/**
	 * @param begun when the webhook began: n8n may have stored the items of another one after it, and
	 *   would take the items of this one for the end of the next wait
	 * @returns false while another one gets the files, or n8n stores the items, or if one did so
	 */
	beginDelivery(begun: number): boolean {
		if (this.isDelivering || begun < this.freeSince) return false;
		this.isDelivering = true;
		return true;
	}

	endDelivery(): void {
		this.isDelivering = false;
		this.freeSince = Date.now();
		this.forget();
	}

	/** Items without a task stay as they were parked. */
	toItems(): INodeExecutionData[] {
		const { batch } = this.looker;
		return this.stored.items.flatMap((item) => {
			const taskId = String(item.json.taskId);
			if (!batch.has(taskId)) return [item];
			const output = batch.toOutput(taskId) as INodeExecutionData[];
			return output.map((one) => ({ ...item, ...one }));
		});
	}

	/** Ends the looks. */
	stop(): void {
		this.isStopped = true;
		this.forget();
	}

	/** While items are on their way to n8n, a copy of their callback must not fetch them anew. */
	private forget(): void {
		const { label } = this.tools;
		if (this.isStopped && !this.isDelivering && sleeping.get(label) === this)
			sleeping.delete(label);
	}

	private schedule(): void {
		const left = this.stored.until - Date.now();
		if (left <= -LATE_FOR) this.stop();
		if (this.isStopped) return;
		const pause = left > 0 ? Math.min(this.pause, left) : LATE_PAUSE;
		this.pause *= GROWTH;
		runAfter(pause, () => void this.look());
	}

	private async look(): Promise<void> {
		const { looker, stored, tools } = this;
		if (!this.isStopped && Date.now() < stored.until) {
			const source = { service: createFetchService(tools.credentials) };
			const getSource = () => source;
			// A request that hangs must not keep the execution asleep past the limit.
			const looked = looker.look(looker.batch.openIds, { getSource, untilOpen: true });
			await settleBy(stored.until, looked);
		}
		const { isEnded, failure } = looker.batch;
		if (failure) this.logFailure(failure.message);
		// n8n's own HTTP helper may reach a service that a look can't, for example by a proxy.
		if (isEnded || failure || Date.now() >= stored.until) await this.resume();
		this.schedule();
	}

	/** Has n8n call the node's webhook, which continues the execution if all tasks have ended. */
	private async resume(): Promise<void> {
		const { url, credentials, logger, label } = this.tools;
		const { openIds, tasks, isEnded } = this.looker.batch;
		if (this.isStopped) return;
		const taskId = openIds[0] ?? (tasks[0] as Task).taskId;
		const answer = await sendLook(url, taskId, getSigningSecrets(credentials)?.current);
		if (answer.failure !== undefined) this.logFailure(answer.failure);
		if (answer.resumed && isEnded)
			logger.info(`${label}: a look found the end of the tasks, no callback came`);
		if (answer.resumed || GONE.has(answer.status)) this.stop();
	}

	/** Only the first one: a service may be down for long. */
	private logFailure(reason: string): void {
		if (!this.hasFailed) this.tools.logger.warn(`${this.tools.label}: a look failed: ${reason}`);
		this.hasFailed = true;
	}
}

/** What a parked item has besides its task. */
const PARKED_NOTES = new Set(['lookError', 'downloadError', 'note']);

function readTask({ json }: INodeExecutionData): Task[] {
	const { taskId, status } = json;
	if (typeof taskId !== 'string' || typeof status !== 'string') return [];
	const known = Object.entries(json).filter(([name]) => !PARKED_NOTES.has(name));
	const task = { ...Object.fromEntries(known), status: status === 'timedOut' ? 'pending' : status };
	return [task as Task];
}
