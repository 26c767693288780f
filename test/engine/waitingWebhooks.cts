import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const UNKNOWN = { code: 404, message: 'The execution "0" does not exist.' };

/** Starts what answers at n8n's resume URLs, on 127.0.0.1. It knows no execution. */
export async function startWaitingWebhooks() {
	const server = createServer((_request, response) => {
		response.writeHead(404, { 'Content-Type': 'application/json' }).end(JSON.stringify(UNKNOWN));
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}/webhook-waiting`, close: () => void server.close() };
}
