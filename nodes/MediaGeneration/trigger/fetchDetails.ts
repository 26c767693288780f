import { UserError } from 'n8n-workflow';
import type { TaskService } from '../api/client';
import { factsOf, isOfKind } from '../api/failure';
import type { Task } from '../api/task';
import { pause, settleBy } from '../lib/timers';

/** How long the service may take to answer, in milliseconds. */
export const DETAILS = 4_000;

/** The pauses before it is asked again: it may not know a task for some seconds after its creation. */
export const KNOWN_AGAIN = [1_000, 2_000] as const;

/** What the service says about a task. */
export type Details =
	| { outcome: 'fetched'; task: Task }
	/** No answer now, or one about another task. The sender should retry. */
	| { outcome: 'down'; message?: string }
	/** `unreadable` until somebody corrects something, such as a path in the credential. */
	| { outcome: 'unknown' | 'unreadable'; message: string };

/**
 * Asks for a task, and again if the service doesn't know it.
 * @param until when the sender must have its answer, in milliseconds since 1970
 */
export async function fetchDetails(
	service: TaskService,
	taskId: string,
	until: number,
): Promise<Details> {
	let details: Details = { outcome: 'down' };
	const ask = async () => {
		details = await service
			.getTask(taskId, { timeoutSeconds: DETAILS / 1_000 })
			.then((task) => ({ outcome: 'fetched' as const, task }), judgeFailure);
	};
	const askAgain = async () => {
		await ask();
		for (const length of KNOWN_AGAIN) {
			if (details.outcome !== 'unknown') return;
			await pause(length);
			await ask();
		}
	};
	await settleBy(until, askAgain());
	return details;
}

/** What an error while reading details means for the callback. */
function judgeFailure(error: unknown): Exclude<Details, { outcome: 'fetched' }> {
	if (!(error instanceof UserError)) return { outcome: 'down' };
	const message = [error.message, error.description].filter(Boolean).join('. ');
	if (isOfKind(error, 'unknownTask')) return { outcome: 'unknown', message: error.message };
	return { outcome: factsOf(error).passes ? 'down' : 'unreadable', message };
}
