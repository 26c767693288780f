import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a test waits for anything, in milliseconds. Only what never comes takes so long, although a busy machine may be many
 * times as slow as a quiet one.
 */
export const PATIENCE = 240_000;

interface PollOptions {
	/** What is waited for, for the error. */
	what: string;
	details?: () => string;
}

const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 1_000;

/**
 * Asks until the answer is truthy, and returns the answer. The pauses grow with the time that has passed, because asking slows
 * down n8n on a busy machine.
 * @throws {Error} with what was waited for, and the details, when PATIENCE has passed
 */
export async function poll<Answer>(
	ask: () => Answer | undefined | Promise<Answer | undefined>,
	{ what, details = () => '' }: PollOptions,
): Promise<NonNullable<Answer>> {
	const startedAt = Date.now();
	for (;;) {
		const answer = await ask();
		if (answer) return answer;
		const passed = Date.now() - startedAt;
		if (passed > PATIENCE)
			throw new Error(`Waited ${PATIENCE / 1000} s for ${what}, in vain. ${details()}`);
		const pause = Math.min(Math.max(passed / 3, SHORTEST_PAUSE), LONGEST_PAUSE);
		await sleep(pause);
	}
}
