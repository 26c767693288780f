const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const { npm } = require('../npm.cts');

/**
 * Where a pinned n8n lives, and the Node that runs it.
 * @typedef {{ node: string, bin: string, version: string, folder: string }} ProvidedN8n
 */

const MINUTE = 60_000;
const TRIES = 3;
const MANIFESTS = ['package.json', 'package-lock.json'];

/** The folder that keeps what is expensive to make: n8n itself, and the data of `npm start`. */
function cacheFolder() {
	const { MEDIA_GENERATION_CACHE, XDG_CACHE_HOME } = process.env;
	if (MEDIA_GENERATION_CACHE) return path.resolve(MEDIA_GENERATION_CACHE);
	return path.join(
		XDG_CACHE_HOME || path.join(os.homedir(), '.cache'),
		'n8n-nodes-media-generation',
	);
}

/**
 * Makes sure that the n8n of `dev/n8n/package.json` is installed in the cache folder, and says where; with
 * `MEDIA_GENERATION_N8N`, that of the folder of this name in `dev/n8n`.
 * The install is made beside its final place and renamed when it is whole, so the folder's existence says that it can be used.
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {Promise<ProvidedN8n>}
 */
async function provideN8n({ log = () => {} } = {}) {
	const manifests = path.resolve(__dirname, process.env.MEDIA_GENERATION_N8N ?? '');
	const { dependencies } = JSON.parse(
		fs.readFileSync(path.join(manifests, 'package.json'), 'utf8'),
	);
	const version = dependencies.n8n;
	const folder = path.join(cacheFolder(), `n8n-${version}-${hashOf(manifests)}`);
	if (!fs.existsSync(folder)) {
		await withLock(`${folder}.lock`, log, async () => {
			if (!fs.existsSync(folder)) await install({ manifests, folder, version, log });
		});
	}
	return {
		node: nodeFor(folder),
		bin: path.join(folder, 'node_modules', 'n8n', 'bin', 'n8n'),
		version,
		folder,
	};
}

/** @param {string} manifests */
function hashOf(manifests) {
	const hash = createHash('sha256');
	for (const name of MANIFESTS) hash.update(fs.readFileSync(path.join(manifests, name)));
	return hash.digest('hex').slice(0, 12);
}

/**
 * @param {{ manifests: string, folder: string, version: string, log: (line: string) => void }} options
 */
async function install({ manifests, folder, version, log }) {
	const draft = `${folder}.new`;
	fs.rmSync(draft, { recursive: true, force: true });
	fs.mkdirSync(draft, { recursive: true });
	for (const name of MANIFESTS) fs.copyFileSync(path.join(manifests, name), path.join(draft, name));

	log(`Installing n8n ${version} (2.4 GB, 2 to 4 minutes, the first time only), kept in ${folder}`);
	await npm(['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'], {
		cwd: draft,
		what: 'downloading n8n',
		tries: TRIES,
		log,
	});

	const node = nodeFor(draft);
	const nodeFolder = path.dirname(path.dirname(node));
	const headers = fs.existsSync(path.join(nodeFolder, 'include', 'node'));
	await npm(['rebuild', 'sqlite3'], {
		cwd: draft,
		what: 'building sqlite3',
		tries: TRIES,
		env: {
			PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
			...(headers ? { npm_config_nodedir: nodeFolder } : {}),
		},
		log,
	});
	fs.renameSync(draft, folder);
	log(`n8n ${version} is installed`);
}

/**
 * The Node that was installed beside n8n, else the one that runs this script if it is recent enough.
 * @param {string} folder
 */
function nodeFor(folder) {
	const platform = process.platform === 'win32' ? 'win' : process.platform;
	const binary = process.platform === 'win32' ? 'node.exe' : 'node';
	for (const prefix of ['node', 'node-bin']) {
		const file = path.join(
			folder,
			'node_modules',
			`${prefix}-${platform}-${process.arch}`,
			'bin',
			binary,
		);
		if (fs.existsSync(file)) return file;
	}
	if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
	throw new Error(
		`n8n needs Node 24 or later, and none is packaged for ${platform} ${process.arch}. Run this with Node 24.`,
	);
}

/**
 * Runs `action` while no other process holds the lock file, which names its holder's process id: a holder that died holds nothing.
 * @param {string} file
 * @param {(line: string) => void} log
 * @param {() => Promise<void>} action
 */
async function withLock(file, log, action) {
	fs.mkdirSync(path.dirname(file), { recursive: true });
	const deadline = Date.now() + 20 * MINUTE;
	let told = false;
	while (!tryLock(file)) {
		if (Date.now() > deadline) throw new Error(`Another run holds ${file} for 20 minutes`);
		if (!told) log('… another run is installing n8n, waiting for it');
		told = true;
		await sleep(500);
	}
	try {
		await action();
	} finally {
		fs.rmSync(file, { force: true });
	}
}

/**
 * Takes a lock file, also one whose holder has died.
 * @param {string} file
 */
function tryLock(file) {
	if (createLock(file)) return true;
	const holder = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
	if (holder && isAlive(holder)) return false;
	fs.rmSync(file, { force: true });
	return createLock(file);
}

/** @param {string} file */
function createLock(file) {
	try {
		fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
		return true;
	} catch {
		return false;
	}
}

/** @param {number} pid */
function isAlive(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return /** @type {NodeJS.ErrnoException} */ error.code === 'EPERM';
	}
}

module.exports = { provideN8n, cacheFolder, tryLock };
