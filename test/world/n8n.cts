import { parse, stringify } from 'flatted';
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.cts';
import { Process } from './process.cts';
import { makeResponse } from './response.cts';
import type { Service } from './service.cts';
import { buildRunContext, buildWakeContext } from './worldContexts.cts';

/**
 * n8n as far as a run of the node can tell, made after 2.41.1: `workflow-execute.js`,
 * `waiting-webhooks.js`, `webhook-helpers.js`, `wait-tracker.js`, `active-executions.js` and
 * `execution.service.js`. The engine and end-to-end suites hold the real n8n to the same.
 */

export type Input = Array<INodeExecutionData[] | null>;

/** The settings of a node that decide how n8n runs it. */
export interface Settings {
	onError: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	/** 0: no Retry On Fail. */
	maxTries: number;
	executeOnce?: boolean;
	/** The parameters of our node. */
	parameters: IDataObject;
}

/** A node of the workflow; `Wait` is n8n's own, which sleeps until somebody approves. */
export interface Step {
	node: string;
	input: IDataObject[];
}

/** An entry of n8n's stack: a node that is to run. */
export interface Entry {
	step: number;
	node: INode;
	data: { main: Input };
	source: null;
	metadata?: { resumeError?: Error };
}

/** What n8n stores of an execution. */
export interface RunData {
	executionData: { contextData: Record<string, IDataObject>; nodeExecutionStack: Entry[] };
	resultData: {
		runData: Record<string, Array<{ startTime: number }>>;
		lastNodeExecuted?: string;
		error?: object;
		/** What is shown with the execution. */
		metadata?: Record<string, string>;
	};
	resumeToken: string;
	waitTill?: number;
}

/** What this n8n does, and what befalls it. Times are in milliseconds. */
export interface Conditions {
	responseMode: 'onReceived' | 'lastNode';
	/** How long after the world's beginning the WaitTracker starts. */
	trackerDelay: number;
	/** How long an execution that is to go on waits for a free slot, one execution after the other. */
	slotWaits: number[];
	/** The number of the process that runs an execution that starts or goes on, in turn. */
	runsIn: number[];
	/** The number of the process that gets a callback, in turn. */
	callbacksTo: number[];
	/** The number of the process that gets nudges; by default, the process that sends them. */
	nudgesTo?: number;
	/** n8n fails to let an execution sleep. */
	sleepFails: boolean;
	/** Expressions of the node return other values in each call. */
	varies: boolean;
	/** By how much the clock of the second process is ahead. */
	skew: number;
	/** How often n8n fails to store that an execution goes on. */
	storeFailures: number;
	/** n8n lets an execution go on although it runs already, so that it runs twice at once. */
	runsTwice: boolean;
	/** n8n's timeout: how long an execution may run while it is awake. */
	timeout: number;
	/** n8n is older than 2.34, and takes no JSON with `details` for an error. */
	isOld: boolean;
	/** The resume URL leads to n8n, to a login, or to n8n for all but n8n itself. */
	resumeUrl: 'here' | 'login' | 'hairpin';
}

/** What came of a step. */
export interface Ended {
	step: number;
	items: INodeExecutionData[];
	/** The items at the error output. */
	errors: INodeExecutionData[];
	/** What was thrown, though the execution goes on. */
	error?: Thrown;
	begunAt: number;
	/** When the step first slept, if it did. */
	sleptAt?: number;
	endedAt: number;
	/** n8n itself ended the sleep. */
	byN8n: boolean;
	/** n8n runs the step with old data, because it let several webhooks wake the execution. */
	isRepeated: boolean;
}

export type Thrown = Error & { description?: string };

/** A user of the service. */
export interface Account {
	accessToken: string;
}

export interface Answer {
	status: number;
	answer: unknown;
}

/** n8n's Wait node goes on after this time, when somebody approves. */
export const APPROVED_AFTER = 20_000;

/** n8n's date for a wait without a limit. */
const NEVER = Date.UTC(3000, 0, 1);

const TRACKS_EVERY = 60_000;
const TRACKS_AHEAD = 70_000;
const TRIES_AGAIN_AFTER = 1_000;

let worlds = 0;

