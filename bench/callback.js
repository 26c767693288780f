const { WEBHOOK_SECRET } = require('../dev/fixtures/pair.cts');
const { postJson } = require('../dev/fixtures/callbacks.cts');

/**
 * Sends a signed callback for a task that has completed.
 * @param {import('../dev/service').Service} service
 * @param {string} url
 * @param {string} taskId
 * @param {{ key?: string, expected?: number }} [options]
 * @returns {Promise<number>} how long its answer took, in milliseconds
 * @throws {Error} when it is answered with another status than expected
 */
async function send(service, url, taskId, { key = WEBHOOK_SECRET, expected = 200 } = {}) {
	const timestamp = Math.floor(Date.now() / 1000);
	const headers = {
		'content-type': 'application/json',
		'x-webhook-timestamp': String(timestamp),
		'x-webhook-signature': service.sign(taskId, timestamp, key),
	};
	const body = {
		taskId,
		code: 200,
		msg: 'success',
		data: { task_id: taskId, callbackType: 'task_completed' },
	};
	const sent = performance.now();
	const { status, text } = await postJson(url, headers, body);
	if (status !== expected) throw new Error(`A callback was answered ${status}: ${text}`);
	return performance.now() - sent;
}

module.exports = { send };
