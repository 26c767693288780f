import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { Clock } from './clock.cts';
import {
	APPROVED_AFTER,
	N8n,
	type Conditions,
	type Ended,
	type Execution,
	type Settings,
	type Thrown,
} from './n8n.cts';
import type { Process } from './process.cts';
import { Service, type Costs, type Creation, type Fate, type Fault } from './service.cts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Something that befalls n8n, at a moment since the world began, or when a process asks for something. */
export interface Accident {
	when: { at: number } | { ask: number };
	/** `kill`: the process that asks. */
	what: 'kill' | 'kill 0' | 'kill 1' | 'stop';
}

/** How the user has set the node. */
export interface Choices extends Pick<Settings, 'onError' | 'maxTries' | 'executeOnce'> {
	howToWait: 'automatic' | 'callback' | 'polling';
	/** In milliseconds. */
	limit: number;
	failedTasks: 'error' | 'output';
	downloads: boolean;
	/** Maximum Tasks per Run. */
	maxTasks: number | undefined;
	/** Maximum Credits per Run. */
	maxCredits: number | undefined;
	concurrency: number;
	/** More of Options. */
	options?: IDataObject;
}

/** All that decides what happens in a world. */
export interface Plan extends Conditions, Choices, Costs {
	/** The nodes, one after the other, and the fates of the tasks of each of their items. */
	steps: Array<{ node: string; items: Fate[][] }>;
	/** Whether the credential has a key. */
	hasKey: boolean;
	faults: Fault[];
	/** Of the service's answers, in turn. */
	latencies: number[];
	accidents: Accident[];
	/** The user retries it from the list, each time with these settings. */
	retries: Array<Partial<Choices>>;
	/** In place of random numbers. */
	luck: number;
}

/** When a run that fell asleep asks the service itself, by luck. */
const SOON = { least: 3_750, most: 6_250 };

/** How often something has happened in all worlds. */
export const happened: Record<string, number> = {};

const count = (what: string) => void (happened[what] = (happened[what] ?? 0) + 1);

/** The item of a step, in the request for its task. */
const keyOf = (step: number, item: number) => 10 * step + item;

/** What an item has, where n8n has put the error in place of its JSON, of a task. */
const TASK_ERROR = /^"The task (?<what>failed|had not ended).* Task ID: (?<taskId>\S+)"$/;

/** What n8n says of an item: its task, whether at the good output or as an error. */
function readTask({ json }: INodeExecutionData): { taskId?: string; status?: string } {
	const { what, taskId } = TASK_ERROR.exec(JSON.stringify(json.error) ?? '')?.groups ?? {};
	if (what) return { taskId, status: what === 'failed' ? 'failed' : 'timedOut' };
	return { ...json, ...(json.details as object | undefined) };
}

/** What an error says. */
const readText = (error?: Thrown) => `${error?.message} ${error?.description}`;

const countTries = ({ maxTries, failedTasks }: Choices): number =>
	maxTries > 0 && failedTasks === 'error' ? Math.min(5, Math.max(2, maxTries)) : 1;

const isUnknown = ({ fate, isLate }: Creation) =>
	isLate || ['lost', 'reset', 'broken'].includes(fate.creation);

/** The node gets the ID of its task in time. */
const isKnown = ({ fate, isLate }: Creation) => fate.creation === 'ok' && !isLate;

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

/** Before n8n's timeout, the last creation begins, and its outcome is to be known. */
const LAST_CREATION_BEFORE_TIMEOUT = 8 * SECOND;
const OUTCOME_BEFORE_TIMEOUT = 3 * SECOND;

/** A retry sends again what is of unknown outcome. What that was to take the place of counts no more. */
const isReplaced = (task: Creation, all: Creation[]) =>
	all.slice(all.indexOf(task) + 1).some((one) => one.item === task.item && isUnknown(one));