export class Execution {
	status: 'running' | 'waiting' | 'success' | 'error' | 'crashed' | 'canceled' = 'running';
	/** What n8n stores, as flatted writes it. */
	stored = '';
	waitTill?: number;
	/** Counts what n8n stores for its sleeps. */
	sleeps = 0;
	readonly ended: Ended[] = [];
	/** What each call returned, unless the node slept: its output, or an error. */
	readonly outputs: string[] = [];
	readonly hints: string[] = [];
	/** Custom data, which n8n stores even of an execution that is stopped. */
	readonly customData = new Map<string, string>();
	readonly stopped = new AbortController();
	stoppedAt = Infinity;
	/** When n8n's timeout ends the execution, if it is awake. */
	timeoutAt = Infinity;
	hasTimedOut = false;
	/** The processes that run the execution. More than one: n8n lets it run twice. */
	readonly processes = new Set<Process>();
	error?: Thrown;

	/** What n8n's list finds the execution by. */
	get metadata(): Record<string, string> {
		return (parse(this.stored) as RunData).resultData.metadata ?? {};
	}

	/** The step that the execution runs, or ran last. */
	step = 0;
	begunAt = 0;
	sleptAt?: number;

	constructor(
		readonly id: string,
		readonly settings: Settings,
		readonly mode: 'trigger' | 'retry',
		/** What n8n stored of the execution that this one retries. */
		readonly storedBefore = '',
	) {
		setMaxListeners(Infinity, this.stopped.signal);
	}
}

/** n8n, with two processes. The letter at the end of each secret: no secret is the beginning of another. */
export class N8n {
	readonly host = `n8n-${++worlds}.example`;
	readonly token = `resume-token-${worlds}z`;
	readonly credentials = {
		baseUrl: `https://api-${worlds}.example`,
		accessToken: `access-token-${worlds}z`,
		webhookSecret: 'a-key-for-webhooks',
	};
	readonly log: string[] = [];
	readonly executions: Execution[] = [];
	readonly processes: Process[];
	/** Callbacks and nudges that nobody has answered. */
	open = 0;
	/** When nudges were sent. */
	readonly nudges: number[] = [];
	/** Runs when the node reads its credential, for an item or in a webhook. May throw. */
	onCredential?: (item?: number) => void;
	/** What an expression in the credential makes of an item. */
	accountOf?: (item?: number) => Account;
	/** What the node's expressions make of an item, or why they can't; by default, its JSON. */
	read?: (item: number, execution: Execution) => object;
	/** Requests and calls that must not be. */
	readonly wrong: string[] = [];
	/** How often n8n has called the node. */
	calls = 0;
	/** How often n8n ran an execution with old data. */
	repeats = 0;
	private readonly booted: Process[] = [];
	private timers = new Map<string, () => void>();
	private isTracking = false;
	private trackerBegan: number;
	private starts = 0;
	private slots = 0;
	private callbacks = 0;
	private storeFailures: number;

	constructor(
		readonly clock: Clock,
		readonly steps: Step[],
		readonly conditions: Conditions,
		readonly getService: () => Service,
		private readonly machine: Pick<Process['machine'], 'onRequest' | 'luck'>,
		/** Counts what happens in all worlds. */
		private readonly count: (what: string) => void,
	) {
		this.trackerBegan = clock.now + conditions.trackerDelay;
		this.storeFailures = conditions.storeFailures;
		this.processes = [this.boot(0), this.boot(1)];
	}

	private boot(index: number): Process {
		const { clock, machine } = this;
		const fetch = async (...request: Parameters<N8n['fetch']>) => await this.fetch(...request);
		const process = new Process({ ...machine, clock, fetch });
		process.skew = index * this.conditions.skew;
		this.booted.push(process);
		return process;
	}

	/** Starts the workflow. */
	start(settings: Settings): Execution {
		const data: RunData = {
			executionData: { contextData: {}, nodeExecutionStack: [this.buildEntry(0, settings)] },
			resultData: { runData: {} },
			resumeToken: this.token,
		};
		return this.begin(new Execution(this.nextId(), settings, 'trigger'), data);
	}

