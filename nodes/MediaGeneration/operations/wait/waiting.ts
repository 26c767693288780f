import type { INodeExecutionData, Logger } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import type { Credentials } from '../../api/endpoints';
import type { Task } from '../../api/task';
import { getSigningSecrets } from '../../callback/verify';
import { BoundedMap } from '../../lib/boundedMap';
import { runAfter } from '../../lib/timers';
import { createFetchService } from './fetchService';
import { Looker, type WaitSettings } from './looker';
import { sendLook } from './sendLook';

/** What n8n has stored for an execution that sleeps. */
export interface StoredWait {
	items: INodeExecutionData[];
	settings: WaitSettings;
	/** The wait limit, in milliseconds since 1970. */
	until: number;
}

/** What looks need. They hold no more, so that an execution that sleeps takes no memory. */
interface LookTools {
	/** The resume URL, with n8n's token. */
	url: string;
	credentials: Credentials;
	logger: Pick<Logger, 'info' | 'warn'>;
	/** Names the node and its execution in n8n's log. */
	label: string;
}

/** The time before the first look, in milliseconds, and the growth of the pauses after it. */
const FIRST_PAUSE = 30_000;
const GROWTH = 3;

/** The pause between looks from the wait limit on, in milliseconds, and for how long they go on. */
const LATE_PAUSE = 4_000;
const LATE_FOR = 26_000;

/** n8n's statuses for an execution that no longer waits, or not for these tasks. */
const GONE = new Set([404, 409, 410]);

/**
 * An execution that sleeps, as this process knows it. Callbacks and looks share what they learn.
 * Another process, or this one after a restart, asks the service again, and n8n lets only one process
 * continue an execution, so this only saves requests.
 *
 * Looks make up for callbacks that get lost. They ask the service, and go through n8n only once all
 * tasks have ended, or at the wait limit. After the limit n8n would output the items as they were
 * parked, without asking the node.
 */
export class WaitingExecution {
	readonly looker: Looker;
	private isDelivering = false;
	private isStopped = false;
	private pause = FIRST_PAUSE;
	private hasLoggedFailure = false;
	private readonly service: TaskService;

	constructor(
		readonly stored: StoredWait,
		private readonly tools: LookTools,
		private readonly onStop: () => void,
	) {
		this.looker = new Looker(stored.items.flatMap(readTask), stored.settings);
		this.service = createFetchService(tools.credentials);
		this.schedule();
	}

	/** It is the wait that n8n has stored. An execution can wait at a node more than once. */
	holds({ until, items }: StoredWait): boolean {
		const { batch } = this.looker;
		const ids = items.flatMap(readTask).map(({ taskId }) => taskId);
		return this.stored.until === until && ids.every((taskId) => batch.has(taskId));
	}

	/** @returns false while another callback fetches the files, or n8n stores the items */
	beginDelivery(): boolean {
		if (this.isDelivering) return false;
		this.isDelivering = true;
		return true;
	}

	endDelivery(): void {
		this.isDelivering = false;
	}

	/** Makes the items from what is known now. Items without a task stay as they were parked. */
	toItems(): INodeExecutionData[] {
		const { batch } = this.looker;
		return this.stored.items.flatMap((item) => {
			const { taskId } = item.json;
			if (typeof taskId !== 'string' || !batch.has(taskId)) return [item];
			const output = batch.toOutput(taskId) as INodeExecutionData[];
			return output.map((one) => ({ ...item, ...one }));
		});
	}

	/** Ends the looks: the execution continues, or waits for other tasks. */
	stop(): void {
		this.isStopped = true;
		this.onStop();
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
		if (this.isStopped) return;
		const { batch } = this.looker;
		if (Date.now() < this.stored.until) {
			const getSource = () => ({ service: this.service });
			await this.looker.look(batch.openIds, { getSource, untilOpen: true });
			if (batch.lookError) this.logFailure(batch.lookError);
			// n8n's own HTTP helper may reach a service that this process can't, for example by a proxy.
			else if (!batch.isEnded) return this.schedule();
		}
		await this.resume();
	}

	/** Has n8n call the node's webhook, which continues the execution if all tasks have ended. */
	private async resume(): Promise<void> {
		const { url, credentials, logger, label } = this.tools;
		const { batch } = this.looker;
		const isFound = batch.isEnded;
		const [taskId = ''] = [
			...batch.openIds,
			...batch.completedIds,
			...batch.tasks.map((task) => task.taskId),
		];
		const { status, resumed, failure } = await sendLook(
			url,
			taskId,
			getSigningSecrets(credentials)?.current,
		);
		if (failure !== undefined) this.logFailure(failure);
		if (resumed && isFound)
			logger.info(`${label}: a look found the end of the tasks, no callback came`);
		if (resumed || (status !== undefined && GONE.has(status))) this.stop();
		else this.schedule();
	}

	/** Only the first one, because a service may be down for long. */
	private logFailure(reason: string): void {
		if (this.hasLoggedFailure) return;
		this.hasLoggedFailure = true;
		this.tools.logger.warn(`${this.tools.label}: a look at the tasks failed: ${reason}`);
	}
}

/** What parked items have besides the task. It was true when they were parked. */
const SAID = ['lookError', 'downloadError', 'note'] as const;
type Said = Partial<Record<(typeof SAID)[number], string>>;

/** Reads the task of a parked item; none if the item has other content. */
function readTask({ json }: INodeExecutionData): Task[] {
	if (typeof json.taskId !== 'string' || typeof json.status !== 'string') return [];
	const task = { ...json } as unknown as Task & Said;
	for (const key of SAID) delete task[key];
	return [task.status === 'timedOut' ? { ...task, status: 'pending' } : task];
}

/** The executions that sleep, by execution and node. */
const sleeping = new BoundedMap<string, WaitingExecution>(10_000);

export const findWaiting = (key: string): WaitingExecution | undefined => sleeping.get(key);

/** Notes that an execution sleeps, and begins to look at its tasks. */
export function openWaiting(key: string, stored: StoredWait, tools: LookTools): WaitingExecution {
	sleeping.get(key)?.stop();
	const waiting = new WaitingExecution(stored, tools, () => {
		if (sleeping.get(key) === waiting) sleeping.delete(key);
	});
	sleeping.set(key, waiting);
	return waiting;
}