/** A service, an n8n, and what happens in them. */
export class World {
	readonly clock = new Clock();
	readonly n8n: N8n;
	readonly service: Service;
	/** What must not be. */
	readonly wrong: string[] = [];
	readonly startedAt = this.clock.now;
	private readonly choices = new Map<string, Choices>();
	private asks = 0;
	/** Processes were killed, or the execution stopped. */
	wasKilled = false;

	constructor(readonly plan: Plan) {
		const steps = plan.steps.map(({ node, items }, step) => ({
			node,
			input: items.map((_, item) => ({ item: keyOf(step, item) })),
		}));
		const onStep = (process: Process) => this.onAsk(process);
		const machine = { onStep, luck: plan.luck };
		this.n8n = new N8n(this.clock, steps, plan, () => this.service, machine, count);
		const fates = plan.steps.flatMap(({ items }, step) =>
			items.map((all, item): [number, Fate[]] => [keyOf(step, item), all]),
		);
		this.service = new Service({
			clock: this.clock,
			fates: new Map(fates),
			faults: plan.faults,
			latencies: plan.latencies,
			costs: plan.costs,
			callBack: async (...given) => await this.n8n.callBack(...given),
			onCreation: (creation, before) => this.checkCreation(creation, before),
			count,
		});
		if (plan.hasKey) this.service.key = this.n8n.credentials.webhookSecret;
		else this.n8n.credentials.webhookSecret = '';
		for (const { when, what } of plan.accidents)
			if ('at' in when) this.clock.after(when.at, () => this.befall(what));
	}

	/** Lets everything happen. */
	async run(): Promise<this> {
		const { n8n, plan } = this;
		let last = this.startExecution(plan);
		await this.runToEnd();
		for (const changes of plan.retries) {
			if (last.status !== 'error' && last.status !== 'crashed') break;
			count('retry');
			last = this.startExecution({ ...plan, ...changes }, last);
			await this.runToEnd();
		}
		// What comes late changes nothing.
		await this.clock.runUntil(this.clock.now + 24 * 60 * MINUTE, () => !this.isEndless);
		n8n.release();
		return this;
	}

	startExecution(choices: Choices, before?: Execution): Execution {
		const { n8n } = this;
		const settings = { ...choices, parameters: toParameters(choices) };
		// n8n asks for something before it has an ID.
		const begun = before ? n8n.retry(before, settings) : n8n.start(settings);
		this.choices.set(begun.id, choices);
		return begun;
	}

	/** Lets time pass until no execution goes on. */
	async runToEnd(): Promise<void> {
		const isOpen = ({ status }: Execution) => status === 'running' || status === 'waiting';
		const goesOn = () => !this.isEndless && this.n8n.executions.some(isOpen);
		await this.clock.runUntil(this.clock.now + 24 * 60 * MINUTE, goesOn);
	}

	/** What goes wrong again and again would take a day of this world, and minutes of ours. */
	private get isEndless(): boolean {
		return this.wrong.length > 20;
	}

	private onAsk(process: Process): void {
		const number = this.asks++;
		for (const { when, what } of this.plan.accidents)
			if ('ask' in when && when.ask === number) this.befall(what, process);
	}

	private befall(what: Accident['what'], process?: Process): void {
		const { n8n } = this;
		const last = n8n.executions.at(-1);
		count(`${what.split(' ')[0]} while ${last?.status}`);
		if (what === 'stop') return void (last && n8n.stop(last));
		this.wasKilled = true;
		const index = process ? n8n.processes.indexOf(process) : Number(what.at(-1));
		if (index >= 0) n8n.kill(index);
	}

	private choicesOf({ id }: Execution): Choices {
		return this.choices.get(id) ?? this.plan;
	}

