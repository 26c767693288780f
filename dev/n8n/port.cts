const net = require('node:net');

/**
 * The preferred port if it is free on this machine, else any free one.
 * @param {number} [preferred]
 * @returns {Promise<number>}
 */
function freePort(preferred = 0) {
	return new Promise((resolve, reject) => {
		const server = net.createServer();
		server.once('error', (error) => (preferred ? resolve(freePort()) : reject(error)));
		server.listen(preferred, '127.0.0.1', () => {
			const { port } = /** @type {net.AddressInfo} */ server.address();
			server.close(() => resolve(port));
		});
	});
}

module.exports = { freePort };
