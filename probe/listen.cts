import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parseJson } from '../nodes/MediaGeneration/lib/json.ts';

export interface Callback {
	/** By lower-case name. */
	headers: Record<string, unknown>;
	/** The parsed JSON. */
	body: unknown;
	/** In milliseconds since 1970. */
	receivedAt: number;
}

/** Listens for callbacks on 127.0.0.1, and answers each with 200. @param port 0: a free one */
export async function listen(port: number) {
	const received: Callback[] = [];
	const server = createServer((request, response) => {
		void readText(request).then((text) => {
			const { method, headers } = request;
			if (method === 'POST')
				received.push({ headers, body: parseJson(text), receivedAt: Date.now() });
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
