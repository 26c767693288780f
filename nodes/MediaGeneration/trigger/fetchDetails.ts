import { UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { isUnknownTask, ServiceError } from '../api/failure';
import type { Task } from '../api/task';
import { pause, settleBy } from '../lib/timers';
import { DETAILS, KNOWN_AGAIN } from '../operations/wait/timetable';

/** What the service says about a task. */
export type Details =
	| { outcome: 'fetched'; task: Task }
	/** No answer now, or one about another task. The sender should retry. */
	| { outcome: 'down'; message?: string }
	/** `unreadable` until somebody corrects something, such as a path in the credential. */
	| { outcome: 'unknown' | 'unreadable'; message: string };

/**
 * Asks for a task, and once more after a second if the service doesn't know it.
 * @param until when the sender must have its answer, in milliseconds since 1970
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
		await pause(KNOWN_AGAIN);
		return await ask();
	};
	return (await settleBy(until, askTwice())) ?? { outcome: 'down' };
}

/** What an error while reading details means for the callback. */
export function judgeFailure(error: unknown): Exclude<Details, { outcome: 'fetched' }> {
	if (!(error instanceof UserError)) return { outcome: 'down' };
	const message = [error.message, error.description].filter(Boolean).join('. ');
	if (!(error instanceof ServiceError)) return { outcome: 'unreadable', message };
	if (isUnknownTask(error)) return { outcome: 'unknown', message: error.message };
	return { outcome: error.passes ? 'down' : 'unreadable', message };
}
