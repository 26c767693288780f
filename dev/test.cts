import execa from 'execa';
import { root } from './pack.cts';

/** The checks that run beside the suites. The build runs before both. */
const CHECKS = [
	['npm', 'run', '--silent', 'lint'],
	['npm', 'run', '--silent', 'lint:house'],
	['node', '--require', 'tsx/cjs', 'dev/lintPacked.cts'],
];
const SUITES = ['unit', 'zod4', 'service', 'engine'];

/** Jest's lines about files that have passed, and npm's lines about its settings. */
const NOISE = /^(PASS |npm warn ).*\n/gm;

/** Jest's count of the tests that ran. */
let tests = '';

/** Runs a command, and prints its name and its output if it fails. Returns whether it has passed. */
async function run([command = '', ...args]: string[]) {
	const { failed, all = '' } = await execa(command, args, {
		cwd: root,
		preferLocal: true,
		all: true,
		reject: false,
	});
	tests ||= /^Tests: +(.*)$/m.exec(all)?.[1] ?? '';
	if (failed) console.log(`\n✗ ${[command, ...args].join(' ')}\n${all.replace(NOISE, '')}`);
	return !failed;
}

/** Runs commands one after the other, also after one that fails. */
async function runAll(commands: string[][]) {
	let passed = true;
	for (const command of commands) passed = (await run(command)) && passed;
	return passed;
}

/** `npm test`: prints only what failed. Its arguments are Jest's. If the first argument names test files, only these run. */
async function main() {
	const args = process.argv.slice(2);
	const checks = /^\w/.test(args[0] ?? '') ? [] : CHECKS;
	const what = `the suites ${SUITES.join(', ')}`;
	console.log(
		checks.length > 0
			? `Builds, then runs ${what} beside all linters.`
			: `Builds, then runs ${args.join(' ')} in ${what}.`,
	);
	const startedAt = Date.now();
	const jest = ['jest', ...args, '--silent', '--selectProjects', ...SUITES];
	const passed =
		(await run(['npm', 'run', '--silent', 'build'])) &&
		(await Promise.all([runAll(checks), run(jest)])).every(Boolean);
	const seconds = Math.round((Date.now() - startedAt) / 1000);
	console.log(`${passed ? 'All passed' : 'Failed'}, ${seconds} s. Tests: ${tests || 'none ran'}`);
	process.exitCode = Number(!passed);
}

void main();
