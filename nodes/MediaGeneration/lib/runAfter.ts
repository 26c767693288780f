/** The longest pause that a timer of Node takes, in milliseconds. */
export const LONGEST_PAUSE = 2 ** 31 - 1;

/** Runs a function after some milliseconds. It doesn't keep the process from ending: Node's abort signals don't. */
export const runAfter = (milliseconds: number, run: () => void): void =>
	AbortSignal.timeout(
		Math.max(0, Math.min(Math.ceil(milliseconds), LONGEST_PAUSE)),
	).addEventListener('abort', run, { once: true });
