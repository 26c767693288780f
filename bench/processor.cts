import fs from 'node:fs';

const TICKS_PER_SECOND = 100;

/** Returns the milliseconds of processor time that a process has used, or its main thread alone. Reads /proc: Linux only. */
export function readProcessorTime(pid: number | undefined, { mainThread = false } = {}) {
	const file = mainThread ? `/proc/${pid}/task/${pid}/stat` : `/proc/${pid}/stat`;
	const [, fields = ''] = fs.readFileSync(file, 'utf8').split(') ');
	const [user = NaN, system = NaN] = fields.split(' ').slice(11, 13).map(Number);
	return ((user + system) * 1000) / TICKS_PER_SECOND;
}
