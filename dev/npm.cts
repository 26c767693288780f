const { spawn } = require('node:child_process');
const { setTimeout: sleep } = require('node:timers/promises');

/** @typedef {(line: string) => void} Log */

const PROGRESS_MS = 20_000;

/** What an outer `npm run` tells about its own package; settings such as a registry or a cache folder are not among it. */
const OUTER_PACKAGE = /^npm_(package|lifecycle|command|config_local_prefix)/;

/**
 * Runs npm and gives out what it printed; throws with the end of its output when it fails.
 * While it runs, a line every 20 seconds says for how long.
 * @param {string[]} args
 * @param {{ cwd: string, what: string, env?: Record<string, string>, tries?: number, log?: Log }} options `tries`: how often it is run before it counts as failed, with growing pauses: a download may have been cut off
 * @returns {Promise<string>}
 */
async function npm(args, { cwd, what, env = {}, tries = 1, log = () => {} }) {
	const started = Date.now();
	const seconds = () => Math.round((Date.now() - started) / 1000);
	for (let attempt = 1; ; attempt++) {
		const progress = setInterval(() => log(`… ${what}, ${seconds()} s`), PROGRESS_MS);
		const { code, printed, all } = await run(args, cwd, env).finally(() => clearInterval(progress));
		if (code === 0) return printed;
		if (attempt >= tries) {
			throw new Error(
				`npm ${args.join(' ')} ended with ${code}, try ${attempt} of ${tries}:\n${all.slice(-3000)}`,
			);
		}
		const pause = 5 * 3 ** (attempt - 1);
		log(`… ${what}: npm ended with ${code}, trying again in ${pause} s`);
		await sleep(pause * 1000);
	}
}

/**
 * @param {string[]} args
 * @param {string} cwd
 * @param {Record<string, string>} env
 * @returns {Promise<{ code: number | null, printed: string, all: string }>}
 */
function run(args, cwd, env) {
	const inherited = Object.entries(process.env).filter(([name]) => !OUTER_PACKAGE.test(name));
	return new Promise((resolve, reject) => {
		const child = spawn('npm', args, {
			cwd,
			env: { ...Object.fromEntries(inherited), ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
			shell: process.platform === 'win32',
		});
		const end = () => child.kill();
		process.once('exit', end);
		let printed = '';
		let all = '';
		child.stdout.on('data', (chunk) => {
			printed += chunk;
			all += chunk;
		});
		child.stderr.on('data', (chunk) => (all += chunk));
		child.on('error', reject);
		child.on('close', (code) => {
			process.removeListener('exit', end);
			resolve({ code, printed, all });
		});
	});
}

module.exports = { npm };