	/** A task is created only where none may exist, or in place of one whose failure n8n was given. */
	private checkCreation(creation: Creation, before: Creation[]): void {
		const { execution: id, process } = creation.sender;
		const execution = this.n8n.executions.find((one) => one.id === id) as Execution;
		const say = (what: string) => this.wrong.push(`${what}: item ${creation.item} of ${id}`);
		const own = before.filter(({ sender }) => sender.execution === id);
		// Where n8n repeats a run with old data in another process, nobody there can know.
		if (this.n8n.repeats && own.some(({ sender }) => sender.process !== process)) return;
		if (this.clock.now > execution.stoppedAt) say('created though it was stopped');
		if (creation.callBackUrl && this.choicesOf(execution).howToWait === 'polling')
			say('calls back, though it polls');
		this.checkTimeout(execution, creation);
		if (own.some(isUnknown)) say('created after an unknown outcome');
		this.checkOutage(execution, creation);
		const most = countTries(this.choicesOf(execution));
		const tasks = own.filter(isKnown);
		if (tasks.length >= most && tasks.length > 0) say('more tasks than tries');
		this.checkRoom(execution, creation);
		this.checkCredits(execution, creation);
		const last = before.filter(isKnown).at(-1);
		const { sender, taskId = '', fate } = last ?? {};
		if (!last || !sender || !fate) return;
		if (sender.execution !== id && !execution.storedBefore.includes(taskId)) return;
		// In a retry, what expressions return now may be another request.
		const isOther = this.plan.varies && sender.execution !== id;
		if (isOther || isReplaced(last, before)) return;
		count('task created again');
		if (fate.end !== 'failed' || last.endsAt > this.clock.now)
			say(`${taskId} was not a final failure`);
		if (!execution.given.some((text) => text.includes(taskId))) say(`${taskId} wasn't given`);
	}

	/** n8n's timeout may come while the service answers. */
	private checkTimeout({ timeoutAt, id }: Execution, creation: Creation): void {
		const left = timeoutAt - this.clock.now;
		if (left <= LAST_CREATION_BEFORE_TIMEOUT && !this.plan.skew)
			this.wrong.push(`created too late in ${id}`);
		creation.isLate = creation.fate.latency > left - OUTCOME_BEFORE_TIMEOUT;
		if (creation.isLate) count('creation late');
	}

	/** Three unknown outcomes in a row are the last creations of a node in an execution. */
	private checkOutage({ id }: Execution, { item }: Creation): void {
		// Several at once may be on their way.
		if (this.plan.concurrency > 1 || this.n8n.repeats) return;
		const isOwn = (one: Creation) => one.sender.execution === id;
		const last = this.service.creations.filter((one) => isOwn(one) && this.isOfNode(one, item));
		const inARow = last.slice(-3).filter(isUnknown);
		if (inARow.length === 3) this.wrong.push(`created in an outage: item ${item} of ${id}`);
	}

	private isOfNode(creation: Creation, item: number): boolean {
		const [one, other] = [creation.item, item].map(
			(key) => this.plan.steps[Math.floor(key / 10)]?.node,
		);
		return one === other;
	}

	/** Maximum Tasks per Run counts all that an execution creates, over all runs of a node. */
	private checkRoom(execution: Execution, { item }: Creation): void {
		const { maxTasks = Infinity } = this.choicesOf(execution);
		const own = this.service.creations.filter(
			(one) => one.taskId && one.sender.execution === execution.id && this.isOfNode(one, item),
		);
		if (own.length >= maxTasks && !this.n8n.repeats)
			this.wrong.push('more tasks than Options allow');
	}

	/**
	 * Maximum Credits per Run: a task is created only once the costs of all before it are known, and fit
	 * into the limit beside one like the dearest of them.
	 */
	private checkCredits(execution: Execution, { item }: Creation): void {
		const { maxCredits } = this.choicesOf(execution);
		if (maxCredits === undefined || this.n8n.repeats) return;
		const own = this.listPaid(execution, item);
		const known = own.filter(isKnown).map(({ told }) => told);
		const unknown = own.filter(isUnknown).length;
		const say = (what: string) => this.wrong.push(`${what}: item ${item} of ${execution.id}`);
		if (known.some((told) => !told.length)) say('created before a cost was known');
		if (unknown && !known.flat().some(Boolean)) say('created though no cost was known');
		// The node may have been told more before.
		const lasts = known.map((told) => told.at(-1) ?? 0);
		const highest = Math.max(0, ...lasts);
		if (sum(lasts) + (unknown + 1) * highest > maxCredits) say('more credits than Options allow');
		if (own.length) count('another within credits');
	}

