import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** A file whose compressed form is longer than itself. */
const SMALL = gzipSync('tiny');

const MEGABYTE = 1024 * 1024;

/** An answer of 105 MB, in 100 kB. */
const BOMB = gzipSync(
	`{"code":200,"data":{"taskId":"created","state":"success"}${' '.repeat(105 * MEGABYTE)}}`,
);

/** Answers as no well-behaved service does, by the path of the request. */
const listener: RequestListener = ({ url = '', headers }, response) => {
	const answer = (data: unknown) =>
		response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ code: 200, data }));
	const sendCompressed = (body: Buffer) => {
		response.setHeader('Content-Encoding', 'gzip').setHeader('Content-Length', body.length);
		response.end(body);
	};
	const link = (path: string) => `http://${headers.host}${path}`;
	const [, what] = url.split('/');
	switch (what) {
		case 'bomb':
			sendCompressed(BOMB);
			break;
		case 'dribble':
			response.write('{"code":200,');
			break;
		case 'cut':
			response.setHeader('Content-Length', 1_000).write('{"code":200,"data":{"taskId":"created",');
			setTimeout(() => response.destroy(), 50);
			break;
		case 'compressed':
			answer({ state: 'success', resultJson: { resultUrls: [link(`/${what}.bin`)] } });
			break;
		case 'compressed.bin':
			sendCompressed(SMALL);
			break;
		default:
			response.writeHead(404).end();
	}
};

/** Starts it on 127.0.0.1. */
export async function startRawService() {
	const server = createServer(listener).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}
