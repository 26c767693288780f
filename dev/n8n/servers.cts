const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { freePort } = require('./port.cts');
const { poll } = require('./wait.cts');

/** A server of another project, on a loopback port. */
/** @typedef {{ port: number, stop: () => Promise<void> }} Server */

const START_LIMIT = 60_000;
const STOP_LIMIT = 20_000;
const LOOPBACK = '127.0.0.1';

/**
 * PostgreSQL with an empty database, in a folder of its own. Nothing that it acknowledged is lost when n8n is killed; the
 * machine itself is not expected to fail, so it does not wait for the disk.
 * @param {string} folder
 * @returns {Promise<Server & { user: string, database: string, query: (sql: string) => string }>} `query` gives the first value
 */
async function startPostgres(folder) {
	const bin = postgresFolder();
	const data = path.join(folder, 'postgres');
	const as = asUser('postgres');
	fs.mkdirSync(data);
	if (as) fs.chownSync(data, as.uid, as.gid);
	const user = 'n8n';
	execFileSync(
		path.join(bin, 'initdb'),
		['-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
		{ ...as, cwd: data, stdio: 'pipe' },
	);
	const port = await freePort();
	const settings = { listen_addresses: LOOPBACK, port, unix_socket_directories: '', fsync: 'off' };
	const stop = await start(path.join(bin, 'postgres'), {
		args: [
			'-D',
			data,
			...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
		],
		as: { ...as, cwd: data },
		port,
		signal: 'SIGINT',
	});
	const database = 'postgres';
	const query = (/** @type {string} */ sql) =>
		execFileSync(
			path.join(bin, 'psql'),
			['-h', LOOPBACK, '-p', `${port}`, '-U', user, '-d', database, '-Atc', sql],
			{ encoding: 'utf8' },
		).trim();
	return { port, user, database, query, stop };
}

/**
 * Redis without persistence.
 * @param {string} folder
 * @returns {Promise<Server>}
 */
async function startRedis(folder) {
	const port = await freePort();
	const stop = await start('redis-server', {
		args: ['--port', `${port}`, '--bind', LOOPBACK, '--save', '', '--dir', folder],
		port,
	});
	return { port, stop };
}

/**
 * nginx with a configuration in which `{folder}` stands for a folder that it may write to.
 * @param {string} folder
 * @param {{ port: number, configuration: string }} options `port`: one that it listens on
 * @returns {Promise<Server>}
 */
async function startNginx(folder, { port, configuration }) {
	const file = path.join(folder, 'nginx.conf');
	fs.writeFileSync(file, configuration.replaceAll('{folder}', folder));
	const stop = await start('nginx', {
		args: ['-p', folder, '-e', 'stderr', '-c', file],
		port,
	});
	return { port, stop };
}

/** Where Debian keeps the newest PostgreSQL, else where the path leads. */
function postgresFolder() {
	const versions = '/usr/lib/postgresql';
	const [newest] = fs.existsSync(versions)
		? fs.readdirSync(versions).sort((a, b) => Number(b) - Number(a))
		: [];
	return newest ? path.join(versions, newest, 'bin') : '';
}

/**
 * Runs as a user of this machine in place of root, whom PostgreSQL refuses.
 * @param {string} name
 * @returns {{ uid: number, gid: number } | undefined}
 */
function asUser(name) {
	if (os.userInfo().uid !== 0) return undefined;
	const id = (/** @type {string} */ flag) => Number(execFileSync('id', [flag, name]).toString());
	return { uid: id('-u'), gid: id('-g') };
}

/**
 * Starts a program and waits until it listens.
 * @param {string} program
 * @param {{ args: string[], port: number, as?: import('node:child_process').SpawnOptions, signal?: NodeJS.Signals }} options `signal`: what ends it at once
 * @returns {Promise<() => Promise<void>>} ends it
 */
async function start(program, { args, port, as = {}, signal = 'SIGTERM' }) {
	const child = spawn(program, args, { ...as, stdio: ['ignore', 'pipe', 'pipe'] });
	let log = '';
	for (const stream of [child.stdout, child.stderr])
		stream?.setEncoding('utf8').on('data', (chunk) => (log += chunk));
	child.on('error', (error) => (log += error.message));
	const kill = () => child.kill('SIGKILL');
	process.once('exit', kill);
	const ended = () =>
		child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
	const details = () => `What ${program} wrote:\n${log.slice(-2000)}`;
	const stop = async () => {
		child.kill(signal);
		await poll(async () => ended(), { timeout: STOP_LIMIT, what: `${program} to end`, details });
		process.removeListener('exit', kill);
	};
	await poll(
		async () => {
			if (ended()) throw new Error(`${program} did not start. ${details()}`);
			return await listens(port);
		},
		{ timeout: START_LIMIT, what: `${program} to listen`, details },
	);
	return stop;
}

/** @param {number} port */
const listens = async (port) =>
	await new Promise((resolve) => {
		const socket = net.connect(port, LOOPBACK, () => resolve(true));
		socket.on('error', () => resolve(false));
		socket.on('connect', () => socket.destroy());
	});

module.exports = { startNginx, startPostgres, startRedis };