	/** Retries an execution from the list, with the workflow as it is saved now. */
	retry(before: Execution, settings: Settings): Execution {
		const data = parse(before.stored) as RunData;
		delete data.resultData.error;
		const [entry] = data.executionData.nodeExecutionStack;
		if (entry) entry.node = this.buildNode(entry.step, settings);
		const execution = new Execution(this.nextId(), settings, 'retry', before.stored);
		return this.begin(execution, data);
	}

	private nextId(): string {
		return `${worlds}${this.executions.length}`;
	}

	private begin(execution: Execution, data: RunData): Execution {
		this.executions.push(execution);
		execution.begunAt = this.clock.now;
		this.store(execution, data);
		void this.run(execution, data, this.nextProcess());
		return execution;
	}

	private nextProcess(): Process {
		const { runsIn } = this.conditions;
		return this.processes[runsIn[this.starts++ % runsIn.length] ?? 0] as Process;
	}

	private buildNode(step: number, settings: Settings): INode {
		const { onError, maxTries, executeOnce, parameters } = settings;
		const name = this.steps[step]?.node as string;
		return {
			id: `${this.host} ${name}`,
			name,
			type: name === 'Wait' ? 'n8n-nodes-base.wait' : 'n8n-nodes-media-generation.mediaGeneration',
			typeVersion: 1.1,
			position: [0, 0],
			parameters: parameters as INode['parameters'],
			onError,
			retryOnFail: maxTries > 0,
			maxTries,
			executeOnce,
		};
	}

	private buildEntry(step: number, settings: Settings): Entry {
		const main = [(this.steps[step] as Step).input.map((json) => ({ json: { ...json } }))];
		return { step, node: this.buildNode(step, settings), data: { main }, source: null };
	}

	/** Runs what is on the stack until the execution sleeps or ends. */
	private async run(
		execution: Execution,
		data: RunData,
		process: Process,
		isRepeated = false,
	): Promise<void> {
		execution.status = 'running';
		execution.processes.add(process);
		this.beginTimeout(execution);
		const { nodeExecutionStack: stack } = data.executionData;
		let byN8n = data.waitTill !== undefined;
		if (byN8n) this.endWait(data);
		for (let entry = stack.shift(); entry; entry = stack.shift()) {
			execution.step = entry.step;
			const main = await this.runEntry(execution, data, { entry, process });
			if (execution.stopped.signal.aborted) return;
			if (!main || data.waitTill !== undefined) stack.unshift(entry);
			if (!main) return this.finish(execution, data, 'error');
			if (data.waitTill !== undefined) return this.fallAsleep(execution, data);
			(data.resultData.runData[entry.node.name] ??= []).push({ startTime: execution.begunAt });
			this.noteEnd(execution, main, { step: entry.step, byN8n, isRepeated });
			byN8n = false;
			if (entry.step + 1 < this.steps.length)
				stack.push(this.buildEntry(entry.step + 1, execution.settings));
		}
		this.finish(execution, data, 'success');
	}

	/** The timeout begins anew when an execution goes on after a sleep. */
	private beginTimeout(execution: Execution): void {
		const { clock, conditions } = this;
		const at = clock.now + conditions.timeout;
		execution.timeoutAt = at;
		clock.after(conditions.timeout, () => {
			if (execution.status !== 'running' || execution.timeoutAt !== at) return;
			execution.hasTimedOut = true;
			this.count('timeout of n8n');
			this.stop(execution);
		});
	}

	/** n8n ends a wait by itself: the input of the node that slept passes through. */
	private endWait(data: RunData): void {
		delete data.waitTill;
		const [entry] = data.executionData.nodeExecutionStack;
		if (entry && !entry.metadata?.resumeError) entry.node.disabled = true;
	}

