const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { provideN8n } = require('../dev/n8n/provide.cts');
const { version } = require('../package.json');

/**
 * Runs benches, all of them or those that are named, and prints a line for each row with the figures behind it. The same
 * goes to `results`, one file per bench. A goal that is missed is told; only a bench that breaks is a failure.
 *
 * @typedef {{ atLeast?: number, atMost?: number }} Goal
 * @typedef {{ name: string, value: number, unit?: string, goal?: Goal, figures: string }} Row
 * @typedef {(line: string) => void} Log
 * @typedef {{ title: string, bench: (log: Log) => Promise<Row[]> }} Bench
 */
const BENCHES = [
	'verification',
	'requests',
	'create',
	'resume',
	'intake',
	'profile',
	'memory',
	'startup',
	'queue',
];
const RESULTS = path.join(__dirname, 'results');

/** What the figures were measured on. */
async function head() {
	const n8n = await provideN8n(console.log);
	const nodeOfN8n = execFileSync(n8n.node, ['--version'], { encoding: 'utf8' }).trim();
	return [
		`${os.cpus().length} cores of ${os.cpus()[0]?.model}, ${Math.round(os.totalmem() / 2 ** 30)} GB of memory`,
		`n8n ${n8n.version} on Node ${nodeOfN8n}, n8n-nodes-media-generation ${version}, Node ${process.version}`,
		new Date().toISOString().slice(0, 10),
	].join('\n');
}

const shown = (/** @type {number} */ value) =>
	value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

/** @param {Row} row */
function textOf({ name, value, unit = '', goal = {}, figures }) {
	const { atLeast = -Infinity, atMost = Infinity } = goal;
	const wanted = Object.keys(goal).length
		? `goal: ${atMost < Infinity ? `at most ${atMost}` : `at least ${atLeast}`}, ${value >= atLeast && value <= atMost ? 'met' : 'not met'}`
		: 'shown';
	return `${name}: ${`${shown(value)} ${unit}`.trim()} (${wanted})\n  ${figures}`;
}

/**
 * @param {string} name
 * @param {string} head
 */
async function run(name, head) {
	/** @type {Bench} */
	const { title, bench } = require(`./${name}.cts`);
	console.log(`\n${title}`);
	const lines = (await bench(console.log)).map(textOf).join('\n');
	console.log(lines);
	fs.mkdirSync(RESULTS, { recursive: true });
	fs.writeFileSync(path.join(RESULTS, `${name}.txt`), `${title}\n\n${head}\n\n${lines}\n`);
}

async function main() {
	const named = process.argv.slice(2);
	const measuredOn = await head();
	console.log(measuredOn);
	for (const name of named.length ? named : BENCHES) {
		try {
			await run(name, measuredOn);
		} catch (error) {
			console.error(error);
			process.exitCode = 1;
		}
	}
}

void main();
