import { Readable } from 'node:stream';
import { signHeaders } from '../../dev/service/signHeaders.cts';
import type { Clock } from './clock.cts';

/** What becomes of a creation, and of its task. Times are in milliseconds. */
export interface Fate {
	/**
	 * `lost`: there is a task, but no answer. `reset`: neither. `broken`: the answer with the ID is no
	 * JSON. `full`: the service takes no more tasks at once. `broke`: no credits are left.
	 */
	creation: 'ok' | 'lost' | 'reset' | 'broken' | 'refused' | 'full' | 'broke';
	/** How long the service takes to answer the creation. */
	latency: number;
	/** `expired`: its host refuses the file. `silent`: failed, but may still end. */
	end: 'completed' | 'expired' | 'failed' | 'silent' | 'never';
	/** From its creation to its end. */
	after: number;
	/** From its creation until its details are known. */
	knownAfter: number;
	/** Callbacks, each so long after the end; negative: before it. None: they are lost. */
	callbacks: number[];
	/** Of this type, a callback brings a part of the result just before the end. */
	progress: string | undefined;
	/** By this key, in place of the account's. */
	key: string | undefined;
	/** What the task costs, in credits. */
	price: number;
}

/** Where services differ, as in `dev/service/dialects.cts`. */
export interface Costs {
	/**
	 * `atOnce`: said while the task runs, and a part of it is given back at the end, all of it for a
	 * failure. `atEnd`: said only then, and a failure costs what a result does.
	 */
	costs: 'atOnce' | 'atEnd';
}

export const GOOD: Fate = {
	creation: 'ok',
	latency: 0,
	end: 'completed',
	after: 5_000,
	knownAfter: 0,
	callbacks: [0],
	progress: undefined,
	key: undefined,
	price: 1,
};

/** How details are answered for a while. */
export interface Fault {
	how: '500' | '429' | 'reset' | 'hangs' | 'garbled';
	/** Since the world began. */
	from: number;
	until: number;
	/** Only the tasks of this item. */
	item?: number;
}

/** A creation that reached the service. */
export interface Creation {
	item: number;
	sender: Sender;
	at: number;
	fate: Fate;
	/** If it has made a task. */
	taskId?: string;
	/** The answer has reached the process that sent it. */
	isAnswered: boolean;
	/** The answer comes after the run has to know it, because of n8n's timeout. */
	isLate?: boolean;
	endsAt: number;
	/** Whom the service calls back. */
	callBackUrl?: string;
	/** What the service has said that the task costs, one look after the other. */
	told: number[];
}

/** How a callback is answered. */
interface Answered {
	status: number;
	answer: unknown;
}

/** Who sends a request. */
export interface Sender {
	/** The ID of n8n's execution. */
	execution: string;
	process: object;
	/** Of the account. */
	token: string;
}

interface Answer {
	statusCode: number;
	headers?: object;
	body: unknown;
}

const FILE = /\/(task-[\w-]+)\.png/;
const say = (data: object) => ({ statusCode: 200, body: JSON.stringify({ code: 200, data }) });
const refuse = (code: number, msg: string) => ({
	statusCode: 200,
	body: JSON.stringify({ code, msg }),
});
const reset = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

interface Options extends Costs {
	clock: Clock;
	/** The fates of each item's tasks, one creation after the other; the last one stays. */
	fates: Map<number, Fate[]>;
	faults: Fault[];
	/** Of answers, in turn. */
	latencies: number[];
	/** Brings a callback to n8n. */
	callBack: (url: string, body: object, headers: object) => Promise<Answered>;
	/** A creation comes, after these for the same item. */
	onCreation: (creation: Creation, before: Creation[]) => void;
	/** Counts what happens. */
	count: (what: string) => void;
}

/** The service, with one account. */
export class Service {
	readonly creations: Creation[] = [];
	/** The callbacks that were answered. */
	readonly answered: Array<Answered & { taskId: string; at: number }> = [];
	/** Answers that must not be. */
	readonly wrong: string[] = [];
	/** The key of its signatures. */
	key = '';
	/** Each task takes one. */
	credits = 1_000_000;
	fileHost = 'files.example';
	/** The looks at tasks, and how many were answered with a fault. */
	readonly looks: Array<{ taskId: string; at: number }> = [];
	faulty = 0;
	/** The links to files that were asked for. */
	readonly downloads: string[] = [];
	private readonly begun: number;
	private requests = 0;

	constructor(private readonly options: Options) {
		this.begun = options.clock.now;
	}

	find(taskId: string): Creation | undefined {
		return this.creations.find((one) => one.taskId === taskId);
	}

	listOf(item: number): Creation[] {
		return this.creations.filter((one) => one.item === item);
	}

	/** Answers a request with the token. */
	async answer(path: string, body: unknown, sender: Sender): Promise<Answer> {
		const { clock, latencies } = this.options;
		if (path.endsWith('/jobs/createTask')) return await this.create(body as Request, sender);
		await clock.pause(latencies[this.requests++ % latencies.length] ?? 0);
		if (path.includes('/credit')) return say(this.credits as unknown as object);
		if (!path.includes('/jobs/recordInfo')) return refuse(404, 'none');
		return await this.details(new URL(path, 'https://x').searchParams.get('taskId') ?? '');
	}

