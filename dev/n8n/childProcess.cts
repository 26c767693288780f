import fs from 'node:fs';
import path from 'node:path';
import execa from 'execa';
import { poll } from './wait.cts';

/** In milliseconds. */
const LONGEST_STOP = 60_000;

/** A program and its arguments. */
export type Command = [string, ...string[]];

export interface StartOptions
	extends Pick<execa.Options, 'cwd' | 'env' | 'extendEnv' | 'gid' | 'uid'> {
	/** The file to whose end the output of the process is written. */
	logFile: string;
	isReady: () => Promise<boolean>;
}

export type RunningProcess = Awaited<ReturnType<typeof startProcess>>;

/**
 * Starts a program and waits until it is ready. The program leads a process group of its own, so that whatever it starts ends
 * with it. The group is killed when this process exits.
 * @throws {Error} with the end of the log, when the program isn't ready in time. Then the group is killed.
 */
export async function startProcess(
	[program, ...args]: Command,
	{ logFile, isReady, ...options }: StartOptions,
) {
	const log = fs.openSync(logFile, 'a');
	const child = execa(program, args, {
		...options,
		detached: true,
		reject: false,
		stdio: ['ignore', log, log],
	});
	fs.closeSync(log);
	// At its end, a test run kills each process that has such a file. Test files can't: Jest doesn't tell them that it exits.
	const run = process.env.MEDIA_GENERATION_RUN;
	const record = run && child.pid ? path.join(run, `${child.pid}.pid`) : undefined;
	if (record) fs.writeFileSync(record, '');
	const killGroup = () => {
		child.kill('SIGKILL');
		if (child.pid) killProcessGroup(child.pid);
	};
	process.once('exit', killGroup);
	let end = '';
	const ended = child.then((result) => {
		end = 'shortMessage' in result ? String(result.shortMessage) : 'It ended';
		killGroup();
		process.removeListener('exit', killGroup);
		if (record) fs.rmSync(record, { force: true });
	});
	/** Kills the group (kill -9), and waits for its end. */
	const kill = async () => {
		killGroup();
		await ended;
	};
	/** Sends a signal, and waits for the end. After a minute, the group is killed. */
	const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
		const timer = setTimeout(killGroup, LONGEST_STOP);
		child.kill(signal, { forceKillAfterTimeout: false });
		await ended;
		clearTimeout(timer);
	};
	const checkReady = async () => {
		if (end) throw new Error(`${program} did not start: ${end}. ${readLogTail(logFile)}`);
		return await isReady();
	};
	await poll(checkReady, {
		what: `${program} to be ready`,
		details: () => readLogTail(logFile),
	}).catch(async (error) => {
		await kill();
		throw error;
	});
	return { pid: child.pid, stop, kill };
}

/** Kills all processes that are recorded in the folder of a test run. */
export function killRecorded(run: string) {
	for (const file of fs.readdirSync(run)) {
		if (file.endsWith('.pid')) killProcessGroup(parseInt(file));
	}
}

function killProcessGroup(leader: number) {
	try {
		process.kill(-leader, 'SIGKILL');
	} catch {
		// The group has ended.
	}
}

/** Reads the end of a log, for the message of an error. */
export function readLogTail(file: string) {
	return `The end of its log:\n${fs.readFileSync(file, 'utf8').slice(-3000)}`;
}
