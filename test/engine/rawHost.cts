import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

const FILE = 'HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n';
const CHUNKED = `${FILE}Transfer-Encoding: chunked\r\n\r\n`;
const WHOLE = `${FILE}Content-Length: 3\r\n\r\nabc`;
const HELD = 'Content-Length: 5000\r\n\r\na';
const EMPTY = 'Content-Length: 0\r\n\r\n';

const BOMB = gzipSync(Buffer.alloc(20_000_000));

const redirect =
	(location: string, rest = EMPTY) =>
	(socket: Socket) =>
		void socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\n${rest}`, 'latin1');

const explode = (socket: Socket) => {
	const headers = `Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`;
	socket.write(Buffer.concat([Buffer.from(FILE + headers), BOMB]));
};

const send = (text: string) => (socket: Socket) => void socket.write(text);
const sendAndClose = (text: string) => (socket: Socket) => void socket.end(text);

/** Sends a text, and then another one again and again. */
const repeat =
	(first: string, again: string, milliseconds = 50) =>
	(socket: Socket) => {
		socket.write(first);
		const timer = setInterval(() => socket.write(again), milliseconds);
		socket.on('close', () => clearInterval(timer));
	};

/** What no well-behaved host of files answers, by path. */
const answers = {
	whole: send(WHOLE),
	closesEarly: sendAndClose(`${FILE}Content-Length: 1000\r\n\r\nabc`),
	closesEarlyCompressed: sendAndClose(
		`${FILE}Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n\x1f`,
	),
	hugeChunk: send(`${CHUNKED}FFFFFFFFFFFFFFFFFF\r\nabc`),
	hugeHeader: send(`${FILE}X: ${'a'.repeat(100_000)}\r\n\r\nabc`),
	slowHeaders: repeat('HTTP/1.1 200 OK\r\n', 'X: y\r\n'),
	gzipBomb: explode,
	pauses: send(`${CHUNKED}3\r\nabc\r\n`),
	heldRefusal: send(`HTTP/1.1 403 Forbidden\r\n${HELD}`),
	setsCookie: redirect('/whole', `Set-Cookie: a=b; Path=/\r\n${EMPTY}`),
	path: send(
		`${FILE}Content-Disposition: attachment; filename="../../x.sh"\r\nContent-Length: 3\r\n\r\nabc`,
	),
	script: send(
		'HTTP/1.1 200 OK\r\nContent-Type: <img src=x onerror=alert(1)>/x\r\nContent-Length: 3\r\n\r\nabc',
	),
	ownMethods: send(`${FILE}get: x\r\nset: x\r\nconstructor: x\r\nContent-Length: 3\r\n\r\nabc`),
};

export type Answer = keyof typeof answers;

/** Starts a host of files on 127.0.0.1 that may speak no proper HTTP. */
export async function startRawHost() {
	const sockets = new Set<Socket>();
	const requests: string[] = [];
	const server = createServer((socket) => {
		sockets.add(socket);
		socket.on('error', () => undefined);
		socket.on('close', () => sockets.delete(socket));
		socket.on('data', (data) => {
			requests.push(String(data));
			const [, path = ''] = /^GET \/(\w+)/.exec(String(data)) ?? [];
			answers[path as Answer](socket);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		/** The connections that are open. */
		sockets,
		requests,
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
