const { setTimeout: sleep } = require('node:timers/promises');

/**
 * Asks again and again until the answer is truthy, and gives it out.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {{ timeout: number, what: string, details?: () => string, every?: number }} options
 * @returns {Promise<NonNullable<T>>}
 */
async function poll(ask, { timeout, what, details = () => '', every = 75 }) {
	const deadline = Date.now() + timeout;
	for (;;) {
		const answer = await ask();
		if (answer) return answer;
		if (Date.now() > deadline) {
			throw new Error(`Waited ${timeout / 1000} s for ${what}, in vain. ${details()}`);
		}
		await sleep(every);
	}
}

module.exports = { poll };
