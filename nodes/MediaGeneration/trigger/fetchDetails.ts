import { sleep, UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { OtherTaskError, ServiceError } from '../api/errors';
import type { Task } from '../api/task';
import { settleBy } from '../lib/timers';
import { DETAILS, KNOWN_AGAIN } from '../operations/wait/timetable';

/** What the service says of a task. */
export type Details =
	| { outcome: 'fetched'; task: Task }
	/** It doesn't answer now, or not for this task. The sender is to repeat. */
	| { outcome: 'down'; message?: string }
	/** `unreadable` until somebody changes something, such as the path in the credential. */
	| { outcome: 'unknown' | 'unreadable'; message: string };

/**
 * Asks for a task, and once more after a second if the service doesn't know it.
 * @param until when the sender must be answered, in milliseconds since 1970
 */
export async function fetchDetails(
	service: TaskService,
	taskId: string,
	until: number,
): Promise<Details> {
	const ask = async (): Promise<Details> =>
		await service
			.getTask(taskId, { timeoutSeconds: DETAILS / 1_000 })
			.then((task) => ({ outcome: 'fetched' as const, task }), judgeFailure);
	const askTwice = async () => {
		const details = await ask();
		if (details.outcome !== 'unknown') return details;
		await sleep(KNOWN_AGAIN);
		return await ask();
	};
	return (await settleBy(until, askTwice())) ?? { outcome: 'down' };
}

/** Codes of a service that can't answer now. */
const PASSING_CODES = new Set([408, 429, 455]);

/** Codes from 500 on that don't pass by themselves: the generation failed, or a feature is off. */
const LASTING_CODES = new Set([501, 505]);

/** Only the service's envelope says that a task is unknown. Any other 404 means a wrong path. */
export function judgeFailure(error: unknown): Exclude<Details, { outcome: 'fetched' }> {
	if (!(error instanceof UserError)) return { outcome: 'down' };
	const message = [error.message, error.description].filter(Boolean).join('. ');
	if (!(error instanceof ServiceError)) return { outcome: 'unreadable', message };
	const { code = 0, answeredBy, isRateLimited } = error;
	if (answeredBy === 'service' && (code === 404 || code === 422))
		return { outcome: 'unknown', message };
	if (error instanceof OtherTaskError) return { outcome: 'down', message };
	const isFault = code >= 500 && !LASTING_CODES.has(code);
	const passes = !answeredBy || isRateLimited || isFault || PASSING_CODES.has(code);
	return { outcome: passes ? 'down' : 'unreadable', message };
}