	/** Runs a node with all tries. @returns undefined if its error ends the execution */
	private async runEntry(
		execution: Execution,
		data: RunData,
		{ entry, process }: { entry: Entry; process: Process },
	): Promise<Input | undefined> {
		const { retryOnFail, maxTries = 0, onError } = entry.node;
		const isTried = retryOnFail && !entry.metadata?.resumeError;
		const most = isTried ? Math.min(5, Math.max(2, maxTries || 3)) : 1;
		const call = async () => await this.call(execution, data, { entry, process });
		let main: Input | undefined;
		let error: Thrown | undefined;
		for (let index = 0; index < most && !main; index++) {
			try {
				error = undefined;
				if (index) {
					this.count('try after an error');
					await process.sleep(TRIES_AGAIN_AFTER);
				}
				let output = await call();
				while (output[0]?.[0]?.json.error && index < most - 1) {
					this.count('try after an error item');
					if (data.waitTill !== undefined) this.wrong.push('is tried though it sleeps');
					await process.sleep(TRIES_AGAIN_AFTER);
					output = await call();
					index++;
				}
				main = output;
			} catch (thrown) {
				error = thrown as Thrown;
			}
		}
		execution.error = error;
		if (main && onError === 'continueErrorOutput')
			main = splitErrors(main, (this.steps[entry.step] as Step).input, this.conditions.isOld);
		if (!main && onError?.startsWith('continue')) main = [entry.data.main[0] ?? null];
		// n8n puts an item's error in place of its JSON, also in what n8n has stored.
		for (const item of main?.flatMap((items) => items ?? []) ?? [])
			if (item.error) item.json = { error: item.error.message };
		return main;
	}

	/** Runs a node once. */
	private async call(
		execution: Execution,
		data: RunData,
		{ entry, process }: { entry: Entry; process: Process },
	): Promise<Input> {
		const { node, metadata } = entry;
		if (metadata?.resumeError) {
			if (!node.onError?.startsWith('continue')) throw metadata.resumeError;
			return [[{ json: { error: metadata.resumeError.message } }]];
		}
		if (node.disabled) return [entry.data.main[0] ?? null];
		if (node.name === 'Wait') {
			data.waitTill = NEVER;
			return entry.data.main;
		}
		const context = buildRunContext(this, { execution, data, process }, entry);
		try {
			// What the node returns reaches n8n only if the process lives.
			const main = await process.ask(async () => await process.node.execute.call(context));
			if (data.waitTill === undefined) execution.outputs.push(JSON.stringify(main));
			return main;
		} catch (error) {
			const { message, description } = error as Thrown;
			execution.outputs.push(`${message} ${description}`);
			throw error;
		}
	}

	private noteEnd(
		execution: Execution,
		[items, errors]: Input,
		facts: Pick<Ended, 'step' | 'byN8n' | 'isRepeated'>,
	): void {
		const { begunAt, sleptAt, error } = execution;
		const now = this.clock.now;
		const output = JSON.parse(
			JSON.stringify([items ?? [], errors ?? []]),
		) as INodeExecutionData[][];
		execution.ended.push({
			...facts,
			items: output[0] ?? [],
			errors: output[1] ?? [],
			error,
			begunAt,
			sleptAt,
			endedAt: now,
		});
		execution.begunAt = now;
		execution.sleptAt = undefined;
	}

	private store(execution: Execution, data: RunData): void {
		execution.stored = stringify(data);
	}

	private finish(execution: Execution, data: RunData, status: 'error' | 'success'): void {
		execution.status = status;
		execution.processes.clear();
		if (execution.error && status === 'error') {
			const { message, description } = execution.error;
			data.resultData.error = { message, description };
		}
		this.store(execution, data);
	}

	private fallAsleep(execution: Execution, data: RunData): void {
		const { waitTill, executionData } = data;
		if (Number.isNaN(waitTill)) throw new Error('n8n never wakes this execution');
		execution.status = 'waiting';
		execution.processes.clear();
		execution.sleptAt ??= this.clock.now;
		execution.waitTill = waitTill;
		execution.sleeps++;
		this.store(execution, data);
		const { sleeps } = execution;
		const [entry] = executionData.nodeExecutionStack;
		if (entry?.node.name === 'Wait')
			this.clock.after(APPROVED_AFTER, () => {
				if (execution.status === 'waiting' && execution.sleeps === sleeps) this.approve(execution);
			});
		this.track();
	}

	private approve(execution: Execution): void {
		const data = parse(execution.stored) as RunData;
		void this.run(execution, data, this.nextProcess());
	}

	/** The first process's WaitTracker looks every minute, while something waits. */
	private track(): void {
		const { clock } = this;
		if (this.isTracking) return;
		this.isTracking = true;
		const passed = (clock.now - this.trackerBegan) / TRACKS_EVERY;
		const next = this.trackerBegan + Math.max(0, Math.ceil(passed)) * TRACKS_EVERY;
		clock.after(next - clock.now, () => this.look());
	}

