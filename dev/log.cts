export type Log = (line: string) => void;

/** Returns a log whose lines begin with the seconds since it was made. */
export function createLog(): Log {
	const startedAt = Date.now();
	return (line) => {
		const seconds = Math.round((Date.now() - startedAt) / 1000);
		console.log(`[${String(seconds).padStart(3)} s] ${line}`);
	};
}

/** Prints the message of an error, and has this process exit with 1. */
export function logFailure({ message }: Error) {
	console.error(message);
	process.exitCode = 1;
}