	/** The host of files. */
	async download(url: string): Promise<Answer> {
		this.downloads.push(url);
		await this.options.clock.pause(300);
		const task = this.find(FILE.exec(url)?.[1] ?? '');
		if (task?.fate.end !== 'completed')
			return { statusCode: 403, headers: {}, body: Readable.from([]) };
		const body = Readable.from([Buffer.from('file')]);
		return { statusCode: 200, headers: { 'content-type': 'image/png' }, body };
	}

	private async create({ input: { item }, callBackUrl }: Request, sender: Sender) {
		const { clock, fates } = this.options;
		const before = this.listOf(item);
		const all = fates.get(item) ?? [GOOD];
		const fate = all[Math.min(before.length, all.length - 1)] as Fate;
		this.options.count(`creation ${fate.creation}`);
		const isTask = ['ok', 'lost', 'broken'].includes(fate.creation);
		const taskId = isTask ? `task-${item}-${before.length + 1}z` : undefined;
		const endsAt = fate.end === 'never' ? Infinity : clock.now + fate.after;
		const at = clock.now;
		const task = { taskId, endsAt, callBackUrl, told: [] };
		const creation = { ...task, item, sender, at, fate, isAnswered: false };
		this.options.onCreation(creation, before);
		this.creations.push(creation);
		if (taskId) this.credits -= fate.price;
		if (taskId && callBackUrl) this.planCallbacks(creation, callBackUrl);
		await clock.pause(fate.latency);
		return { ...this.answerCreation(creation), creation };
	}

	private answerCreation({ fate, taskId = '' }: Creation): Answer {
		switch (fate.creation) {
			case 'ok':
				return say({ taskId });
			case 'broken':
				return { statusCode: 200, body: `{"code":200,"data":{"taskId":"${taskId}"` };
			case 'refused':
				return refuse(422, 'no');
			case 'broke':
				return refuse(402, 'Credits insufficient');
			case 'full':
				return refuse(429, 'too many concurrent tasks');
			default:
				throw reset();
		}
	}

	private async details(taskId: string): Promise<Answer> {
		const { clock, faults } = this.options;
		const time = clock.now - this.begun;
		const task = this.find(taskId);
		const isOf = ({ item }: Fault) => item === undefined || item === task?.item;
		const fault = faults.find((one) => one.from <= time && time < one.until && isOf(one));
		this.looks.push({ taskId, at: clock.now });
		if (fault) this.faulty++;
		if (fault?.how === '500') return { statusCode: 500, body: '{"code":500,"msg":"fault"}' };
		if (fault?.how === '429') return refuse(429, 'Too many requests');
		if (fault?.how === 'garbled') return { statusCode: 200, body: '<html>' };
		if (fault?.how === 'hangs') return await new Promise<never>(() => {});
		if (fault) throw reset();
		if (!task || clock.now < task.at + task.fate.knownAfter) return refuse(422, 'no such task');
		return this.describe(task, taskId);
	}

	private describe(task: Creation, taskId: string): Answer {
		const { fate, endsAt } = task;
		const tell = (creditsConsumed: number) => {
			task.told.push(creditsConsumed);
			return { taskId, creditsConsumed };
		};
		if (this.options.clock.now < endsAt) {
			const known = this.options.costs === 'atOnce' ? tell(this.findMostSaid(task)) : { taskId };
			return say({ ...known, state: 'generating' });
		}
		const resultJson = { resultUrls: [`https://${this.fileHost}/${taskId}.png`] };
		if (fate.end === 'silent') return refuse(408, 'upstream is silent');
		const known = tell(this.findCost(task));
		if (fate.end === 'failed')
			return say({ ...known, state: 'fail', failCode: '501', failMsg: `blocked ${taskId}` });
		return say({ ...known, state: 'success', resultJson });
	}

	/** What a task costs in the end. */
	findCost = ({ fate }: Creation): number =>
		fate.end === 'failed' && this.options.costs === 'atOnce' ? 0 : fate.price;

	/** The most that is said that a task costs. */
	findMostSaid = (task: Creation): number =>
		this.options.costs === 'atOnce' ? task.fate.price + 1 : this.findCost(task);

	private planCallbacks(creation: Creation, url: string): void {
		const { clock } = this.options;
		const { fate, endsAt } = creation;
		if (endsAt === Infinity) return;
		const plan = (late: number, type: string) =>
			clock.after(endsAt + late - clock.now, () => void this.send(creation, url, type));
		if (fate.progress) plan(-100, fate.progress);
		for (const late of fate.callbacks) plan(late, 'done');
	}

	private async send(creation: Creation, url: string, callbackType: string): Promise<void> {
		const { clock, callBack, count } = this.options;
		const { fate, endsAt, taskId = '' } = creation;
		const body = { taskId, code: 200, data: { task_id: taskId, callbackType } };
		const key = fate.key ?? this.key;
		const headers = key ? signHeaders(body, key, Math.floor(clock.now / 1_000)) : {};
		const answered = await callBack(url, body, headers);
		const when = callbackType === 'done' ? clock.now < endsAt && 'early ' : 'of progress ';
		count(`callback ${when || ''}${answered.status}`);
		if (callbackType === 'done')
			return void this.answered.push({ ...answered, taskId, at: clock.now });
		// That is taken, and continues nothing.
		const { resumed } = (answered.answer ?? {}) as { resumed?: boolean };
		if (resumed || ![200, 302, 401, 404, 409, 502, 503].includes(answered.status))
			this.wrong.push(`${answered.status} for progress of ${taskId}`);
	}
}

interface Request {
	input: { item: number };
	callBackUrl?: string;
}
