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
	/** It does not answer now, which passes by itself. */
	| { outcome: 'down' }
	/** It does not give them until somebody changes something, such as the path in the credential. */
	| { outcome: 'unreadable' };

/** An outcome answers copies of its callback for so long, in milliseconds. */
const REUSED_FOR = 3_000;

/** Look-ups under way or just ended. */
const lookups = new BoundedMap<string, Promise<Lookup>>(1_000);

/** A callback that may ask for its task. */
interface Asking {
	trigger: string;
	taskId: string;
	/** Absent where the signature was not verified: anyone can name another time then. */
	signedTime?: string;
}

/**
 * Looks a task up for a callback, within the time that a sender waits. Copies of a callback share one look-up and, for some
 * seconds, its outcome: whoever saw one pair of signed headers can send it again and again. A callback with another pair has a
 * look-up of its own, since one that is under way may have begun before the task ended.
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

/** Details paths that have given a task since n8n started. */
const provenPaths = new BoundedMap<string, true>(1_000);

/** By trigger and task, when the service's word was doubted first, in milliseconds since 1970. */
const doubts = new BoundedMap<string, number>(1_000);

/**
 * Weighs the service's word that it has no such task. Services answer so in their own envelope for a path that they don't have,
 * too. So it counts once the path has given any task. Until then a signed callback is asked for again, as the
 * service may know its task a moment later, and counts by its signature when it comes again.
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
