import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { check, lock } from 'proper-lockfile';
import type { Log } from '../log.cts';
import { runCommand } from '../command.cts';

/** The script that installs what a package.json names. */
const DEPS = path.resolve(__dirname, '../deps.js');
const MANIFESTS = ['package.json', 'package-lock.json'];

/** Returns the folder that keeps what is expensive to make: n8n itself, and the data of `npm start`. */
export function findCacheFolder() {
	const { MEDIA_GENERATION_CACHE, XDG_CACHE_HOME } = process.env;
	if (MEDIA_GENERATION_CACHE) return path.resolve(MEDIA_GENERATION_CACHE);
	return path.join(
		XDG_CACHE_HOME || path.join(os.homedir(), '.cache'),
		'n8n-nodes-media-generation',
	);
}

/** An n8n that can be started. */
interface ProvidedN8n {
	/** The Node that runs it. */
	node: string;
	/** Its start script. */
	bin: string;
	version: string;
}

/**
 * Provides the n8n of the folder of `dev/n8n` that MEDIA_GENERATION_N8N names, or by default that of
 * `dev/n8n/package.json`. This n8n is installed once.
 */
export async function provideN8n(log: Log = () => {}): Promise<ProvidedN8n> {
	const name = process.env.MEDIA_GENERATION_N8N ?? '';
	const folder = await provideFolder(name, log);
	const home = path.join(folder, 'node_modules', 'n8n');
	const manifest = fs.readFileSync(path.join(home, 'package.json'), 'utf8');
	const { version } = JSON.parse(manifest) as { version: string };
	return { node: findNode(folder), bin: path.join(home, 'bin', 'n8n'), version };
}

/**
 * Installs the n8n of the manifests in a folder of `dev/n8n` into the cache folder, once. The folder gets
 * its name when the installation is complete, so a folder of this name can be used.
 */
async function provideFolder(name: string, log: Log): Promise<string> {
	const manifests = path.resolve(__dirname, name);
	const contents = MANIFESTS.map((file) => fs.readFileSync(path.join(manifests, file), 'utf8'));
	const { dependencies } = JSON.parse(contents[0] ?? '') as { dependencies: { n8n: string } };
	const version = dependencies.n8n;
	const hash = createHash('sha256').update(contents.join('')).digest('hex').slice(0, 12);
	const folder = path.join(findCacheFolder(), `n8n-${version}-${hash}`);
	if (fs.existsSync(folder)) return folder;
	fs.mkdirSync(path.dirname(folder), { recursive: true });
	const options = { realpath: false };
	if (await check(folder, options)) log('… another run is installing n8n, waiting for it');
	// Waits for the lock for 20 minutes.
	const retries = { retries: 2_400, factor: 1, minTimeout: 500 };
	const release = await lock(folder, { ...options, retries });
	try {
		if (!fs.existsSync(folder)) await install(folder, contents, version, log);
	} finally {
		await release();
	}
	return folder;
}

async function install(folder: string, contents: string[], version: string, log: Log) {
	const draft = `${folder}.new`;
	await fs.promises.rm(draft, { recursive: true, force: true });
	fs.mkdirSync(draft);
	for (const [index, name] of MANIFESTS.entries())
		fs.writeFileSync(path.join(draft, name), contents[index] ?? '');

	log(`Installing n8n ${version} (2.4 GB, 1 to 5 minutes, the first time only), kept in ${folder}`);
	const options = { cwd: draft, tries: 3, log };
	await runCommand(process.execPath, [DEPS], {
		...options,
		what: 'downloading n8n',
		// The lock file was made with this setting, which only npm reads.
		env: { npm_config_legacy_peer_deps: 'true' },
	});
	const node = findNode(draft);
	const nodeFolder = path.dirname(path.dirname(node));
	const hasHeaders = fs.existsSync(path.join(nodeFolder, 'include', 'node'));
	// This project's npm settings forbid scripts of packages, and the environment passes them on.
	await runCommand('npm', ['rebuild', 'sqlite3', '--ignore-scripts=false'], {
		...options,
		what: 'building sqlite3',
		env: {
			PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
			// With more optimization, compiling takes twice as long.
			CFLAGS: '-O1',
			...(hasHeaders && { npm_config_nodedir: nodeFolder }),
		},
	});
	fs.renameSync(draft, folder);
	log(`n8n ${version} is installed`);
}

/** Finds the Node that was installed beside n8n, or else the Node that runs this script, if it is recent enough. */
function findNode(folder: string) {
	const isWindows = process.platform === 'win32';
	const platform = isWindows ? 'win' : process.platform;
	for (const prefix of ['node', 'node-bin']) {
		const file = path.join(
			...[folder, 'node_modules', `${prefix}-${platform}-${process.arch}`],
			...['bin', isWindows ? 'node.exe' : 'node'],
		);
		if (fs.existsSync(file)) return file;
	}
	if (parseInt(process.versions.node) >= 24) return process.execPath;
	throw new Error(
		`None is packaged for ${platform} ${process.arch}. Run this with Node 24 or later.`,
	);
}
