import { sleep } from 'n8n-workflow';
import { LONGEST_PAUSE } from './runAfter';

/**
 * Waits for some work, but no longer than until then, in milliseconds since 1970.
 * @returns its result; undefined when time ran out
 */
export async function settleBy<T>(until: number, work: Promise<T>): Promise<T | undefined> {
	const isDone = new AbortController();
	const limit = sleep(Math.min(until - Date.now(), LONGEST_PAUSE), isDone.signal);
	const result = await Promise.race([work, limit.then(undefined, () => undefined)]);
	isDone.abort();
	return result as T | undefined;
}
