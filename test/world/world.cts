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

/** Something that befalls n8n. */
export interface Accident {
	/** Milliseconds since the world began, or the number of a request of a process. */
	when: { after: number } | { atRequest: number };
	/** `kill`: the process that sends the request. */
	what: 'kill' | 'kill 0' | 'kill 1' | 'stop';
}

/** How the user has set the node. */
export interface Choices extends Pick<Settings, 'onError' | 'maxTries' | 'executeOnce'> {
	howToWait: 'automatic' | 'callback' | 'polling';
	/** The wait limit, in milliseconds. */
	limit: number;
	failedTasks: 'error' | 'output';
	downloads: boolean;
	/** Maximum Tasks per Run. */
	maxTasks: number | undefined;
	/** Maximum Credits per Run. */
	maxCredits: number | undefined;
	concurrency: number;
	/** Further entries of Options. */
	options?: IDataObject;
}

/** All that decides what happens in a world. */
export interface Plan extends Conditions, Choices, Costs {
	/** The nodes, one after the other, and the fates of the tasks of each of their items. */
	steps: Array<{ node: string; items: Fate[][] }>;
	/** Whether the credential has a key. */
	hasKey: boolean;
	faults: Fault[];
	/** How long the service's answers take, in turn. */
	latencies: number[];
	accidents: Accident[];
	/** The user's retries from the list, each with changed settings. */
	retries: Array<Partial<Choices>>;
	/** Stands in place of random numbers. */
	luck: number;
}

/** When a run that fell asleep looks by itself, which is left to chance. */
const SOON = { least: 3_750, most: 6_250 };

/** How often something has happened in all worlds. */
export const happened: Record<string, number> = {};

const count = (what: string) => void (happened[what] = (happened[what] ?? 0) + 1);

/** Names an item of a step in the request for its task. */
const buildKey = (step: number, item: number) => 10 * step + item;

/** The error of a task, in an item where n8n has put it in place of the JSON. */
const TASK_ERROR = /^"The task (?<what>failed|had not ended).* Task ID: (?<taskId>\S+)"$/;

/** Reads the task of an item, whether at the good output or as an error. */
function readTask({ json }: INodeExecutionData): { taskId?: string; status?: string } {
	const { what, taskId } = TASK_ERROR.exec(JSON.stringify(json.error) ?? '')?.groups ?? {};
	if (what) return { taskId, status: what === 'failed' ? 'failed' : 'timedOut' };
	return { ...json, ...(json.details as object | undefined) };
}

/** Reads what an error says. */
const readText = (error?: Thrown) => `${error?.message} ${error?.description}`;

const countTries = ({ maxTries, failedTasks }: Choices): number =>
	maxTries > 0 && failedTasks === 'error' ? Math.min(5, Math.max(2, maxTries)) : 1;

const isUnknown = ({ fate, isLate }: Creation) =>
	isLate || ['lost', 'reset', 'malformed'].includes(fate.creation);

/** The node gets the ID of its task in time. */
const isKnown = ({ fate, isLate }: Creation) => fate.creation === 'ok' && !isLate;

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

/** How long before n8n's timeout the last creation may begin. */
const LAST_CREATION_BEFORE_TIMEOUT = 8 * SECOND;
/** How long before n8n's timeout the outcome of each creation must be known. */
const OUTCOME_BEFORE_TIMEOUT = 3 * SECOND;

/**
 * A retry from the list creates an item of unknown outcome again. Tasks of the item from before then no
 * longer count.
 */
const isReplaced = (task: Creation, all: Creation[]) =>
	all.slice(all.indexOf(task) + 1).some((one) => one.item === task.item && isUnknown(one));

/** A service, an n8n, and what happens in them. */
export class World {
	readonly clock = new Clock();
	readonly n8n: N8n;
	readonly service: Service;
	/** What was found wrong. */
	readonly wrong: string[] = [];
	readonly startedAt = this.clock.now;
	private readonly choices = new Map<string, Choices>();
	private requests = 0;
	/** Whether a process was killed. */
	wasKilled = false;

