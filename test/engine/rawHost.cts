import { createServer, type AddressInfo, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const FILE = 'HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n';
const CHUNKED = `${FILE}Transfer-Encoding: chunked\r\n\r\n`;
const WHOLE = `${FILE}Content-Length: 3\r\n\r\nabc`;
const HELD = 'Content-Length: 5000\r\n\r\na';
const EMPTY = 'Content-Length: 0\r\n\r\n';

const SIZE = 20_000_000;
const BOMBS = { gzip: gzipSync(Buffer.alloc(SIZE)), br: brotliCompressSync(Buffer.alloc(SIZE)) };

const redirect =
	(location: string, rest = EMPTY) =>
	(socket: Socket) =>
		void socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\n${rest}`, 'latin1');

const explode = (encoding: keyof typeof BOMBS) => (socket: Socket) => {
	const bomb = BOMBS[encoding];
	const headers = `Content-Encoding: ${encoding}\r\nContent-Length: ${bomb.length}\r\n\r\n`;
	socket.write(Buffer.concat([Buffer.from(FILE + headers), bomb]));
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
	empty: send(`${FILE}${EMPTY}`),
	emptyChunks: send(`${CHUNKED}0\r\n\r\n`),
	closesEarly: sendAndClose(`${FILE}Content-Length: 1000\r\n\r\nabc`),
	closesEarlyChunked: sendAndClose(`${CHUNKED}3\r\nabc\r\n`),
	closesEarlyCompressed: sendAndClose(
		`${FILE}Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n\x1f`,
	),
	sendsMore: send(`${WHOLE}defHTTP/1.1 200 OK\r\n\r\n`),
	garbledChunks: send(`${CHUNKED}3\r\nabc\r\nZZZ\r\n`),
	hugeChunk: send(`${CHUNKED}FFFFFFFFFFFFFFFFFF\r\nabc`),
	endlessChunkExtension: repeat(`${CHUNKED}3;`, 'x'.repeat(1_000), 1),
	endlessTrailer: repeat(`${CHUNKED}3\r\nabc\r\n0\r\n`, 'X: y\r\n'),
	twoLengths: send(`${FILE}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde`),
	lengthAndChunks: send(`${FILE}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc`),
	hugeHeader: send(`${FILE}X: ${'a'.repeat(100_000)}\r\n\r\nabc`),
	slowHeaders: repeat('HTTP/1.1 200 OK\r\n', 'X: y\r\n'),
	earlyHints: repeat('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
	upgrade: send('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
	noHttp: send('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
	part: send(
		'HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-2/9\r\nContent-Length: 3\r\n\r\nabc',
	),
	oddStatus: send(`HTTP/1.1 999 Odd\r\n${EMPTY}`),
	gzipBomb: explode('gzip'),
	brotliBomb: explode('br'),
	noGzip: send(`${FILE}Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd`),
	pauses: send(`${CHUNKED}3\r\nabc\r\n`),
	heldRedirects: redirect('/heldRedirects', HELD),
	heldRefusal: send(`HTTP/1.1 403 Forbidden\r\n${HELD}`),
	heldFailure: send(`HTTP/1.1 500 Failed\r\n${HELD}`),
	setsCookie: redirect('/whole', `Set-Cookie: a=b; Path=/\r\n${EMPTY}`),
	dataLink: redirect('data:text/plain,abc'),
	twoLocations: redirect('/whole', `Location: http://169.254.169.254/\r\n${EMPTY}`),
	longName: redirect(`http://${'a'.repeat(15_000)}.example/`),
	page: send('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>'),
	path: send(
		`${FILE}Content-Disposition: attachment; filename="../../x.sh"\r\nContent-Length: 3\r\n\r\nabc`,
	),
	script: send(
		'HTTP/1.1 200 OK\r\nContent-Type: <img src=x onerror=alert(1)>/x\r\nContent-Length: 3\r\n\r\nabc',
	),
	longType: send(
		`HTTP/1.1 200 OK\r\nContent-Type: a/${'b'.repeat(9_000)}\r\nContent-Length: 3\r\n\r\nabc`,
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
