import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import fastify from 'fastify';

/** The beginning of an answer to a creation. */
const CREATED = '{"code":200,"data":{"taskId":"created"';

/** An answer of 105 MB, in 100 kB. */
const BOMB = gzipSync(`${CREATED}}${' '.repeat(105 * 1024 * 1024)}}`);

/** A file whose compressed form is longer than itself. */
const SMALL = gzipSync('tiny');

const sendCompressed = (response: ServerResponse, body: Buffer) =>
	response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': body.length }).end(body);

const sendTask = (response: ServerResponse, resultUrls: string[]) =>
	response.end(
		JSON.stringify({ code: 200, data: { state: 'success', resultJson: { resultUrls } } }),
	);

/** Names of files whose host says nothing of their type. */
const UNTYPED = ['jpeg', 'flac', 'm4v', 'bin'].map((ending) => `a.${ending}`);

/** What no well-behaved service answers, by the first part of the path. */
const answers: Record<string, (response: ServerResponse, origin: string) => unknown> = {
	bomb: (response) => sendCompressed(response, BOMB),
	cut: (response) =>
		response.writeHead(200, { 'Content-Length': 1_000 }).write(CREATED, () => response.destroy()),
	dribble: (response) => response.write(CREATED.slice(0, 12)),
	compressed: (response, origin) => sendTask(response, [`${origin}/compressed.bin`]),
	untyped: (response, origin) =>
		sendTask(
			response,
			['octet', 'blank'].flatMap((how) => UNTYPED.map((name) => `${origin}/${how}/${name}`)),
		),
	octet: (response) =>
		response.writeHead(200, { 'Content-Type': 'binary/octet-stream' }).end('bytes'),
	blank: (response) => response.writeHead(200).end('bytes'),
	'compressed.bin': (response) => sendCompressed(response, SMALL),
};

/** Starts it on 127.0.0.1. */
export async function startRawService() {
	const server = fastify({ forceCloseConnections: true });
	server.all('*', ({ url, headers }, reply) => {
		reply.hijack();
		answers[url.split('/')[1] ?? '']?.(reply.raw, `http://${headers.host}`);
	});
	const url = await server.listen({ host: '127.0.0.1', port: 0 });
	return { url, close: async () => await server.close() };
}
