const { createHmac, randomBytes } = require('node:crypto');
const { setTimeout: pause } = require('node:timers/promises');

/** @typedef {import('./details').TaskRecord} TaskRecord */
/** @typedef {import('./details').CallbackAttempt} CallbackAttempt */
/**
 * @typedef {object} CallbackOverrides
 * @property {string} [url] in place of the task's callBackUrl
 * @property {number | string} [timestamp] Unix seconds; signed, unless `signature` is given
 * @property {string} [signature]
 * @property {string} [secret] '' leaves the signature headers out
 * @property {unknown} [body] sent as JSON; a string goes out as it is
 * @property {Record<string, string | undefined>} [headers] over the usual ones; undefined leaves one out
 */

/**
 * The contract's signature of a callback.
 *
 * @param {string} taskId
 * @param {number | string} timestamp Unix time in seconds
 * @param {string} secret the account's webhookHmacKey
 * @returns {string} Base64 of HMAC-SHA256 over `<taskId>.<timestamp>`
 */
function sign(taskId, timestamp, secret) {
	return createHmac('sha256', secret).update(`${taskId}.${timestamp}`).digest('base64');
}

const unixSeconds = () => Math.floor(Date.now() / 1000);

/**
 * @param {import('./faults').TaskFaults} faults
 * @returns {CallbackOverrides}
 */
function overridesOf({ forgedSignature, staleTimestamp, unsigned }) {
	return {
		...(forgedSignature && { signature: randomBytes(32).toString('base64') }),
		...(staleTimestamp && { timestamp: unixSeconds() - 3600 }),
		...(unsigned && { secret: '' }),
	};
}

/**
 * Sends completion callbacks.
 *
 * @param {object} service
 * @param {import('./settings').Settings} service.settings
 * @param {ReturnType<typeof import('./details').createDetails>} service.details
 * @param {AbortSignal} service.closing ends what is under way
 */
function createCallbacks({ settings, details: { details, outcome }, closing }) {
	/** @param {TaskRecord} record */
	function bodyFor(record) {
		const ended = details({ ...record, ...outcome(record) });
		const failed = ended.state === 'fail';
		const extras = {
			contract: {},
			withResult: { state: ended.state, resultJson: ended.resultJson },
			record: ended,
		};
		return {
			taskId: record.taskId,
			code: failed ? 501 : 200,
			msg: failed ? ended.failMsg : 'success',
			data: {
				task_id: record.taskId,
				callbackType: failed ? 'task_failed' : 'task_completed',
				...extras[settings.callbackVariant],
			},
		};
	}

	/**
	 * @param {string} taskId
	 * @param {CallbackOverrides} overrides
	 */
	function headersFor(taskId, overrides) {
		const { timestamp = unixSeconds(), secret = settings.webhookSecret } = overrides;
		const { signature = secret && sign(taskId, timestamp, secret) } = overrides;
		const headers = new Headers({
			'Content-Type': 'application/json',
			'User-Agent': 'media-task-service',
		});
		if (signature) {
			headers.set('X-Webhook-Timestamp', String(timestamp));
			headers.set('X-Webhook-Signature', signature);
		}
		for (const [name, value] of Object.entries(overrides.headers ?? {})) {
			if (value === undefined) headers.delete(name);
			else headers.set(name, value);
		}
		return Object.fromEntries(headers);
	}

	/**
	 * @param {string} url
	 * @param {CallbackAttempt} attempt
	 * @returns {Promise<Pick<CallbackAttempt, 'status' | 'answer'>>}
	 */
	async function post(url, { headers, body }) {
		const timeout = AbortSignal.timeout(settings.callbackTimeoutSeconds * 1000);
		try {
			const response = await fetch(url, {
				method: 'POST',
				headers,
				body: typeof body === 'string' ? body : JSON.stringify(body),
				redirect: 'manual',
				signal: AbortSignal.any([closing, timeout]),
			});
			return { status: response.status, answer: await response.text() };
		} catch (error) {
			const { cause = error } = /** @type {Error} */ (error);
			return { status: null, answer: timeout.aborted ? 'the receiver took too long' : `${cause}` };
		}
	}

	/**
	 * @param {TaskRecord} record
	 * @param {CallbackOverrides} overrides
	 * @param {number} number of the attempt, from 1
	 */
	async function attempt(record, overrides, number) {
		const url = overrides.url ?? record.callBackUrl;
		if (!url) throw new Error(`task ${record.taskId} has no callBackUrl: give a url`);
		/** @type {CallbackAttempt} */
		const entry = {
			at: Date.now(),
			attempt: number,
			status: null,
			body: overrides.body ?? bodyFor(record),
			headers: headersFor(record.taskId, overrides),
			answer: 'no answer yet',
		};
		record.callbacks.push(entry);
		Object.assign(entry, await post(url, entry));
		const answered = entry.status ?? `none (${entry.answer})`;
		settings.log(`callback ${record.taskId}, attempt ${number}: ${answered}`);
		return entry;
	}

	/** @param {TaskRecord} record */
	async function sendUntilAccepted(record) {
		for (let number = 1; ; number++) {
			const { status } = await attempt(record, overridesOf(record.faults), number);
			const retrySeconds = settings.callbackRetrySeconds[number - 1];
			const accepted = status !== null && status >= 200 && status < 300;
			if (accepted || retrySeconds === undefined) return;
			await pause(retrySeconds * 1000, undefined, { signal: closing });
		}
	}

	return {
		/**
		 * Sends the task's callback, with retries; a task without callBackUrl gets none.
		 *
		 * @param {TaskRecord} record
		 * @returns {Promise<void>} settles after the last attempt
		 */
		async deliver(record) {
			if (!record.callBackUrl || record.faults.noCallback) return;
			const copies = record.faults.callbackTwice ? 2 : 1;
			await Promise.all(Array.from({ length: copies }, () => sendUntilAccepted(record)));
		},

		/**
		 * Sends one callback by hand, without retries.
		 *
		 * @param {TaskRecord} record
		 * @param {CallbackOverrides} overrides
		 * @returns {Promise<{ status: number, body: string }>} the receiver's answer
		 * @throws {Error} when the receiver does not answer, or there is no URL to send to
		 */
		async sendOnce(record, overrides) {
			const { status, answer } = await attempt(record, overrides, 1);
			if (status === null) throw new Error(`The receiver did not answer: ${answer}`);
			return { status, body: answer };
		},
	};
}

module.exports = { createCallbacks, sign };
