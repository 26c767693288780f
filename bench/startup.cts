import fs from 'node:fs';
import path from 'node:path';
import execa from 'execa';
import type { Log } from '../dev/log.cts';
import { provideN8n } from '../dev/n8n/provide.cts';
import { openFolder, pack } from '../dev/pack.cts';
import ownManifest from '../package.json';
import { compare, type Row } from './measure.cts';

const EVERY = 10;
const ROUNDS = 9;

/**
 * Times how long the packed package keeps n8n's start waiting, beside every tenth of n8n's base nodes, by n8n's own loader.
 * Each load has a fresh process, so modules that base nodes share are counted for each. The time is the processor's: loading
 * waits for nothing but the disk, whose cache may know one file and not the other.
 */
export async function bench(log: Log): Promise<Row[]> {
	const { bin, node } = await provideN8n(log);
	using folder = openFolder();
	const { tarball, size } = await pack(folder.path);
	execa.sync('tar', ['-xzf', tarball, '-C', folder.path]);
	const own = path.join(folder.path, 'package');
	const modules = path.join(path.dirname(bin), '..', '..');
	const base = path.join(modules, 'n8n-nodes-base');

	/** Measures the milliseconds to load one node file, or the whole package, in a fresh process. */
	const measureLoad = (packageFolder: string, file = '') => {
		const args = [path.join(__dirname, 'load.cts'), bin, packageFolder, file];
		const env = { NODE_ENV: 'production', NODE_PATH: modules, N8N_USER_FOLDER: folder.path };
		return Number(execa.sync(node, args, { env, extendEnv: false }).stdout);
	};

	const manifest = fs.readFileSync(path.join(base, 'package.json'), 'utf8');
	const { n8n } = JSON.parse(manifest) as typeof ownManifest;
	const sample = n8n.nodes.filter((_, index) => index % EVERY === 0);
	const ours: number[] = [];
	const theirs: number[] = [];
	for (const [index, file] of sample.entries()) {
		theirs.push(measureLoad(base, file));
		if (index % Math.floor(sample.length / ROUNDS) === 0)
			ours.push(measureLoad(own) / ownManifest.n8n.nodes.length);
	}
	const name = 'Loading the whole package, per node, of the median base node';
	return [
		compare(name, { ours, theirs }, { goal: { atMost: 1 } }),
		{
			name: 'The packed package',
			value: size / 1_000,
			unit: 'kB',
			goal: { atMost: 60 },
			figures: `${size} bytes`,
		},
	];
}