	/** What an execution has created for the node of an item, or may have. */
	private listPaid({ id }: Execution, item: number): Creation[] {
		return this.service.creations.filter(
			(one) =>
				(isKnown(one) || isUnknown(one)) && one.sender.execution === id && this.isOfNode(one, item),
		);
	}

	/** Whatever happens, at most the limit and one task is spent by a node, of what has an ID. */
	private checkSpent(execution: Execution): void {
		const { maxCredits = Infinity } = this.choicesOf(execution);
		for (const step of this.plan.steps.keys()) {
			const paid = this.listPaid(execution, keyOf(step, 0)).filter(isKnown);
			const costs = paid.map((task) => this.service.findCost(task));
			if (sum(costs) > maxCredits + Math.max(0, ...costs) && !this.n8n.repeats)
				this.wrong.push(`${execution.id} has spent ${sum(costs)} credits`);
		}
		const said = readText(execution.error) + JSON.stringify(execution.ended);
		if (said.includes("'Maximum Credits per Run'"))
			count(said.includes("isn't known") ? 'cost unknown' : 'stopped by credits');
	}

	/** Where nothing is in the way, the output follows the last callback. */
	private checkPromptness({ step, sleptAt, endedAt }: Ended): void {
		const { plan, service } = this;
		const { runsIn, callbacksTo, skew, downloads, latencies } = plan;
		const isOne = [...runsIn, ...callbacksTo].every((index) => index === 0) && !skew;
		if (!isOne || !this.isInOrder || downloads || this.n8n.repeats) return;
		const told = (plan.steps[step]?.items ?? []).map((_, item) => {
			const last = service.listOf(keyOf(step, item)).at(-1);
			const isTold = (one: Service['answered'][0]) =>
				one.taskId === last?.taskId && one.status === 200 && one.at >= last.endsAt;
			const at = service.answered.find(isTold)?.at ?? Infinity;
			// Nobody may call for what ended before n8n had stored the sleep: the run looks soon after.
			const isFound = last && last.fate.end !== 'silent';
			const isEarly = isFound && sleptAt && last.endsAt < sleptAt + SOON.least - SECOND;
			if (isEarly && at > endedAt) count('found soon');
			return isEarly ? Math.min(at, sleptAt + SOON.most) : at;
		});
		// Woken with a failure, the node is tried again by n8n, which waits a second before each.
		const patience = 5 * Math.max(...latencies) + (2 + plan.maxTries) * SECOND;
		const latest = Math.max(sleptAt ?? Infinity, ...told) + patience;
		if (latest < Infinity) count('prompt');
		if (endedAt > latest) this.wrong.push(`came ${endedAt - latest} ms too late`);
	}

	/** @throws {Error} unless all holds that must, whatever has happened */
	check(): void {
		const { n8n, wrong } = this;
		wrong.push(...n8n.wrong, ...this.service.wrong);
		this.checkRepeats();
		if (n8n.open) wrong.push('somebody waits for an answer');
		this.checkSecrets();
		for (const execution of n8n.executions) this.checkExecution(execution);
		for (const execution of n8n.executions) this.checkCosts(execution);
		for (const execution of n8n.executions) this.checkSpent(execution);
		const known = [...n8n.log, ...n8n.executions.map(({ stored }) => stored)].join();
		for (const { taskId, isAnswered } of this.service.creations)
			if (taskId && isAnswered && !known.includes(taskId)) wrong.push(`${taskId} is lost`);
		if (wrong.length) throw new Error([...wrong, this.describe()].join('\n'));
	}

