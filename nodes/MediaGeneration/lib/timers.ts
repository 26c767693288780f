import { sleep } from 'n8n-workflow';

/** Waits for work, which goes on if the wait is aborted. @throws when `signal` aborts the wait */
export async function untilAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
	let leave = () => {};
	const aborted = new Promise<never>((_, reject) => {
		leave = () => reject(signal?.reason as Error);
		signal?.addEventListener('abort', leave);
	});
	return await Promise.race([work, aborted]).finally(() =>
		signal?.removeEventListener('abort', leave),
	);
}

/**
 * Pauses for some milliseconds. n8n's own `sleep` takes no signal in 2.14.2.
 * @throws when `signal` aborts the pause
 */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
	signal?.throwIfAborted();
	await untilAborted(sleep(milliseconds, signal), signal);
}

/** Aborted as soon as one of these is. */
export const joinSignals = (...signals: Array<AbortSignal | undefined>): AbortSignal =>
	AbortSignal.any(signals.filter((signal) => signal !== undefined));

/** The longest delay of a Node timer, in milliseconds. */
const LONGEST_PAUSE = 2 ** 31 - 1;

/** Spreads a pause at random, so that pauses which begin together don't end together. */
export const spread = (pause: number): number => pause * (0.75 + Math.random() / 2);

/** Yields growing pauses in milliseconds, each spread at random. */
export function* growPauses({
	first,
	growth,
	longest,
}: Record<'first' | 'growth' | 'longest', number>): Generator<number, never> {
	for (let length = first; ; length = Math.min(length * growth, longest)) yield spread(length);
}

/**
 * Runs a function after some milliseconds. An abort signal is the timer, because n8n's linter forbids
 * `setTimeout`. It doesn't keep the process alive.
 */
export const runAfter = (milliseconds: number, work: () => void): void =>
	AbortSignal.timeout(
		Math.max(0, Math.min(Math.ceil(milliseconds), LONGEST_PAUSE)),
	).addEventListener('abort', work, { once: true });

/**
 * Waits for work until a time in milliseconds since 1970.
 * @returns the result; undefined if time ran out
 */
export async function settleBy<T>(doneBy: number, work: Promise<T>): Promise<T | undefined> {
	if (doneBy === Infinity) return await work;
	const isDone = new AbortController();
	const waiting = pause(Math.min(doneBy - Date.now(), LONGEST_PAUSE), isDone.signal);
	const timeout = waiting.catch(() => undefined) as Promise<undefined>;
	return await Promise.race([work, timeout]).finally(() => isDone.abort());
}
