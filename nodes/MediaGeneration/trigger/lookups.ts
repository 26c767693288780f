import { sleep, UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { ServiceError } from '../api/errors';
import type { Task } from '../api/task';
import { DETAILS_SETTINGS } from '../callback/respond';
import { BoundedMap } from '../lib/boundedMap';

/** The outcome of asking the service for a task's details. */
export type Lookup =
	| { outcome: 'fetched'; task: Task; callbackUrl?: string }
	/** The service says that it has no such task. */
	| { outcome: 'unknown' }
	/** It does not answer now, which passes by itself. */
	| { outcome: 'down' }
	/** It does not give them until somebody changes something, such as the path in the credential. */
	| { outcome: 'unreadable' };

/** An outcome answers copies of its callback for so long, in milliseconds. */
const REUSED_FOR = 3_000;

/** Look-ups under way or just ended. */
const lookups = new BoundedMap<string, Promise<Lookup>>(1_000);

/**
 * Looks a task up for a callback, within the time that a sender waits. Copies of a callback share one look-up and, for some
 * seconds, its outcome: whoever saw one pair of signed headers can send it again and again. A callback with another pair has a
 * look-up of its own, since one that is under way may have begun before the task ended.
 * @param callback identifies the trigger, the task and the signed time
 */
export async function lookUp(
	callback: string,
	service: TaskService,
	taskId: string,
): Promise<Lookup> {
	const known = lookups.get(callback);
	if (known) return await known;
	const lookup = fetchInTime(service, taskId);
	lookups.set(callback, lookup);
	void lookup
		.then(async () => await sleep(REUSED_FOR))
		.then(() => {
			if (lookups.get(callback) === lookup) lookups.delete(callback);
		});
	return await lookup;
}

async function fetchInTime(service: TaskService, taskId: string): Promise<Lookup> {
	const fetch = async (): Promise<Lookup> => {
		try {
			const found = await service.getTaskAndCallbackUrl(taskId, DETAILS_SETTINGS);
			return { outcome: 'fetched', ...found };
		} catch (error) {
			return judgeFailure(error);
		}
	};
	// The timeout of a request begins anew with each byte; this one does not.
	const timeout = sleep(DETAILS_SETTINGS.timeoutSeconds * 1000).then(
		(): Lookup => ({ outcome: 'down' }),
	);
	return await Promise.race([fetch(), timeout]);
}

/** Codes by which a service says that it does not answer now. */
const PASSING_CODES = new Set([408, 429, 455]);

/** Codes from 500 on that say more than a fault of the service: the generation failed, or a feature is switched off. */
const LASTING_CODES = new Set([501, 505]);

/**
 * Judges why a task's details could not be read. Only the service's own envelope says that a task is unknown: a 404 of another
 * form is of a path that does not exist.
 */
export function judgeFailure(error: unknown): Exclude<Lookup, { outcome: 'fetched' }> {
	if (!(error instanceof ServiceError))
		return { outcome: error instanceof UserError ? 'unreadable' : 'down' };
	const { code = 0, answeredBy, isRateLimited } = error;
	if (answeredBy === 'service' && (code === 404 || code === 422)) return { outcome: 'unknown' };
	const passes =
		!answeredBy ||
		isRateLimited ||
		PASSING_CODES.has(code) ||
		(code >= 500 && !LASTING_CODES.has(code));
	return { outcome: passes ? 'down' : 'unreadable' };
}
