import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The limit of whatever is waited for, in milliseconds. It is for what never comes: a machine that is busy with other work may
 * take many times as long as a quiet one.
 */
export const PATIENCE = 240_000;

interface PollOptions {
	/** Names, in the error, the thing that is waited for. */
	what: string;
	details?: () => string;
}

const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 1_000;

/**
 * Asks until the answer is truthy, and returns it. The pauses grow with the time that has passed: asking costs n8n a part of a
 * busy machine.
 * @throws {Error} with what was waited for, and the details, when the time is over
 */
export async function poll<Answer>(
	ask: () => Answer | undefined | Promise<Answer | undefined>,
	{ what, details = () => '' }: PollOptions,
): Promise<NonNullable<Answer>> {
	const begun = Date.now();
	for (;;) {
		const answer = await ask();
		if (answer) return answer;
		const passed = Date.now() - begun;
		if (passed > PATIENCE)
			throw new Error(`Waited ${PATIENCE / 1000} s for ${what}, in vain. ${details()}`);
		const pause = Math.min(Math.max(passed / 3, SHORTEST_PAUSE), LONGEST_PAUSE);
		await sleep(pause);
	}
}