	/** Says what has happened. */
	describe(): string {
		const { log, executions } = this.n8n;
		const runs = executions.map(
			({ id, status, error, ended }) =>
				`${id} ${status} ${readText(error)} ${JSON.stringify(ended, null, 1)}`,
		);
		return [...log, ...runs].join('\n');
	}

	/** In one process, only n8n's own end of a sleep lets n8n run an execution twice. */
	private checkRepeats(): void {
		const { runsIn, callbacksTo, slotWaits } = this.plan;
		const isOne = [...runsIn, ...callbacksTo].every((index) => index === 0) && !this.wasKilled;
		const isLong = Math.max(...slotWaits) > MINUTE || this.plan.storeFailures > 0;
		const byN8n = this.n8n.executions.some(({ ended }) => ended.some((one) => one.byN8n));
		if (isOne && !isLong && !byN8n && this.n8n.repeats) this.wrong.push('was woken twice');
	}

	private checkSecrets(): void {
		const { n8n } = this;
		const { accessToken, webhookSecret } = n8n.credentials;
		const shown = n8n.executions.map(({ ended, error }) => [ended, readText(error)]);
		const said = JSON.stringify([shown, n8n.log]);
		for (const secret of [accessToken, webhookSecret, n8n.token])
			if (secret && said.includes(secret)) this.wrong.push(`says ${secret}`);
	}

	private checkExecution(execution: Execution): void {
		const { wrong, plan } = this;
		const { status, id, ended } = execution;
		if (status === 'running' || status === 'waiting') wrong.push(`${id} is ${status} for ever`);
		for (const one of ended) this.checkStep(execution, one);
		if (status === 'success' && ended.at(-1)?.step !== plan.steps.length - 1)
			wrong.push(`${id} has left out steps`);
		if (status === 'error') this.checkError(execution, execution.step);
		// A try may begin just before it.
		const mayTimeOut = this.choicesOf(execution).maxTries > 0 || this.n8n.repeats > 0;
		const hasPaid = this.service.creations.some(
			({ sender, item }) => sender.execution === id && Math.floor(item / 10) === execution.step,
		);
		if (execution.hasTimedOut && hasPaid && !mayTimeOut) wrong.push(`${id} has timed out`);
		if (!this.n8n.repeats && new Set(ended.map(({ step }) => step)).size < ended.length)
			wrong.push(`${id} was delivered twice`);
	}

	/** Each task counts once, with what the execution and those before it have paid. */
	private checkCosts({ id, metadata, ended, status }: Execution): void {
		const { n8n, service, wrong } = this;
		const { Media_Generation_credits: credits = '0' } = metadata;
		const paid = service.creations.filter(({ taskId }) => taskId);
		const tasks = ended.flatMap(({ items, errors }) => [...items, ...errors].map(readTask));
		const over = tasks.filter(({ status: said }) => said === 'completed' || said === 'failed');
		const isOver = (task: Creation) => over.some(({ taskId }) => taskId === task.taskId);
		const mostOf = (task: Creation) =>
			isOver(task) ? service.findCost(task) : service.findMostSaid(task);
		const most = sum(paid.map(mostOf));
		const least = sum(paid.filter(isOver).map(service.findCost));
		if (Number(credits) > most) wrong.push(`${id} shows ${credits} credits`);
		if (status === 'success' && !n8n.repeats && Number(credits) < least)
			wrong.push(`${id} shows ${credits} credits for ${least} tasks`);
		if (least) count('costs shown');
	}

