const { once } = require('node:events');
const { WebSocket } = require('ws');

/** What n8n has to be started with, so that it can be looked into while it runs. */
const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** @typedef {(method: string, params?: object) => Promise<any>} Call a method of Node's inspector, which speaks the Chrome DevTools Protocol */

/**
 * Runs `work` while it can call n8n's inspector.
 * @template T
 * @param {import('./n8n.cts').N8n} n8n one that was started with INSPECTABLE
 * @param {(call: Call) => Promise<T>} work one call after the other
 */
async function inspect(n8n, work) {
	const [, url] = /Debugger listening on (ws:\S+)/.exec(n8n.log()) ?? [];
	if (!url) throw new Error('This n8n was not started to be looked into');
	const socket = new WebSocket(url);
	await once(socket, 'open');
	try {
		return await work(async (method, params = {}) => {
			socket.send(JSON.stringify({ id: 1, method, params }));
			for (;;) {
				const [message] = await once(socket, 'message');
				const { id, result } = JSON.parse(String(message));
				if (id === 1) return result;
			}
		});
	} finally {
		socket.close();
	}
}

module.exports = { INSPECTABLE, inspect };