	private look(): void {
		const { clock } = this;
		const waiting = this.executions.filter(({ status }) => status === 'waiting');
		for (const execution of waiting) {
			const { id, waitTill = Infinity } = execution;
			if (waitTill > clock.now + TRACKS_AHEAD || this.timers.has(id)) continue;
			// Nothing cancels the timer when a webhook wakes the execution.
			this.timers.set(
				id,
				clock.after(waitTill - clock.now, () => {
					this.timers.delete(id);
					// n8n reads what is stored now, and then waits for a slot.
					if (execution.waitTill !== undefined)
						void this.goOn(execution, this.processes[0] as Process, {
							data: parse(execution.stored) as RunData,
							sleeps: execution.sleeps,
						});
				}),
			);
		}
		if (waiting.length) clock.after(TRACKS_EVERY, () => this.look());
		else this.isTracking = false;
	}

	/** Lets an execution that sleeps go on, once there is a slot. @returns why it can't */
	private async goOn(
		execution: Execution,
		process: Process,
		{ data, sleeps }: { data: RunData; sleeps: number },
	): Promise<Answer | undefined> {
		const { slotWaits } = this.conditions;
		const wait = slotWaits[this.slots++ % slotWaits.length] ?? 0;
		if (wait) await process.ask(async () => await this.clock.pause(wait));
		const isAgain = this.conditions.runsTwice && execution.status === 'running';
		if (execution.status !== 'waiting' && !isAgain) return this.findOwnAnswer(execution);
		if (this.storeFailures-- > 0) return { status: 500, answer: {} };
		this.store(execution, data);
		// n8n doesn't see that the execution has slept again since the webhook read it.
		const isRepeated = isAgain || sleeps !== execution.sleeps;
		if (isRepeated) {
			this.repeats++;
			this.count('run with old data');
		}
		execution.waitTill = undefined;
		void this.run(execution, data, this.nextProcess(), isRepeated);
		return undefined;
	}

	/** Kills a process and starts it again. What ran in the process is lost. */
	kill(index: number): void {
		const killed = this.processes[index] as Process;
		killed.kill();
		for (const execution of this.executions)
			if (execution.processes.has(killed) && execution.status === 'running')
				execution.status = 'crashed';
		this.processes[index] = this.boot(index);
		if (index !== 0) return;
		for (const cancel of this.timers.values()) cancel();
		this.timers = new Map();
		this.trackerBegan = this.clock.now;
	}

	/** The user stops an execution. */
	stop(execution: Execution): void {
		if (execution.status !== 'running' && execution.status !== 'waiting') return;
		execution.status = 'canceled';
		this.timers.get(execution.id)?.();
		this.timers.delete(execution.id);
		execution.stoppedAt = this.clock.now;
		execution.stopped.abort();
	}

	/** Answers a request that the node sends without n8n's helpers. */
	private async fetch(process: Process, url: string, init: RequestInit): Promise<Response> {
		const { baseUrl } = this.credentials;
		const respond = (status: number, body: string) =>
			({ status, body, text: async () => body }) as unknown as Response;
		if (url.startsWith(baseUrl)) {
			const sender = { execution: '', process, token: '' };
			const path = url.slice(baseUrl.length);
			const { statusCode, body } = await this.getService().answer(path, {}, sender);
			return respond(statusCode, body as string);
		}
		if (!new URL(url).pathname.endsWith('/media-generation')) this.wrong.push(`sent to ${url}`);
		if (this.conditions.resumeUrl !== 'here') return respond(302, '');
		const headers = Object.fromEntries(new Headers(init.headers));
		const body = JSON.parse((init.body as string | undefined) ?? '{}') as IDataObject;
		if (init.body) this.nudges.push(this.clock.now);
		const to = this.processes[this.conditions.nudgesTo ?? -1] ?? process;
		const { status, answer } = await this.deliver(url, { body, headers, to });
		this.count(`nudge ${status}`);
		return respond(status, JSON.stringify(answer));
	}