	/** An error that ends an execution names all tasks of its run, and is true. */
	private checkError(execution: Execution, step: number, error = execution.error): void {
		const { id } = execution;
		const text = readText(error);
		for (const one of this.listKnown(execution).filter(isKnown)) {
			const { taskId = '', item } = one;
			const isOfRun = Math.floor(item / 10) === step;
			if (isOfRun && !this.n8n.repeats && !text.includes(taskId))
				this.wrong.push(`the error of ${id} doesn't name ${taskId}: ${text}`);
		}
		const failed = /Task ID: (\S+)$/.exec(text)?.[1];
		count(failed ? 'error of a task' : 'other error');
		if (failed) this.checkStatus(failed, /^The task failed/.test(text) ? 'failed' : 'timedOut');
	}

	/** The tasks that are an execution's: its own, and those that it has taken over. */
	private listKnown({ id, storedBefore }: Execution): Creation[] {
		const { creations } = this.service;
		return creations.filter((one) => {
			const { sender, taskId = '', isAnswered } = one;
			const isSame = !this.plan.varies && !isReplaced(one, creations);
			const isTaken = isSame && storedBefore.includes(taskId);
			return taskId && isAnswered && (sender.execution === id || isTaken);
		});
	}

	private checkStatus(taskId: string, status: string, at = Infinity): void {
		const task = this.service.find(taskId);
		const { end } = task?.fate ?? {};
		const hasEnded = task && task.endsAt <= at;
		const isTrue = {
			completed: hasEnded && (end === 'completed' || end === 'expired'),
			failed: hasEnded && end === 'failed',
			timedOut: true,
		}[status];
		if (!isTrue) this.wrong.push(`${taskId} is said to be ${status}, and is ${end}`);
	}

	/** What comes out of a step is its own tasks, as they are. */
	private checkStep(execution: Execution, ended: Ended): void {
		const { plan, wrong } = this;
		const { step, items, errors, error, begunAt, sleptAt, endedAt } = ended;
		const { node, items: input = [] } = plan.steps[step] ?? {};
		if (node === 'Wait') {
			// Neither a callback nor a nudge of an earlier step approves in place of a user.
			const isFirst = !ended.isRepeated && execution.mode === 'trigger';
			if (isFirst && !plan.slotWaits.some(Boolean))
				if (endedAt - begunAt !== APPROVED_AFTER) wrong.push('was approved by nobody');
			return;
		}
		if (sleptAt !== undefined) this.checkSleep(execution);
		this.checkPromptness(ended);
		count(ended.byN8n ? 'sleep ended by n8n' : sleptAt === undefined ? 'step awake' : 'step woken');
		if (errors.length) count('error output');
		// n8n passes the input on where the node throws.
		if (error) return this.checkError(execution, step, error);
		const all = [...items, ...errors];
		if (all.length !== input.length) wrong.push(`${all.length} items for ${input.length}`);
		const { onError, failedTasks } = this.choicesOf(execution);
		const areApart = onError === 'continueErrorOutput' && failedTasks === 'error';
		const goodOnes = items.map((one) => readTask(one).status);
		if (areApart && goodOnes.some((status) => status === 'failed' || status === 'timedOut'))
			wrong.push('a failed task is at the good output');
		for (const one of all) {
			const { item = -1 } = (one.pairedItem ?? {}) as { item?: number };
			this.checkItem(execution, ended, { one, key: keyOf(step, item) });
		}
	}

	private checkSleep(execution: Execution): void {
		const { resumeUrl, responseMode } = this.plan;
		const { howToWait } = this.choicesOf(execution);
		// Nobody waits for a retry.
		const isWaitedFor = responseMode !== 'onReceived' && execution.mode === 'trigger';
		if (howToWait === 'polling' || isWaitedFor) this.wrong.push('slept');
		if (resumeUrl !== 'here' && howToWait !== 'callback') this.wrong.push('slept in vain');
	}

