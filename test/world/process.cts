import type { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import type { Clock } from './clock.cts';
import { loadNode } from './product.cts';

/** What a process of n8n works with. */
export interface Machine {
	clock: Clock;
	/** Runs before and after each request of a process to n8n or to others: the process may be killed there. */
	onRequest: (process: Process) => void;
	/** Answers what the node sends without n8n's helpers. */
	fetch: (process: Process, url: string, init: RequestInit) => Promise<Response>;
	/** Stands in place of a random number. */
	luck: number;
}

const never = new Promise<never>(() => {});

/** Waits for something, unless a signal ends that. */
async function orAborted<T>(work: () => Promise<T>, signal?: AbortSignal | null): Promise<T> {
	signal?.throwIfAborted();
	if (!signal) return await work();
	let abort = () => {};
	const aborted = new Promise<never>((_, reject) => {
		abort = () => reject(signal.reason as Error);
		signal.addEventListener('abort', abort);
	});
	return await Promise.race([work(), aborted]).finally(() =>
		signal.removeEventListener('abort', abort),
	);
}

/** A loaded node, and the process that uses it now. */
interface Loaded {
	node: MediaGeneration;
	process?: Process;
}

/** Loading takes some 8 ms, so nodes serve later worlds too. Later worlds have other executions and accounts. */
const idle: Loaded[] = [];

function load(): Loaded {
	const loaded = {} as Loaded;
	const own = () => loaded.process as Process;
	class ItsDate extends Date {
		constructor(...args: [number]) {
			super(...(args.length ? args : ([own().now] as [number])));
		}
		static override now = () => own().now;
	}
	const timeout = (milliseconds: number): AbortSignal => {
		const controller = new AbortController();
		const error = () => new DOMException('The operation was aborted', 'TimeoutError');
		own().after(milliseconds, () => controller.abort(error()));
		return controller.signal;
	};
	loaded.node = loadNode({
		Date: ItsDate as DateConstructor,
		performance: { now: () => own().now },
		Math: Object.create(Math, { random: { value: () => own().machine.luck } }) as Math,
		AbortSignal: Object.create(AbortSignal, { timeout: { value: timeout } }) as typeof AbortSignal,
		setTimeout: (run, milliseconds) => own().after(milliseconds, run),
		fetch: async (url, init = {}) => await own().fetch(url as string, init),
		sleep: async (milliseconds, signal) => await own().sleep(milliseconds, signal),
	});
	return loaded;
}

/** A process of n8n, until it is killed. What the node's modules remember belongs to the process alone. */
export class Process {
	isAlive = true;
	/** By how much its clock is ahead, in milliseconds. */
	skew = 0;
	readonly killed: Promise<void>;
	private die = () => {};
	private readonly loaded = idle.pop() ?? load();

	constructor(readonly machine: Machine) {
		this.loaded.process = this;
		this.killed = new Promise((resolve) => (this.die = resolve));
	}

	get node(): MediaGeneration {
		return this.loaded.node;
	}

	get now(): number {
		return this.machine.clock.now + this.skew;
	}

	after(milliseconds: number, run: () => void): () => void {
		return this.machine.clock.after(milliseconds, () => this.isAlive && run());
	}

	/** Sleeps as n8n's own function does. */
	async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
		let cancel = () => {};
		const over = new Promise<void>((resolve) => (cancel = this.after(milliseconds, resolve)));
		await orAborted(async () => await over, signal).finally(cancel);
	}

	/** Asks something of n8n, or of others. Whatever a process waits for never comes once it is killed. */
	async ask<T>(work: () => T | Promise<T>): Promise<T> {
		this.machine.onRequest(this);
		if (!this.isAlive) return await never;
		const done = await Promise.resolve(work()).then(
			(value) => ({ value }),
			(error: unknown) => ({ error }),
		);
		if (this.isAlive) this.machine.onRequest(this);
		if (!this.isAlive) return await never;
		if ('error' in done) throw done.error;
		return done.value;
	}

	/** Sends a request that its signal ends. */
	async send<T>(work: () => Promise<T>, signal?: AbortSignal | null): Promise<T> {
		return await this.ask(async () => await orAborted(work, signal));
	}

	async fetch(url: string, init: RequestInit): Promise<Response> {
		return await this.send(async () => await this.machine.fetch(this, url, init), init.signal);
	}

	kill(): void {
		this.isAlive = false;
		this.die();
	}

	/** Leaves the node to a later world. */
	release(): void {
		this.isAlive = false;
		idle.push(this.loaded);
	}
}