	constructor(readonly plan: Plan) {
		const steps = plan.steps.map(({ node, items }, step) => ({
			node,
			input: items.map((_, item) => ({ item: buildKey(step, item) })),
		}));
		const onRequest = (process: Process) => this.onRequest(process);
		const machine = { onRequest, luck: plan.luck };
		this.n8n = new N8n(this.clock, steps, plan, () => this.service, machine, count);
		const fates = plan.steps.flatMap(({ items }, step) =>
			items.map((all, item): [number, Fate[]] => [buildKey(step, item), all]),
		);
		this.service = new Service({
			clock: this.clock,
			fates: new Map(fates),
			faults: plan.faults,
			latencies: plan.latencies,
			costs: plan.costs,
			callBack: async (...callback) => await this.n8n.callBack(...callback),
			onCreation: (creation, before) => this.checkCreation(creation, before),
			count,
		});
		if (plan.hasKey) this.service.key = this.n8n.credentials.webhookSecret;
		else this.n8n.credentials.webhookSecret = '';
		for (const { when, what } of plan.accidents)
			if ('after' in when) this.clock.after(when.after, () => this.befall(what));
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
		const execution = before ? n8n.retry(before, settings) : n8n.start(settings);
		this.choices.set(execution.id, choices);
		return execution;
	}

	/** Lets time pass until no execution goes on. */
	async runToEnd(): Promise<void> {
		const isUnderway = ({ status }: Execution) => status === 'running' || status === 'waiting';
		const goesOn = () => !this.isEndless && this.n8n.executions.some(isUnderway);
		await this.clock.runUntil(this.clock.now + 24 * 60 * MINUTE, goesOn);
	}

	/** Whether a mistake repeats without end, as it would for a day of this world, which takes minutes of real time. */
	private get isEndless(): boolean {
		return this.wrong.length > 20;
	}

