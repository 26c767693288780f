import fs from 'node:fs';
import { median } from 'simple-statistics';
import type { Log } from '../dev/log.cts';

export interface Row {
	name: string;
	value: number;
	unit?: string;
	goal?: { atLeast?: number; atMost?: number };
	/** The measurements behind the value. */
	figures: string;
}

/**
 * As it comes, n8n sets up an isolate for expressions before it calls a webhook, for each credential that a webhook reads,
 * and for each execution, whether or not there is an expression. A lazy n8n sets them up when they are needed.
 */
const SETTINGS: Record<string, Record<string, string>> = {
	'n8n as it comes': {},
	'lazy isolates': { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
};

/** Measures in n8n as it comes and in a lazy one, and adds to the name of each row which of them it is about. */
export async function measureSettings(measure: (env: Record<string, string>) => Promise<Row[]>) {
	const rows: Row[] = [];
	for (const [setting, env] of Object.entries(SETTINGS))
		for (const row of await measure(env)) rows.push({ ...row, name: `${row.name}; ${setting}` });
	return rows;
}

/**
 * Measures ways of doing the same in interleaved rounds, in their order and then in the opposite one, so that a machine that is
 * slower for a moment is so for all of them. This many rounds to warm up come before those that count.
 * @returns the results of each way, one for each round
 */
export async function interleave<Name extends string, Way, Result>(
	ways: Record<Name, Way>,
	{ rounds, warmUp = 1, log }: { rounds: number; warmUp?: number; log?: Log },
	measure: (way: Way, name: Name) => Promise<Result>,
) {
	const names = Object.keys(ways) as Name[];
	const results = {} as Record<Name, Result[]>;
	for (const name of names) results[name] = [];
	for (let round = -warmUp; round < rounds; round++) {
		log?.(round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`);
		for (const name of names) {
			const result = await measure(ways[name], name);
			if (round >= 0) results[name].push(result);
		}
		names.reverse();
	}
	return results;
}

const formatMedian = (values: number[], unit: string) => `${median(values).toFixed(1)} ${unit}`;

/** Makes a row of the median of ours, as a ratio to that of theirs. */
export const compare = (
	name: string,
	{ ours, theirs }: Record<'ours' | 'theirs', number[]>,
	{ goal, unit = 'ms' }: Pick<Row, 'goal' | 'unit'>,
): Row => ({
	name,
	value: median(ours) / median(theirs),
	goal,
	figures: `${formatMedian(ours, unit)}, beside ${formatMedian(theirs, unit)}; medians of ${ours.length}`,
});

const TICKS_PER_SECOND = 100;

/** Returns the milliseconds of processor time that a process has used. Reads /proc: Linux only. */
export function readProcessorTime(pid: number | undefined) {
	const [, fields = ''] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
	const [user = NaN, system = NaN] = fields.split(' ').slice(11, 13).map(Number);
	return ((user + system) * 1000) / TICKS_PER_SECOND;
}
