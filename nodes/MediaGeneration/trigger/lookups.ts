import { sleep, UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { buildUrl } from '../api/endpoints';
import { ServiceError } from '../api/errors';
import type { Task } from '../api/task';
import { DETAILS_SETTINGS } from '../callback/respond';
import { BoundedMap } from '../lib/boundedMap';

/** The outcome of asking the service for a task's details. */
export type Lookup =
	| { outcome: 'fetched'; task: Task; callbackUrl?: string }
	/** The service says that it has no such task. */
	| { outcome: 'unknown' }
	/** It says so, but nothing shows yet that its details path is the right one. */
	| { outcome: 'doubtful' }
	/** It doesn't answer now. That passes by itself. */
	| { outcome: 'down' }
	/** It won't return them until somebody changes something, such as the path in the credential. */
	| { outcome: 'unreadable' };

/** How long an outcome is reused for copies of its callback, in milliseconds. */
const REUSED_FOR = 3_000;

/** Look-ups under way or just ended. */
const lookups = new BoundedMap<string, Promise<Lookup>>(1_000);

/** A callback that may ask for its task. */
interface Asking {
	trigger: string;
	taskId: string;
	/** Absent if the signature was not verified, because anyone can then send another time. */
	signedTime?: string;
}

/**
 * Looks up the task of a callback, within the time that a sender waits. Copies of a callback share one look-up, and its outcome for
 * some seconds, because anyone who saw a pair of signed headers can send it again and again. A callback with other headers gets its
 * own look-up: one under way may have begun before the task ended.
 */
export async function lookUp(asking: Asking, service: TaskService): Promise<Lookup> {
	const { trigger, taskId, signedTime = '' } = asking;
	const callback = `${trigger} ${signedTime} ${taskId}`;
	const known = lookups.get(callback);
	if (known) return await known;
	const path = buildUrl(service.credentials, 'taskDetailsPath');
	const lookup = fetchInTime(service, taskId).then((found) => weigh(found, asking, path));
	lookups.set(callback, lookup);
	void lookup
		.then(async () => await sleep(REUSED_FOR))
		.then(() => {
			if (lookups.get(callback) === lookup) lookups.delete(callback);
		});
	return await lookup;
}

/** Details paths that have returned a task since n8n started. */
const provenPaths = new BoundedMap<string, true>(1_000);

/** When the answer "no such task" was first doubted, in milliseconds since 1970, by trigger and task. */
const doubts = new BoundedMap<string, number>(1_000);

/**
 * Decides whether the answer "no such task" counts. Services may give the same answer, in their own envelope, for a path that they
 * don't have. So it counts once the path has returned any task. Until then, the sender of a signed callback is asked to retry,
 * because the service may know the task a moment later. If the callback comes again, it counts by its signature.
 */
function weigh(found: Lookup, { trigger, taskId, signedTime }: Asking, path: string): Lookup {
	if (found.outcome === 'fetched') provenPaths.set(path, true);
	if (found.outcome !== 'unknown' || signedTime === undefined || provenPaths.has(path))
		return found;
	const doubt = `${trigger} ${taskId}`;
	const since = doubts.get(doubt) ?? Date.now();
	if (Date.now() - since >= REUSED_FOR) return { outcome: 'unreadable' };
	doubts.set(doubt, since);
	return { outcome: 'doubtful' };
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
	// The timeout of a request starts again with each byte; this one doesn't.
	const timeout = sleep(DETAILS_SETTINGS.timeoutSeconds * 1000).then(
		(): Lookup => ({ outcome: 'down' }),
	);
	return await Promise.race([fetch(), timeout]);
}

/** Codes of a service that can't answer now. */
const PASSING_CODES = new Set([408, 429, 455]);

/** Codes from 500 on that don't pass by themselves: the generation failed, or a feature is switched off. */
const LASTING_CODES = new Set([501, 505]);

/**
 * Judges why a task's details could not be read. Only the service's own envelope says that a task is unknown. Any other 404 means
 * that the path doesn't exist.
 */
export function judgeFailure(error: unknown): { outcome: 'unknown' | 'down' | 'unreadable' } {
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
