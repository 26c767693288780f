import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface Callback {
	/** By lower-case name. */
	headers: Record<string, string>;
	/** The parsed JSON, or the text. */
	body: unknown;
	/** In milliseconds since 1970. */
	receivedAt: number;
}

const MAX_BYTES = 1_000_000;

async function read(request: IncomingMessage) {
	let text = '';
	for await (const chunk of request) {
		text += String(chunk);
		if (text.length > MAX_BYTES) break;
	}
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return text;
	}
}

/** Listens for callbacks on 127.0.0.1, and answers each with 200. @param port 0: a free one */
export async function listen(port: number) {
	const received: Callback[] = [];
	const server = createServer((request, response) => {
		void read(request).then((body) => {
			const headers = Object.fromEntries(
				Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
			);
			if (request.method === 'POST') received.push({ headers, body, receivedAt: Date.now() });
			response.setHeader('Content-Type', 'application/json').end('{"code":200}');
		});
	}).listen(port, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,

		/** Waits for the newest callback, up to this number of seconds. */
		waitForCallback: async (seconds: number): Promise<Callback | undefined> => {
			const until = Date.now() + seconds * 1000;
			while (!received.length && Date.now() < until) await pause(20);
			return received.at(-1);
		},
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}
