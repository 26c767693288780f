import { setTimeout as sleep } from 'node:timers/promises';
import execa from 'execa';
import type { Log } from './log.cts';

const PROGRESS_PAUSE = 20_000;

/** The variables in which an outer `npm run` describes its own package. They aren't passed on; npm's settings are. */
const OUTER_PACKAGE = /^npm_(package|lifecycle|command|config_local_prefix)/;

interface CommandOptions {
	cwd: string;
	/** What the command does, for the log. */
	what: string;
	env?: Record<string, string>;
	/** How often the command may run. It runs again after a growing pause, as a download may have been cut off. */
	tries?: number;
	log?: Log;
}

/**
 * Runs a command, with a line every 20 seconds, and returns what it printed.
 * @throws {Error} with the end of the output, when the command fails
 */
export async function runCommand(
	command: string,
	args: string[],
	options: CommandOptions,
): Promise<string> {
	const { cwd, what, env, tries = 1, log = () => {} } = options;
	const inherited = Object.entries(process.env).filter(([name]) => !OUTER_PACKAGE.test(name));
	const startedAt = Date.now();
	const progress = setInterval(() => {
		log(`… ${what}, ${Math.round((Date.now() - startedAt) / 1000)} s`);
	}, PROGRESS_PAUSE);
	try {
		for (let number = 1; ; number++) {
			const { failed, exitCode, stdout, all } = await execa(command, args, {
				cwd,
				env: { ...Object.fromEntries(inherited), ...env },
				extendEnv: false,
				all: true,
				reject: false,
			});
			if (!failed) return stdout;
			if (number >= tries) {
				throw new Error(
					`${[command, ...args].join(' ')} ended with ${exitCode}, try ${number} of ${tries}:\n${all?.slice(-3000)}`,
				);
			}
			const pause = 5 * 3 ** (number - 1);
			log(`… ${what}: ${command} ended with ${exitCode}, trying again in ${pause} s`);
			await sleep(pause * 1000);
		}
	} finally {
		clearInterval(progress);
	}
}
