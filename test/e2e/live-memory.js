const { once } = require('node:events');
const { WebSocket } = require('ws');

/** What n8n has to be started with, so that its memory can be measured. */
const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/**
 * What n8n holds on to: its heap after garbage was collected, in MB. How much memory the process has at a time says more of
 * when Node collects than of what is kept.
 * @param {import('../../dev/n8n/n8n').N8n} n8n one that was started with INSPECTABLE
 * @returns {Promise<number>}
 */
async function liveMemory(n8n) {
	const [, url] = /Debugger listening on (ws:\S+)/.exec(n8n.log()) ?? [];
	if (!url) throw new Error('This n8n was not started to be measured');
	const socket = new WebSocket(url);
	await once(socket, 'open');
	/**
	 * @param {string} method
	 * @param {object} [params]
	 */
	const call = async (method, params = {}) => {
		socket.send(JSON.stringify({ id: 1, method, params }));
		for (;;) {
			const [message] = await once(socket, 'message');
			const { id, result } = JSON.parse(String(message));
			if (id === 1) return result;
		}
	};
	// Some garbage only goes when what held it has gone.
	for (let round = 0; round < 3; round++) await call('HeapProfiler.collectGarbage');
	const { result } = await call('Runtime.evaluate', {
		expression: 'process.memoryUsage().heapUsed',
	});
	socket.close();
	return result.value / 1024 / 1024;
}

module.exports = { INSPECTABLE, liveMemory };
