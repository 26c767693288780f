import { sleep as pause } from 'n8n-workflow';

/** Pauses for some milliseconds. @throws when `signal` aborts it. n8n calls it `sleep`. */
export { pause };

/** The longest delay of a Node timer, in milliseconds. */
export const LONGEST_PAUSE = 2 ** 31 - 1;

/** Runs a function after some milliseconds. It doesn't keep the process alive. */
export const runAfter = (milliseconds: number, run: () => void): void =>
	AbortSignal.timeout(
		Math.max(0, Math.min(Math.ceil(milliseconds), LONGEST_PAUSE)),
	).addEventListener('abort', run, { once: true });

/**
 * Waits for work to finish, but not beyond a time in milliseconds since 1970.
 * @returns the result; undefined if time ran out
 */
export async function settleBy<T>(until: number, work: Promise<T>): Promise<T | undefined> {
	if (until === Infinity) return await work;
	const isDone = new AbortController();
	const limit = pause(Math.min(until - Date.now(), LONGEST_PAUSE), isDone.signal);
	try {
		return (await Promise.race([work, limit.then(undefined, () => undefined)])) as T | undefined;
	} finally {
		isDone.abort();
	}
}
