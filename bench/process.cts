import fs from 'node:fs';
import { sum } from 'simple-statistics';

/** Reads /proc: Linux only. */

const TICKS_PER_SECOND = 100;

interface Process {
	pid?: number;
}

/** Reads the milliseconds of processor time that processes have used. */
export const readTime = (processes: Process[]) =>
	sum(
		processes.map(({ pid }) => {
			const [, fields = ''] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
			const [user = NaN, system = NaN] = fields.split(' ').slice(11, 13).map(Number);
			return ((user + system) * 1000) / TICKS_PER_SECOND;
		}),
	);

/** Reads the resident memory of a process in MB, as it is or its peak. */
export function readMegabytes({ pid }: Process, which: 'VmRSS' | 'VmHWM') {
	const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Has Linux forget the peak of a process so far. */
export const forgetPeak = ({ pid }: Process) => fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');
