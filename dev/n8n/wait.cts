import pWaitFor from 'p-wait-for';

interface PollOptions {
	/** In milliseconds, as is `every`. */
	timeout: number;
	/** Names, in the error, the thing that is waited for. */
	what: string;
	details?: () => string;
	every?: number;
}

/**
 * Asks until the answer is truthy, and returns it.
 * @throws {Error} with what was waited for, and the details, when the time is over
 */
export async function poll<Answer>(
	ask: () => Answer | undefined | Promise<Answer | undefined>,
	{ timeout, what, details = () => '', every = 75 }: PollOptions,
) {
	const deadline = Date.now() + timeout;
	let answer: Answer | undefined;
	await pWaitFor(
		async () => {
			answer = await ask();
			if (!answer && Date.now() > deadline) {
				throw new Error(`Waited ${timeout / 1000} s for ${what}, in vain. ${details()}`);
			}
			return Boolean(answer);
		},
		{ interval: every },
	);
	return answer as NonNullable<Answer>;
}
