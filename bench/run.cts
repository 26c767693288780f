import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import execa from 'execa';
import type { Log } from '../dev/log.cts';
import { provideN8n } from '../dev/n8n/provide.cts';
import { version } from '../package.json';
import { bench as answers } from './answers.cts';
import { bench as asleep } from './asleep.cts';
import { bench as intake } from './intake.cts';
import type { Row } from './measure.cts';
import { bench as memory } from './memory.cts';
import { bench as queue } from './queue.cts';

const BENCHES: Record<string, (log: Log) => Promise<Row[]>> = {
	intake,
	memory,
	queue,
	asleep,
	answers,
};
const NAMES = Object.keys(BENCHES);

/** Describes what the figures are measured on. */
async function describeMachine() {
	const n8n = await provideN8n(console.log);
	const { stdout: nodeOfN8n } = execa.sync(n8n.node, ['--version']);
	return [
		`${os.cpus().length} cores of ${os.cpus()[0]?.model}, ${Math.round(os.totalmem() / 2 ** 30)} GB of memory`,
		`n8n ${n8n.version} on Node ${nodeOfN8n}, n8n-nodes-media-generation ${version}, Node ${process.version}`,
		new Date().toISOString().slice(0, 10),
	].join('\n');
}

const formatValue = (value: number) =>
	value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

function formatRow({ name, value, unit = '', goal, figures }: Row) {
	const { atLeast = -Infinity, atMost = Infinity } = goal ?? {};
	const wanted = goal
		? `goal: ${atMost < Infinity ? `at most ${atMost}` : `at least ${atLeast}`}, ${value >= atLeast && value <= atMost ? 'met' : 'not met'}`
		: 'shown';
	return `${name}: ${`${formatValue(value)} ${unit}`.trim()} (${wanted})\n  ${figures}`;
}

async function run(name: string, machine: string) {
	const bench = BENCHES[name];
	if (!bench) throw new Error(`There is no bench "${name}", only ${NAMES.join(', ')}`);
	console.log(`\n${name}`);
	const lines = (await bench(console.log)).map(formatRow).join('\n');
	console.log(lines);
	const file = path.join(__dirname, 'results', `${name}.txt`);
	fs.writeFileSync(file, `${name}\n\n${machine}\n\n${lines}\n`);
}

/**
 * Runs benches, all of them or those that are named, and prints a line for each row with the figures behind it. The same
 * goes to `results`, one file for each bench. A missed goal is only printed: the run fails when a bench breaks.
 */
async function main() {
	const named = process.argv.slice(2);
	const machine = await describeMachine();
	console.log(machine);
	for (const name of named.length ? named : NAMES) {
		try {
			await run(name, machine);
		} catch (error) {
			console.error(error);
			process.exitCode = 1;
		}
	}
}

void main();