	private checkItem(
		execution: Execution,
		ended: Ended,
		{ one, key }: { one: INodeExecutionData; key: number },
	): void {
		const { taskId, status } = readTask(one);
		const known = this.listKnown(execution).filter(
			(known) => known.item === key && known.at <= ended.endedAt && isKnown(known),
		);
		const last = known.at(-1);
		// Where n8n ran it twice, what one run has created is not known to the other.
		if (this.n8n.repeats) return;
		const latest = this.service.listOf(key).at(-1);
		const isLatestKnown = !latest || isKnown(latest);
		const isNamed = !last?.taskId || JSON.stringify(one).includes(last.taskId);
		// What a creation of unknown outcome replaces was told of before.
		if (!isNamed && isLatestKnown) this.wrong.push(`${last.taskId} is not in its item`);
		if (status === undefined) {
			// A try that could not create a failed task again says why, and names it.
			const mayFail = this.plan.parkingFails || last?.fate.end === 'failed';
			if (last && isLatestKnown && !mayFail) this.wrong.push(`${last.taskId} has no status`);
			return;
		}
		count(`item ${status}`);
		if (one.error) count('error in place of JSON');
		if (last?.sender.execution !== execution.id) count('task taken over');
		this.checkStatus(taskId ?? '', status, ended.endedAt);
		const isCutShort = this.plan.timeout < Infinity;
		if (last && status === 'timedOut' && !isCutShort) this.checkTimedOut(execution, ended, last);
	}

	/** No wait is over before its limit, and what ended in time comes out as it ended. */
	private checkTimedOut(execution: Execution, ended: Ended, task: Creation): void {
		const { taskId, endsAt, fate } = task;
		const { limit } = this.choicesOf(execution);
		const isOwn = ({ sender }: Creation) => sender.execution === execution.id;
		const isFull = (one: Creation) =>
			isOwn(one) && one.fate.creation === 'full' && Math.floor(one.item / 10) === ended.step;
		// The limit counts from the last creation, or from when the service took no more tasks.
		const first = this.service.creations.find(isFull);
		const begun = isOwn(task) ? task.at : ended.begunAt;
		const since = Math.min(first?.at ?? Infinity, begun);
		const until = since + limit;
		const early = 6 * SECOND + 2 * Math.abs(this.plan.skew);
		// A slot that comes late lets n8n's timer for one sleep end the next one (docs/operation.md).
		// A crash after it lets a retry pass on once more what n8n has stored.
		const isLate = this.plan.slotWaits.some(Boolean) || execution.mode === 'retry';
		const isOfBefore = ended.byN8n && isLate;
		if (!isOfBefore && ended.endedAt < until - early) this.wrong.push(`${taskId}: too early`);
		if (fate.end !== 'silent' && this.isInOrder && endsAt < until - early - 4 * SECOND)
			this.wrong.push(`${taskId}: told too late`);
	}

	/** Nobody's requests and answers get lost. */
	get isInOrder(): boolean {
		const { plan } = this;
		const isSound = !plan.faults.length && !plan.storeFailures && !this.wasKilled;
		const isQuick = Math.max(...plan.latencies) <= SECOND && !plan.slotWaits.some(Boolean);
		const isKnown = plan.steps.every(({ items }) =>
			items.flat().every(({ knownAfter, latency }) => !knownAfter && latency < SECOND),
		);
		return isSound && isQuick && isKnown && plan.resumeUrl === 'here' && !plan.parkingFails;
	}
}

function toParameters(choices: Choices): IDataObject {
	const { howToWait, limit, failedTasks, downloads, maxTasks, maxCredits, concurrency, options } =
		choices;
	return {
		resource: 'task',
		operation: 'generate',
		model: 'any',
		anyModel: 'a/b',
		inputMode: 'json',
		options: {
			howToWait,
			waitLimit: limit / MINUTE,
			failedTasks,
			downloadResults: downloads,
			tasksPer10Seconds: 0,
			concurrency,
			timeoutSeconds: 20,
			...(maxTasks && { maxTasksPerRun: maxTasks }),
			...(maxCredits && { maxCreditsPerRun: maxCredits }),
			...options,
		},
	};
}
