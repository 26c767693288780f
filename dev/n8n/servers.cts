import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import execa from 'execa';
import { findPort } from './findPort.cts';
import { startProcess, type Command, type StartOptions } from './childProcess.cts';

const LOOPBACK = '127.0.0.1';

/**
 * Starts PostgreSQL with an empty database, in a folder of its own. When n8n is killed, nothing is lost that PostgreSQL
 * acknowledged. It doesn't wait for the disk, because the machine itself isn't expected to fail.
 */
export async function startPostgres(folder: string) {
	const bin = findPostgresFolder();
	const data = path.join(folder, 'postgres');
	const owner = findPostgresUser();
	fs.mkdirSync(data);
	if (owner) fs.chownSync(data, owner.uid, owner.gid);
	const user = 'n8n';
	const options = { ...owner, cwd: data };
	execa.sync(
		path.join(bin, 'initdb'),
		['-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
		options,
	);
	const port = await findPort();
	const settings = { listen_addresses: LOOPBACK, port, unix_socket_directories: '', fsync: 'off' };
	const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
	const command: Command = [path.join(bin, 'postgres'), '-D', data, ...flags];
	const { stop } = await startServer(command, folder, port, options);
	const database = 'postgres';
	/** Runs a query, and returns its first value. */
	const query = (sql: string) =>
		execa.sync(path.join(bin, 'psql'), [
			...['-h', LOOPBACK, '-p', `${port}`, '-U', user, '-d', database],
			...['-Atc', sql],
		]).stdout;
	// After SIGINT, PostgreSQL ends without waiting for its clients.
	return { port, user, database, query, stop: async () => await stop('SIGINT') };
}

/** Starts Redis without persistence. */
export async function startRedis(folder: string) {
	const port = await findPort();
	const where = ['--port', `${port}`, '--bind', LOOPBACK, '--dir', folder];
	const { stop } = await startServer(['redis-server', ...where, '--save', ''], folder, port);
	return { port, stop };
}

/** Starts nginx on the port, with nginx.conf. The values replace their names in braces in this file. */
export async function startNginx(folder: string, port: number, values: Record<string, string>) {
	const file = path.join(folder, 'nginx.conf');
	let configuration = fs.readFileSync(path.join(__dirname, 'nginx.conf'), 'utf8');
	for (const [name, value] of Object.entries({ folder, port: `${port}`, ...values }))
		configuration = configuration.replaceAll(`{${name}}`, value);
	fs.writeFileSync(file, configuration);
	return await startServer(['nginx', '-p', folder, '-e', 'stderr', '-c', file], folder, port);
}

/** Finds where Debian installs the newest PostgreSQL. A blank result stands for a PostgreSQL on the path. */
function findPostgresFolder() {
	const versions = '/usr/lib/postgresql';
	const [newest] = fs.existsSync(versions)
		? fs.readdirSync(versions).sort((a, b) => Number(b) - Number(a))
		: [];
	return newest ? path.join(versions, newest, 'bin') : '';
}

/** Finds the user who runs PostgreSQL in place of root, as PostgreSQL doesn't start as root. */
function findPostgresUser() {
	if (os.userInfo().uid !== 0) return undefined;
	const readId = (flag: string) => Number(execa.sync('id', [flag, 'postgres']).stdout);
	return { uid: readId('-u'), gid: readId('-g') };
}

/** Starts a server, with its log in the folder, and waits until it listens on the port. */
async function startServer(
	command: Command,
	folder: string,
	port: number,
	options: Pick<StartOptions, 'cwd' | 'gid' | 'uid'> = {},
) {
	return await startProcess(command, {
		...options,
		logFile: path.join(folder, `${path.basename(command[0])}.log`),
		isReady: async () => {
			const socket = net.connect(port, LOOPBACK);
			return await once(socket, 'connect')
				.then(
					() => true,
					() => false,
				)
				.finally(() => socket.destroy());
		},
	});
}
