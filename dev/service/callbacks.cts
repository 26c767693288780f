import { describe, dialects } from './dialects.cts';
import type { Context } from './index.cts';
import { signHeaders } from './signHeaders.cts';
import type { TaskRecord } from './tasks.cts';

export interface SentCallback {
	/** The receiver's HTTP status; null when there was no answer. */
	status: number | null;
	headers: Record<string, string>;
	/** The receiver's body, or why there was none. */
	answer: string;
}

export interface CallbackOverrides {
	/** Takes the place of the task's callBackUrl. */
	url?: string;
	/** Unix time in seconds. */
	timestamp?: number;
	/** The key in place of the service's. A blank one leaves the signature's headers out. */
	secret?: string;
	body?: object;
	/** Headers in place of the usual ones, with names in lower case. An undefined one is left out. */
	headers?: Record<string, string | undefined>;
	/** Hangs up before the answer. */
	signal?: AbortSignal;
}

/** Moves the login of a URL into a header, as senders do: `fetch` takes no URL with a login. */
function splitLogin(url: string) {
	const address = new URL(url);
	const { username, password } = address;
	Object.assign(address, { username: '', password: '' });
	const login = [username, password].map(decodeURIComponent).join(':');
	const authorization = login === ':' ? undefined : `Basic ${btoa(login)}`;
	return { address, login: { ...(authorization && { authorization }) } };
}

/** Sends the callbacks of tasks. */
export function createCallbacks(context: Context) {
	const { settings, closing, wait } = context;
	const { callbackHeaders, describeCallback } = dialects[settings.dialect];

	function createHeaders(body: object, overrides: CallbackOverrides) {
		const { timestamp, secret = settings.webhookSecret } = overrides;
		const headers = Object.entries({
			...callbackHeaders,
			...(secret && signHeaders(body, secret, timestamp)),
			...overrides.headers,
		});
		return Object.fromEntries(headers.filter((header): header is [string, string] => !!header[1]));
	}

	/** Sends a callback once, and records the answer. */
	async function send(record: TaskRecord, overrides: CallbackOverrides = {}) {
		const { url = record.callBackUrl, signal = closing } = overrides;
		const { body = describeCallback(describe(context, record)) } = overrides;
		if (!url) throw new Error(`task ${record.taskId} has no callBackUrl: give a url`);
		const headers = createHeaders(body, overrides);
		const sent: SentCallback = { status: null, headers, answer: 'no answer yet' };
		record.callbacks.push(sent);
		const timeout = AbortSignal.timeout(settings.callbackTimeoutSeconds * 1000);
		const { address, login } = splitLogin(url);
		try {
			const response = await fetch(address, {
				method: 'POST',
				headers: { ...headers, ...login },
				body: JSON.stringify(body),
				redirect: 'manual',
				signal: AbortSignal.any([closing, timeout, signal]),
			});
			Object.assign(sent, { status: response.status, answer: await response.text() });
		} catch (error) {
			sent.answer = timeout.aborted
				? 'the receiver took too long'
				: String((error instanceof Error && error.cause) || error);
		}
		settings.log?.(`callback ${record.taskId}: ${sent.status ?? `none (${sent.answer})`}`);
		return sent;
	}

	/** Sends a callback, and repeats it as the settings say until its receiver accepts it. */
	async function sendUntilAccepted(record: TaskRecord) {
		for (const retrySeconds of [...settings.callbackRetrySeconds, undefined]) {
			const { status } = await send(record);
			const accepted = status !== null && status >= 200 && status < 300;
			if (accepted || retrySeconds === undefined) return;
			await wait(retrySeconds);
		}
	}

	return {
		/** Sends the task's callback, with retries. A task without callBackUrl gets none. */
		async deliver(record: TaskRecord) {
			if (!settings.callbacks || !record.callBackUrl || record.faults.noCallback) return;
			const copies = record.faults.callbackTwice ? 2 : 1;
			await Promise.all(Array.from({ length: copies }, () => sendUntilAccepted(record)));
		},

		/**
		 * Sends one callback by hand, without retries, and returns the receiver's answer.
		 * @throws {Error} when the receiver does not answer, or there is no URL to send to
		 */
		async sendOnce(record: TaskRecord, overrides: CallbackOverrides) {
			const { status, answer } = await send(record, overrides);
			if (status === null) throw new Error(`The receiver did not answer: ${answer}`);
			return { status, body: answer };
		},
	};
}
