const { once } = require('node:events');
const { createServer } = require('node:http');
const { startService } = require('../../dev/service');

/** @typedef {import('../../dev/service').Service} Service */
/** @typedef {{ at: number, headers: import('node:http').IncomingHttpHeaders, body: any }} Received */

/** @type {(() => Promise<unknown>)[]} */
const closers = [];
afterEach(async () => {
	await Promise.all(closers.splice(0).map((close) => close()));
});

/**
 * A service that ends with the test; its tasks take 20 ms unless said otherwise.
 *
 * @param {Parameters<typeof startService>[0]} [options]
 */
async function start(options) {
	const service = await startService({ taskSeconds: 0.02, ...options });
	closers.push(service.close);
	return service;
}

/**
 * Receives callbacks until the test ends.
 *
 * @param {(index: number) => number | undefined} [answer] the status for the callback with this index; undefined: no answer
 */
async function startReceiver(answer = () => 200) {
	/** @type {Received[]} */
	const received = [];
	const server = createServer(async (request, response) => {
		let text = '';
		for await (const chunk of request) text += chunk;
		const { headers } = request;
		const json = headers['content-type'] === 'application/json';
		received.push({ at: Date.now(), headers, body: json ? JSON.parse(text) : text });
		const status = answer(received.length - 1);
		if (status !== undefined) response.writeHead(status, { Location: '/elsewhere' }).end('noted');
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	closers.push(async () => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
	return { url: `http://127.0.0.1:${port}/callback`, received };
}

/**
 * @param {Service} service
 * @param {string} path
 * @param {RequestInit & { headers?: Record<string, string> }} [init]
 */
function call(service, path, init) {
	const headers = { Authorization: 'Bearer dev-token', ...init?.headers };
	return fetch(service.url + path, { ...init, headers });
}

/**
 * @param {Service} service
 * @param {string} path
 * @returns {Promise<any>}
 */
const get = async (service, path) => (await call(service, path)).json();

/**
 * @param {Service} service
 * @param {string} path
 * @param {unknown} body
 */
const post = (service, path, body) =>
	call(service, path, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
	});

/**
 * @param {Service} service
 * @param {unknown} body
 * @returns {Promise<any>}
 */
const create = async (service, body) =>
	(await post(service, '/api/v1/jobs/createTask', body)).json();

/**
 * Creates a task of a free-form model.
 *
 * @param {Service} service
 * @param {{ prompt?: string, callBackUrl?: string }} [options]
 * @returns {Promise<string>} its id
 */
async function createTask(service, { prompt = 'a fox', callBackUrl } = {}) {
	const { data } = await create(service, { model: 'custom/any', callBackUrl, input: { prompt } });
	return data.taskId;
}

/**
 * @param {Service} service
 * @param {string} taskId
 */
const details = async (service, taskId) =>
	(await get(service, `/api/v1/jobs/recordInfo?taskId=${taskId}`)).data;

module.exports = {
	call,
	create,
	createTask,
	details,
	get,
	post,
	start,
	startReceiver,
};
