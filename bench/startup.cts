const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { provideN8n } = require('../dev/n8n/provide.cts');
const { pack } = require('../dev/pack.cts');
const { median } = require('./statistics.cts');

/**
 * What n8n's start is kept waiting by the packed package: both nodes and the credential loaded by n8n's own loader, beside
 * n8n's base nodes loaded by the same loader. Each load has a fresh process, and a node brings all that it requires, so that
 * modules that base nodes share are counted for each. The base nodes are every tenth of the list in n8n's package. In truth
 * n8n loads them when they are first used, and community packages when it starts. The time is the processor's: loading
 * waits for nothing but the disk, whose cache may know one file and not the other.
 */
const EVERY = 10;
const ROUNDS = 9;
const BASE = 'n8n-nodes-base';

/** @param {import('./run.cts').Log} log */
async function bench(log) {
	const { bin, node } = await provideN8n(log);
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-bench-'));
	try {
		const { tarball, size } = await pack(folder);
		execFileSync('tar', ['-xzf', tarball, '-C', folder]);
		const own = path.join(folder, 'package');
		const modules = path.join(path.dirname(bin), '..', '..');
		const base = path.join(modules, BASE);

		/** Milliseconds to load one node file, or the whole package, in a fresh process. */
		const load = (/** @type {string} */ packageFolder, /** @type {string} */ file = '') =>
			Number(
				execFileSync(node, [path.join(__dirname, 'load.cts'), bin, packageFolder, file], {
					encoding: 'utf8',
					env: { NODE_ENV: 'production', NODE_PATH: modules, N8N_USER_FOLDER: folder },
				}),
			);
		const nodesOf = (/** @type {string} */ packageFolder) =>
			/** @type {string[]} */ JSON.parse(
				fs.readFileSync(path.join(packageFolder, 'package.json'), 'utf8'),
			).n8n.nodes;

		const sample = nodesOf(base).filter((_, index) => index % EVERY === 0);
		/** @type {Map<string, number[]>} */
		const times = new Map(['', ...nodesOf(own)].map((file) => [file, []]));
		/** @type {number[]} */
		const others = [];
		for (const [index, file] of sample.entries()) {
			others.push(load(base, file));
			if (index % Math.floor(sample.length / ROUNDS) === 0)
				for (const [ownFile, rounds] of times) rounds.push(load(own, ownFile));
		}
		const usual = median(others);
		const ms = (/** @type {number} */ time) => `${time.toFixed(1)} ms`;
		return [
			...[...times].map(([file, rounds]) => {
				const nodes = file ? 1 : times.size - 1;
				return {
					name: `Loading ${file ? path.basename(file, '.node.js') : 'the whole package, per node'}, of the median base node`,
					value: median(rounds) / nodes / usual,
					...(file ? {} : { goal: { atMost: 1 } }),
					figures: `medians: ${ms(median(rounds))}${file ? '' : ` for ${nodes} nodes and the credential`} in ${rounds.length} processes, and ${ms(usual)} of ${others.length} base nodes`,
				};
			}),
			{
				name: 'The packed package',
				value: size / 1_000,
				unit: 'kB',
				goal: { atMost: 60 },
				figures: `${size} bytes`,
			},
		];
	} finally {
		fs.rmSync(folder, { recursive: true, force: true });
	}
}

module.exports = { title: 'Starting n8n with the package', bench };
