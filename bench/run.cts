import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import execa from 'execa';
import { logFailure } from '../dev/log.cts';
import { provideN8n } from '../dev/n8n/provide.cts';
import { version } from '../package.json';
import { bench as asleep } from './asleep.cts';
import { bench as intake } from './intake.cts';
import type { Bench } from './measure.cts';
import { bench as memory } from './memory.cts';
import { bench as queue } from './queue.cts';

const BENCHES: Record<string, Bench> = { asleep, intake, memory, queue };

/** Describes what the figures are measured on. */
async function describeMachine() {
	const n8n = await provideN8n(console.log);
	const { stdout: node } = execa.sync(n8n.node, ['--version']);
	const [processor] = os.cpus();
	const gigabytes = Math.round(os.totalmem() / 2 ** 30);
	return [
		`${os.cpus().length} cores of ${processor?.model}, ${gigabytes} GB of memory`,
		`n8n ${n8n.version} on Node ${node}, n8n-nodes-media-generation ${version}`,
		new Date().toISOString().slice(0, 10),
	].join('\n');
}

/** Runs benches, all of them or those that are named. What they print goes to `results` too, a file for each. */
async function main() {
	const machine = await describeMachine();
	const named = process.argv.slice(2);
	for (const name of named.length ? named : Object.keys(BENCHES)) {
		const bench = BENCHES[name];
		if (!bench) throw new Error(`The benches are ${Object.keys(BENCHES).join(', ')}`);
		console.log(`\n${name}`);
		const text = `${name}\n\n${machine}\n\n${(await bench(console.log)).join('\n')}\n`;
		console.log(text);
		fs.writeFileSync(path.join(__dirname, 'results', `${name}.txt`), text);
	}
}

main().catch(logFailure);
