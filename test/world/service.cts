import { Readable } from 'node:stream';
import { signHeaders } from '../../dev/service/signHeaders.cts';
import type { Clock } from './clock.cts';

/** What becomes of a creation, and of its task. Times are in milliseconds. */
export interface Fate {
	/**
	 * `lost`: there is a task, but no answer. `reset`: neither task nor answer. `malformed`: the answer with the ID is no
	 * JSON. `full`: the service takes no more tasks at once. `noCredits`: no credits are left.
	 */
	creation: 'ok' | 'lost' | 'reset' | 'malformed' | 'rejected' | 'full' | 'noCredits';
	/** How long the service takes to answer the creation. */
	latency: number;
	/** `expired`: the file is gone from its host. `silent`: the task failed, but may still end. */
	end: 'completed' | 'expired' | 'failed' | 'silent' | 'never';
	/** How long the task takes, from its creation to its end. */
	after: number;
	/** How long after its creation the service knows the details of the task. */
	knownAfter: number;
	/** When callbacks come, counted from the end of the task; negative: before the end. None: they are lost. */
	callbacks: number[];
	/** The type of a callback with a part of the result, sent just before the end. */
	progress: string | undefined;
	/** The key that signs the callbacks in place of the account's key. */
	key: string | undefined;
	/** What the task costs, in credits. */
	price: number;
}

/** Where services differ, as in `dev/service/dialects.cts`. */
export interface Costs {
	/**
	 * `atOnce`: the service says the cost while the task runs, and gives a part of it back at the end, all
	 * of it for a failure. `atEnd`: it says the cost only at the end, and a failure costs what a result does.
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

/** How the service answers looks for a while. */
export interface Fault {
	how: '500' | '429' | 'reset' | 'hangs' | 'malformed';
	/** When the fault begins, in milliseconds since the world began. */
	from: number;
	until: number;
	/** Limits the fault to looks at the tasks of this item. */
	item?: number;
}

/** A creation that reached the service. */
export interface Creation {
	item: number;
	sender: Sender;
	at: number;
	fate: Fate;
	/** The ID of the task that the creation has made, if it has. */
	taskId?: string;
	/** The answer has reached the process that sent the creation. */
	isAnswered: boolean;
	/** The answer comes later than the node waits for it before n8n's timeout. */
	isLate?: boolean;
	endsAt: number;
	/** Whom the service calls back. */
	callBackUrl?: string;
	/** What the service has said that the task costs, one look after the other. */
	saidCosts: number[];
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
	/** The access token of the account. */
	token: string;
}

interface Answer {
	statusCode: number;
	headers?: object;
	body: unknown;
}

const FILE = /\/(task-[\w-]+)\.png/;
const say = (data: object) => ({ statusCode: 200, body: JSON.stringify({ code: 200, data }) });
const reject = (code: number, msg: string) => ({
	statusCode: 200,
	body: JSON.stringify({ code, msg }),
});
const buildResetError = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

interface Options extends Costs {
	clock: Clock;
	/** The fates of each item's tasks, one creation after the other; the last one stays. */
	fates: Map<number, Fate[]>;
	faults: Fault[];
	/** How long the answers take, in turn. */
	latencies: number[];
	/** Brings a callback to n8n. */
	callBack: (url: string, body: object, headers: object) => Promise<Answered>;
	/** Runs when a creation comes; `before` are the earlier ones for the same item. */
	onCreation: (creation: Creation, before: Creation[]) => void;
	/** Counts what happens. */
	count: (what: string) => void;
}

/** The service, with one account. */
export class Service {
	readonly creations: Creation[] = [];
	/** The callbacks that were answered. */
	readonly answered: Array<Answered & { taskId: string; at: number }> = [];
	/** Answers of n8n that must not be. */
	readonly wrong: string[] = [];
	/** The account's key for signatures. */
	key = '';
	/** Each task takes its price. */
	credits = 1_000_000;
	filesUrl = 'https://files.example';
	readonly looks: Array<{ taskId: string; at: number }> = [];
	/** How many looks were answered with a fault. */
	faulty = 0;
	/** The links to files that were asked for. */
	readonly downloads: string[] = [];
	private readonly beganAt: number;
	private requests = 0;

	constructor(private readonly options: Options) {
		this.beganAt = options.clock.now;
	}

	find(taskId: string): Creation | undefined {
		return this.creations.find((one) => one.taskId === taskId);
	}

	listCreations(item: number): Creation[] {
		return this.creations.filter((one) => one.item === item);
	}

	/** Answers a request with the token. */
	async answer(path: string, body: unknown, sender: Sender): Promise<Answer> {
		const { clock, latencies } = this.options;
		if (path.endsWith('/jobs/createTask')) return await this.create(body as Request, sender);
		await clock.pause(latencies[this.requests++ % latencies.length] ?? 0);
		if (path.includes('/credit')) return say(this.credits as unknown as object);
		if (!path.includes('/jobs/recordInfo')) return reject(404, 'none');
		return await this.answerDetails(new URL(path, 'https://x').searchParams.get('taskId') ?? '');
	}

