import { sleep } from 'n8n-workflow';
import { UnknownOutcomeError } from '../../api/errors';

/** The pauses before a creation is sent again, in milliseconds. */
const PAUSES = [1_000, 2_000, 4_000];

interface Circumstances {
	/** Ends the tries when it is aborted. */
	signal?: AbortSignal;
	/** The outcome of an earlier try. */
	earlier?: UnknownOutcomeError;
}

/**
 * Sends a creation with an idempotency key, and up to three times again if its answer gets lost.
 * @param ask sends the same body with the same key each time
 * @throws {UnknownOutcomeError} when every answer got lost, and for any refusal after a lost one, because the task may exist
 *   already
 * @throws the first error of `ask`, when the service certainly created nothing
 */
export async function askUntilKnown(
	ask: () => Promise<string>,
	{ signal, earlier }: Circumstances = {},
): Promise<string> {
	let unknown = earlier;
	for (const pause of [...PAUSES, undefined]) {
		const answer = await ask().then(
			(taskId) => ({ taskId }),
			(error: unknown) => ({ error }),
		);
		if ('taskId' in answer) return answer.taskId;
		const { error } = answer;
		if (error instanceof UnknownOutcomeError && !unknown?.outcome.taskId) unknown = error;
		if (!unknown) throw error;
		if (pause !== undefined) await sleep(pause, signal).catch(() => undefined);
		if (signal?.aborted) break;
	}
	throw unknown as UnknownOutcomeError;
}