	/** A callback of the service comes. */
	async callBack(url: string, body: object, headers: object): Promise<Answer> {
		const { callbacksTo, resumeUrl } = this.conditions;
		if (resumeUrl === 'login') return { status: 302, answer: '' };
		const to = this.processes[callbacksTo[this.callbacks++ % callbacksTo.length] ?? 0] as Process;
		return await this.deliver(url, { body, headers, to });
	}

	private async deliver(
		url: string,
		request: { body: object; headers: object; to: Process },
	): Promise<Answer> {
		const { pathname, searchParams } = new URL(url);
		const [, , id, path] = pathname.split('/');
		const execution = this.executions.find((one) => one.id === id);
		if (!execution) return say(404, `The execution "${id}" does not exist.`);
		if (searchParams.get('signature') !== this.token) return { status: 401, answer: {} };
		const ownAnswer = this.findOwnAnswer(execution, path);
		if (ownAnswer) return ownAnswer;
		this.open++;
		const { to } = request;
		const killed = to.killed.then(() => ({ status: 502, answer: {} }));
		const answer = await Promise.race([this.take(execution, request), killed]);
		this.open--;
		return answer;
	}

	/** Finds the answer with which n8n itself turns a request down, if it does. */
	private findOwnAnswer({ id, status, stored }: Execution, path = ''): Answer | undefined {
		if (status === 'running') return say(409, `The execution "${id}" is running already.`);
		// n8n's own text lacks the second quote.
		if (status === 'success') return say(409, `The execution "${id} has finished already.`);
		if (status !== 'waiting') return say(409, `The execution "${id}" has finished with error.`);
		const [entry] = (parse(stored) as RunData).executionData.nodeExecutionStack;
		if (path === 'media-generation' && entry?.node.name !== 'Wait') return undefined;
		const unmatched = 'does not contain a waiting webhook with a matching path/method.';
		return say(404, `The workflow for execution "${id}" ${unmatched}`);
	}

	/** Calls the node's webhook, and lets the execution go on if the webhook returns items. */
	private async take(
		execution: Execution,
		{ body, headers, to }: { body: object; headers: object; to: Process },
	): Promise<Answer> {
		const { sleeps } = execution;
		const data = parse(execution.stored) as RunData;
		const [entry] = data.executionData.nodeExecutionStack as [Entry];
		entry.node.disabled = true;
		delete data.waitTill;
		const response = makeResponse();
		const query = { signature: this.token };
		const received = { headers, body, query, response };
		const context = buildWakeContext(this, { execution, data, process: to }, received);
		const handle = async () => {
			const returned = await to.ask(async () => await to.node.webhook.call(context));
			if (returned.noWebhookResponse) return;
			entry.data.main = returned.workflowData as Input;
			const ownAnswer = await this.goOn(execution, to, { data, sleeps });
			const woken: Answer = { status: 200, answer: returned.webhookResponse };
			const { status, answer } = ownAnswer ?? woken;
			response.status(status).json(answer).close();
		};
		await Promise.race([response.answered, handle()]);
		return { status: response.statusCode, answer: response.answer };
	}

	/** Notes a line of n8n's log. */
	note(process: Process, line: string): void {
		if (!process.isAlive) return;
		this.log.push(line);
		process.machine.onRequest(process);
	}

	/** Ends the processes of a world that is over. */
	release(): void {
		for (const process of this.booted) process.release();
	}
}

const say = (code: number, message: string): Answer => ({
	status: code,
	answer: { code, message },
});

/** Splits items for n8n's error output, and adds the JSON of the input, as `handleNodeErrorOutput` does. */
function splitErrors([items]: Input, input: IDataObject[], isOld: boolean): Input {
	const errorKeys = ['error', 'message', ...(isOld ? [] : ['details'])];
	const isError = ({ json, error }: INodeExecutionData) =>
		error !== undefined ||
		(Boolean(json.error) && Object.keys(json).every((key) => errorKeys.includes(key)));
	const all = items ?? [];
	const errors = all.filter(isError).map((item) => {
		const paired = item.pairedItem as { item: number } | undefined;
		return paired ? { ...item, json: { ...input[paired.item], ...item.json } } : item;
	});
	return [all.filter((item) => !isError(item)), errors];
}
