const http = require('node:http');

/** @typedef {{ status: number, text: string, json: any }} Answer */

const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });

/**
 * POSTs bytes as they are; a header with several values goes out several times.
 * @param {string} url
 * @param {{ headers?: Record<string, string | string[]>, body?: string | Buffer }} request
 * @returns {Promise<Answer>}
 */
function post(url, { headers = {}, body = '' }) {
	return new Promise((resolve, reject) => {
		const request = http.request(url, { method: 'POST', headers, agent }, (response) => {
			/** @type {Buffer[]} */
			const chunks = [];
			response.on('data', (chunk) => chunks.push(chunk));
			response.on('error', reject);
			response.on('end', () => {
				const text = Buffer.concat(chunks).toString();
				const json = text.startsWith('{') ? JSON.parse(text) : undefined;
				resolve({ status: response.statusCode ?? 0, text, json });
			});
		});
		request.on('error', reject);
		request.end(body);
	});
}

/**
 * POSTs JSON; what JSON does not have goes out as an empty body.
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {unknown} body
 */
const postJson = async (url, headers, body) =>
	await post(url, { headers, body: JSON.stringify(body) ?? '' });

/**
 * Does something for each entry, some at the same time.
 * @template T, R
 * @param {T[]} entries
 * @param {number} atOnce
 * @param {(entry: T) => Promise<R>} run
 * @returns {Promise<R[]>}
 */
async function atOnce(entries, atOnce, run) {
	/** @type {R[]} */
	const results = [];
	let next = 0;
	const worker = async () => {
		while (next < entries.length) {
			const index = next++;
			results[index] = await run(/** @type {T} */ (entries[index]));
		}
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
	return results;
}

/**
 * A task of the emulator that sends no callback by itself, when it has ended.
 * @param {{ service: import('../../dev/service').Service }} pair
 * @param {{ prompt?: string, callBackUrl?: string }} [options]
 * @returns {Promise<string>} its id
 */
async function endedTask({ service }, { prompt = '#noCallback', callBackUrl } = {}) {
	const response = await fetch(`${service.url}/api/v1/jobs/createTask`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', authorization: 'Bearer dev-token' },
		body: JSON.stringify({
			model: 'beta2/image-edit',
			callBackUrl,
			input: { prompt, image_url: `${service.resultsUrl}/sample.png` },
		}),
	});
	const { data } = await response.json();
	if (!callBackUrl) await service.waitForTask(data.taskId);
	return data.taskId;
}

module.exports = { atOnce, endedTask, post, postJson };
