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

/** Answers that no well-behaved service or host of files gives, by the first part of the path. */
const answers: Record<string, (response: ServerResponse) => unknown> = {
	bomb: (response) => sendCompressed(response, BOMB),
	cut: (response) =>
		response.writeHead(200, { 'Content-Length': 1_000 }).write(CREATED, () => response.destroy()),
	dribble: (response) => response.write(CREATED.slice(0, 12)),
	small: (response) => sendCompressed(response, SMALL),
	octet: (response) =>
		response.writeHead(200, { 'Content-Type': 'binary/octet-stream' }).end('bytes'),
	blank: (response) => response.writeHead(200).end('bytes'),
	cookie: (response) =>
		response.writeHead(302, { Location: '/path/a.mp4', 'Set-Cookie': 'a=b; Path=/' }).end(),
	path: (response) =>
		response
			.writeHead(200, { 'Content-Disposition': 'attachment; filename="../../x.sh"' })
			.end('bytes'),
};

/** Starts the raw service on 127.0.0.1. The ID of a task names its files, separated by commas. All tasks have ended. */
export async function startRaw() {
	const server = fastify({ forceCloseConnections: true });
	const cookies: unknown[] = [];
	server.get<{ Params: { files: string } }>('/details/:files', ({ params, headers }) => {
		const resultUrls = params.files.split(',').map((file) => `http://${headers.host}/${file}`);
		return { code: 200, data: { state: 'success', resultJson: { resultUrls } } };
	});
	server.all('*', ({ url, headers }, reply) => {
		cookies.push(headers.cookie);
		reply.hijack();
		answers[url.split('/')[1] ?? '']?.(reply.raw);
	});
	const url = await server.listen({ host: '127.0.0.1', port: 0 });
	const countConnections = async () =>
		await new Promise<number>((resolve) =>
			server.server.getConnections((_, count) => resolve(count)),
		);
	return { url, cookies, countConnections, close: async () => await server.close() };
}
