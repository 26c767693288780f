const fs = require('node:fs');

const TICKS_PER_SECOND = 100;

/**
 * Milliseconds of processor time that a process has used, or its main thread alone. Reads /proc: Linux only.
 * @param {number | undefined} pid
 */
function processorTime(pid, { mainThread = false } = {}) {
	const file = mainThread ? `/proc/${pid}/task/${pid}/stat` : `/proc/${pid}/stat`;
	const [, fields = ''] = fs.readFileSync(file, 'utf8').split(') ');
	const [user, system] = fields.split(' ').slice(11, 13).map(Number);
	return (((user ?? 0) + (system ?? 0)) * 1000) / TICKS_PER_SECOND;
}

module.exports = { processorTime };