	private onRequest(process: Process): void {
		const number = this.requests++;
		for (const { when, what } of this.plan.accidents)
			if ('atRequest' in when && when.atRequest === number) this.befall(what, process);
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

	/** While the first execution starts, its ID isn't in the map yet. This execution has the choices of the plan. */
	private findChoices({ id }: Execution): Choices {
		return this.choices.get(id) ?? this.plan;
	}

	/** Each creation needs a reason: no task can exist yet, or n8n was given the failure of the last one. */
	private checkCreation(creation: Creation, before: Creation[]): void {
		const { execution: id, process } = creation.sender;
		const execution = this.n8n.executions.find((one) => one.id === id) as Execution;
		this.noteLateness(execution, creation);
		const say = (what: string) => this.wrong.push(`${what}: item ${creation.item} of ${id}`);
		const own = before.filter(({ sender }) => sender.execution === id);
		// Where n8n repeats a run with old data in another process, that process can't know of the task.
		if (this.n8n.repeats && own.some(({ sender }) => sender.process !== process)) return;
		if (this.clock.now > execution.stoppedAt) say('created though it was stopped');
		if (creation.callBackUrl && this.findChoices(execution).howToWait === 'polling')
			say('calls back, though it polls');
		this.checkTimeout(execution);
		if (own.some(isUnknown)) say('created after an unknown outcome');
		this.checkOutage(execution, creation);
		const most = countTries(this.findChoices(execution));
		const tasks = own.filter(isKnown);
		if (tasks.length >= most && tasks.length > 0) say('more tasks than tries');
		this.checkMaxTasks(execution, creation);
		this.checkCredits(execution, creation);
		const last = before.filter(isKnown).at(-1);
		const { sender, taskId = '', fate } = last ?? {};
		if (!last || !sender || !fate) return;
		if (sender.execution !== id && !execution.storedBefore.includes(taskId)) return;
		// In a retry, the expressions may return another request than before.
		const isOther = this.plan.varies && sender.execution !== id;
		if (isOther || isReplaced(last, before)) return;
		count('task created again');
		if (fate.end !== 'failed' || last.endsAt > this.clock.now)
			say(`${taskId} was not a final failure`);
		if (!execution.outputs.some((text) => text.includes(taskId))) say(`${taskId} wasn't given`);
	}

	/** Marks a creation that the service answers too late for n8n's timeout. */
	private noteLateness({ timeoutAt }: Execution, creation: Creation): void {
		const timeLeft = timeoutAt - this.clock.now;
		creation.isLate = creation.fate.latency > timeLeft - OUTCOME_BEFORE_TIMEOUT;
		if (creation.isLate) count('creation late');
	}

	private checkTimeout({ timeoutAt, id }: Execution): void {
		const timeLeft = timeoutAt - this.clock.now;
		if (timeLeft <= LAST_CREATION_BEFORE_TIMEOUT && !this.plan.skew)
			this.wrong.push(`created too late in ${id}`);
	}

	/** Three unknown outcomes in a row are the last creations of a node in an execution. */
	private checkOutage({ id }: Execution, { item }: Creation): void {
		// Several creations may be under way at once.
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
	private checkMaxTasks(execution: Execution, { item }: Creation): void {
		const { maxTasks = Infinity } = this.findChoices(execution);
		const own = this.service.creations.filter(
			(one) => one.taskId && one.sender.execution === execution.id && this.isOfNode(one, item),
		);
		if (own.length >= maxTasks && !this.n8n.repeats)
			this.wrong.push('more tasks than Options allow');
	}

	/**
	 * Maximum Credits per Run: a task is created only once the costs of all tasks before it are known. It
	 * is expected to cost as much as the dearest of them, and must fit into the limit beside them.
	 */
	private checkCredits(execution: Execution, { item }: Creation): void {
		const { maxCredits } = this.findChoices(execution);
		if (maxCredits === undefined || this.n8n.repeats) return;
		const own = this.listPaid(execution, item);
		const costsOfTasks = own.filter(isKnown).map(({ saidCosts }) => saidCosts);
		const unknown = own.filter(isUnknown).length;
		const say = (what: string) => this.wrong.push(`${what}: item ${item} of ${execution.id}`);
		if (costsOfTasks.some((costs) => !costs.length)) say('created before a cost was known');
		if (unknown && !costsOfTasks.flat().some(Boolean)) say('created though no cost was known');
		// The service may have said a higher cost before.
		const latestCosts = costsOfTasks.map((costs) => costs.at(-1) ?? 0);
		const highest = Math.max(0, ...latestCosts);
		if (sum(latestCosts) + (unknown + 1) * highest > maxCredits)
			say('more credits than Options allow');
		if (own.length) count('another within credits');
	}

	/** The tasks that an execution has created for the node of an item, or may have. */
	private listPaid({ id }: Execution, item: number): Creation[] {
		return this.service.creations.filter(
			(one) =>
				(isKnown(one) || isUnknown(one)) && one.sender.execution === id && this.isOfNode(one, item),
		);
	}

	/** Whatever happens, the tasks of a node that have an ID cost at most the limit and one task more. */
	private checkSpent(execution: Execution): void {
		const { maxCredits = Infinity } = this.findChoices(execution);
		for (const step of this.plan.steps.keys()) {
			const paid = this.listPaid(execution, buildKey(step, 0)).filter(isKnown);
			const costs = paid.map((task) => this.service.findCost(task));
			if (sum(costs) > maxCredits + Math.max(0, ...costs) && !this.n8n.repeats)
				this.wrong.push(`${execution.id} has spent ${sum(costs)} credits`);
		}
		const text = readText(execution.error) + JSON.stringify(execution.ended);
		if (text.includes("'Maximum Credits per Run'"))
			count(text.includes("isn't known") ? 'cost unknown' : 'stopped by credits');
	}

	/** Where nothing is in the way, the output comes soon after the last callback. */
	private checkPromptness({ step, sleptAt, endedAt }: Ended): void {
		const { plan, service } = this;
		const { runsIn, callbacksTo, skew, downloads, latencies } = plan;
		const isOne = [...runsIn, ...callbacksTo].every((index) => index === 0) && !skew;
		if (!isOne || !this.isInOrder || downloads || this.n8n.repeats) return;
		const notifiedAt = (plan.steps[step]?.items ?? []).map((_, item) => {
			const last = service.listCreations(buildKey(step, item)).at(-1);
			const isOfEnd = (one: Service['answered'][0]) =>
				one.taskId === last?.taskId && one.status === 200 && one.at >= last.endsAt;
			const at = service.answered.find(isOfEnd)?.at ?? Infinity;
			// No callback may come for a task that ended before n8n had stored the sleep: the run looks soon after.
			const isFound = last && last.fate.end !== 'silent';
			const isEarly = isFound && sleptAt && last.endsAt < sleptAt + SOON.least - SECOND;
			if (isEarly && at > endedAt) count('found soon');
			return isEarly ? Math.min(at, sleptAt + SOON.most) : at;
		});
		// n8n tries a node that was woken with a failure again, and waits a second before each try.
		const patience = 5 * Math.max(...latencies) + (2 + plan.maxTries) * SECOND;
		const latest = Math.max(sleptAt ?? Infinity, ...notifiedAt) + patience;
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
		const texts = [...n8n.log, ...n8n.executions.map(({ stored }) => stored)].join();
		for (const { taskId, isAnswered } of this.service.creations)
			if (taskId && isAnswered && !texts.includes(taskId)) wrong.push(`${taskId} is lost`);
		if (wrong.length) throw new Error([...wrong, this.describe()].join('\n'));
	}

	/** Describes what has happened. */
	describe(): string {
		const { log, executions } = this.n8n;
		const facts = executions.map(
			({ id, status, error, ended }) =>
				`${id} ${status} ${readText(error)} ${JSON.stringify(ended, null, 1)}`,
		);
		return [...log, ...facts].join('\n');
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
		const text = JSON.stringify([shown, n8n.log]);
		for (const secret of [accessToken, webhookSecret, n8n.token])
			if (secret && text.includes(secret)) this.wrong.push(`says ${secret}`);
	}

	private checkExecution(execution: Execution): void {
		const { wrong, plan } = this;
		const { status, id, ended } = execution;
		if (status === 'running' || status === 'waiting') wrong.push(`${id} is ${status} for ever`);
		for (const one of ended) this.checkStep(execution, one);
		if (status === 'success' && ended.at(-1)?.step !== plan.steps.length - 1)
			wrong.push(`${id} has left out steps`);
		if (status === 'error') this.checkError(execution, execution.step);
		// A try may begin just before the timeout.
		const mayTimeOut = this.findChoices(execution).maxTries > 0 || this.n8n.repeats > 0;
		const hasPaid = this.service.creations.some(
			({ sender, item }) => sender.execution === id && Math.floor(item / 10) === execution.step,
		);
		if (execution.hasTimedOut && hasPaid && !mayTimeOut) wrong.push(`${id} has timed out`);
		if (!this.n8n.repeats && new Set(ended.map(({ step }) => step)).size < ended.length)
			wrong.push(`${id} was delivered twice`);
	}

	/** The costs that an execution shows count each task once. */
	private checkCosts({ id, metadata, ended, status }: Execution): void {
		const { n8n, service, wrong } = this;
		const { Media_Generation_credits: credits = '0' } = metadata;
		const paid = service.creations.filter(({ taskId }) => taskId);
		const tasks = ended.flatMap(({ items, errors }) => [...items, ...errors].map(readTask));
		const isEnd = (one: { status?: string }) => /^(completed|failed)$/.test(one.status ?? '');
		const endedIds = new Set(tasks.filter(isEnd).map(({ taskId }) => taskId));
		const hasEnded = (task: Creation) => endedIds.has(task.taskId);
		const findMost = (task: Creation) =>
			hasEnded(task) ? service.findCost(task) : service.findHighestCost(task);
		const most = sum(paid.map(findMost));
		const least = sum(paid.filter(hasEnded).map(service.findCost));
		if (Number(credits) > most) wrong.push(`${id} shows ${credits} credits`);
		if (status === 'success' && !n8n.repeats && Number(credits) < least)
			wrong.push(`${id} shows ${credits} credits for ${least} tasks`);
		if (least) count('costs shown');
	}

	/** An error that ends an execution names all tasks of the run. If it is the error of one task, this task has ended as the error says. */
	private checkError(execution: Execution, step: number, error = execution.error): void {
		const { id } = execution;
		const text = readText(error);
		for (const one of this.listTasks(execution).filter(isKnown)) {
			const { taskId = '', item } = one;
			const isOfRun = Math.floor(item / 10) === step;
			if (isOfRun && !this.n8n.repeats && !text.includes(taskId))
				this.wrong.push(`the error of ${id} doesn't name ${taskId}: ${text}`);
		}
		const failed = /Task ID: (\S+)$/.exec(text)?.[1];
		count(failed ? 'error of a task' : 'other error');
		if (failed) this.checkStatus(failed, /^The task failed/.test(text) ? 'failed' : 'timedOut');
	}

	/** The tasks of an execution: its own, and those that it has adopted. */
	private listTasks({ id, storedBefore }: Execution): Creation[] {
		const { creations } = this.service;
		return creations.filter((one) => {
			const { sender, taskId = '', isAnswered } = one;
			const isSame = !this.plan.varies && !isReplaced(one, creations);
			const isAdopted = isSame && storedBefore.includes(taskId);
			return taskId && isAnswered && (sender.execution === id || isAdopted);
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

	/** A step outputs its own tasks, with the truth about each. */
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
		const { onError, failedTasks } = this.findChoices(execution);
		const areApart = onError === 'continueErrorOutput' && failedTasks === 'error';
		const goodOnes = items.map((one) => readTask(one).status);
		if (areApart && goodOnes.some((status) => status === 'failed' || status === 'timedOut'))
			wrong.push('a failed task is at the good output');
		for (const one of all) {
			const { item = -1 } = (one.pairedItem ?? {}) as { item?: number };
			this.checkItem(execution, ended, { one, key: buildKey(step, item) });
		}
	}

	private checkSleep(execution: Execution): void {
		const { resumeUrl, responseMode } = this.plan;
		const { howToWait } = this.findChoices(execution);
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
		const own = this.listTasks(execution).filter(
			(task) => task.item === key && task.at <= ended.endedAt && isKnown(task),
		);
		const last = own.at(-1);
		// Where n8n runs the step twice, neither run knows what the other has created.
		if (this.n8n.repeats) return;
		const latest = this.service.listCreations(key).at(-1);
		const isLatestKnown = !latest || isKnown(latest);
		const isNamed = !last?.taskId || JSON.stringify(one).includes(last.taskId);
		// An earlier item or error has named a task that a creation of unknown outcome replaces.
		if (!isNamed && isLatestKnown) this.wrong.push(`${last.taskId} is not in its item`);
		if (status === undefined) {
			// A try that could not create a failed task again says why, and names the task.
			const mayFail = this.plan.sleepFails || last?.fate.end === 'failed';
			if (last && isLatestKnown && !mayFail) this.wrong.push(`${last.taskId} has no status`);
			return;
		}
		count(`item ${status}`);
		if (one.error) count('error in place of JSON');
		if (last?.sender.execution !== execution.id) count('task adopted');
		this.checkStatus(taskId ?? '', status, ended.endedAt);
		const isCutShort = this.plan.timeout < Infinity;
		if (last && status === 'timedOut' && !isCutShort) this.checkTimedOut(execution, ended, last);
	}

	/** No wait ends before its limit, and a task that ended in time comes out as it ended. */
	private checkTimedOut(execution: Execution, ended: Ended, task: Creation): void {
		const { taskId, endsAt, fate } = task;
		const { limit } = this.findChoices(execution);
		const isOwn = ({ sender }: Creation) => sender.execution === execution.id;
		const isFull = (one: Creation) =>
			isOwn(one) && one.fate.creation === 'full' && Math.floor(one.item / 10) === ended.step;
		// The limit counts from the last creation, or from when the service took no more tasks.
		const first = this.service.creations.find(isFull);
		const beganAt = isOwn(task) ? task.at : ended.begunAt;
		const until = Math.min(first?.at ?? Infinity, beganAt) + limit;
		const early = 6 * SECOND + 2 * Math.abs(this.plan.skew);
		// A slot that comes late lets n8n's timer for one sleep end the next sleep (docs/running-n8n.md).
		// A crash after that lets a retry output once more what n8n has stored.
		const isLate = this.plan.slotWaits.some(Boolean) || execution.mode === 'retry';
		const isOfBefore = ended.byN8n && isLate;
		if (!isOfBefore && ended.endedAt < until - early) this.wrong.push(`${taskId}: too early`);
		if (fate.end !== 'silent' && this.isInOrder && endsAt < until - early - 4 * SECOND)
			this.wrong.push(`${taskId}: found too late`);
	}

	/** Whether no request and no answer gets lost or comes late. */
	get isInOrder(): boolean {
		const { plan } = this;
		const isSound = !plan.faults.length && !plan.storeFailures && !this.wasKilled;
		const isQuick = Math.max(...plan.latencies) <= SECOND && !plan.slotWaits.some(Boolean);
		const areVisibleAtOnce = plan.steps.every(({ items }) =>
			items.flat().every(({ knownAfter, latency }) => !knownAfter && latency < SECOND),
		);
		const isReachable = plan.resumeUrl === 'here' && !plan.sleepFails;
		return isSound && isQuick && areVisibleAtOnce && isReachable;
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