	/** Answers as the host of files. */
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
		const before = this.listCreations(item);
		const all = fates.get(item) ?? [GOOD];
		const fate = all[Math.min(before.length, all.length - 1)] as Fate;
		this.options.count(`creation ${fate.creation}`);
		const isTask = ['ok', 'lost', 'malformed'].includes(fate.creation);
		// With a letter at the end, no ID is the beginning of another, as task-0-1 would be of task-0-10.
		const taskId = isTask ? `task-${item}-${before.length + 1}z` : undefined;
		const endsAt = fate.end === 'never' ? Infinity : clock.now + fate.after;
		const at = clock.now;
		const task = { taskId, endsAt, callBackUrl, saidCosts: [] };
		const creation = { ...task, item, sender, at, fate, isAnswered: false };
		this.options.onCreation(creation, before);
		this.creations.push(creation);
		if (taskId) this.credits -= fate.price;
		if (taskId && callBackUrl) this.scheduleCallbacks(creation, callBackUrl);
		await clock.pause(fate.latency);
		return { ...this.answerCreation(creation), creation };
	}

	private answerCreation({ fate, taskId = '' }: Creation): Answer {
		switch (fate.creation) {
			case 'ok':
				return say({ taskId });
			case 'malformed':
				return { statusCode: 200, body: `{"code":200,"data":{"taskId":"${taskId}"` };
			case 'rejected':
				return reject(422, 'no');
			case 'noCredits':
				return reject(402, 'Credits insufficient');
			case 'full':
				return reject(429, 'too many concurrent tasks');
			default:
				throw buildResetError();
		}
	}

	private async answerDetails(taskId: string): Promise<Answer> {
		const { clock, faults } = this.options;
		const time = clock.now - this.beganAt;
		const task = this.find(taskId);
		const fault = faults.find(({ from, until, item }) => {
			const isNow = from <= time && time < until;
			return isNow && (item === undefined || item === task?.item);
		});
		this.looks.push({ taskId, at: clock.now });
		if (fault) this.faulty++;
		if (fault?.how === '500') return { statusCode: 500, body: '{"code":500,"msg":"fault"}' };
		if (fault?.how === '429') return reject(429, 'Too many requests');
		if (fault?.how === 'malformed') return { statusCode: 200, body: '<html>' };
		if (fault?.how === 'hangs') return await new Promise<never>(() => {});
		if (fault) throw buildResetError();
		if (!task || clock.now < task.at + task.fate.knownAfter) return reject(422, 'no such task');
		return this.describe(task, taskId);
	}

	private describe(task: Creation, taskId: string): Answer {
		const { fate, endsAt } = task;
		const sayCost = (creditsConsumed: number) => {
			task.saidCosts.push(creditsConsumed);
			return { taskId, creditsConsumed };
		};
		if (this.options.clock.now < endsAt) {
			const isSaid = this.options.costs === 'atOnce';
			const record = isSaid ? sayCost(this.findHighestCost(task)) : { taskId };
			return say({ ...record, state: 'generating' });
		}
		const resultJson = { resultUrls: [`${this.filesUrl}/${taskId}.png`] };
		if (fate.end === 'silent') return reject(408, 'upstream is silent');
		const record = sayCost(this.findCost(task));
		if (fate.end === 'failed')
			return say({ ...record, state: 'fail', failCode: '501', failMsg: `blocked ${taskId}` });
		return say({ ...record, state: 'success', resultJson });
	}

	/** What a task costs in the end. */
	findCost = ({ fate }: Creation): number =>
		fate.end === 'failed' && this.options.costs === 'atOnce' ? 0 : fate.price;

	/** The highest cost that the service says of a task. */
	findHighestCost = (task: Creation): number =>
		this.options.costs === 'atOnce' ? task.fate.price + 1 : this.findCost(task);

	private scheduleCallbacks(creation: Creation, url: string): void {
		const { clock } = this.options;
		const { fate, endsAt } = creation;
		if (endsAt === Infinity) return;
		const schedule = (late: number, type: string) =>
			clock.after(endsAt + late - clock.now, () => void this.send(creation, url, type));
		if (fate.progress) schedule(-100, fate.progress);
		for (const late of fate.callbacks) schedule(late, 'done');
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
		// n8n takes a callback of progress, which continues nothing.
		const { resumed } = (answered.answer ?? {}) as { resumed?: boolean };
		if (resumed || ![200, 302, 401, 404, 409, 502, 503].includes(answered.status))
			this.wrong.push(`${answered.status} for progress of ${taskId}`);
	}
}

interface Request {
	input: { item: number };
	callBackUrl?: string;
}
