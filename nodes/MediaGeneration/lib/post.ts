import { parseJson } from './json';
import { decodePart } from './url';

/**
 * Sends a POST and reads the answer. n8n's helpers aren't used, because they keep the execution and its
 * data in memory. Redirects aren't followed. Nothing is thrown.
 * @param url may have a login, which fetch doesn't take: it is sent in a header
 * @param timeout in milliseconds
 * @returns `body` is parsed, and undefined if it isn't JSON; `silence` says why no answer came, as the
 *   end of a sentence about the server
 */
export async function post(
	url: string,
	{ timeout, headers, body }: { timeout: number; headers?: Record<string, string>; body?: string },
) {
	const signal = AbortSignal.timeout(timeout);
	const address = new URL(url);
	const login = [address.username, address.password].map(decodePart).join(':');
	const Authorization = `Basic ${Buffer.from(login).toString('base64')}`;
	address.username = '';
	address.password = '';
	try {
		const response = await fetch(address.href, {
			method: 'POST',
			headers: { ...headers, ...(login !== ':' && { Authorization }) },
			body,
			redirect: 'manual',
			signal,
		});
		return { httpStatus: response.status, body: parseJson(await response.text()) };
	} catch (error) {
		// The error's message may contain the URL with its secrets.
		const { code = 'no connection' } = (error as { cause?: { code?: string } }).cause ?? {};
		if (signal.aborted) return { silence: `does not answer within ${timeout / 1000} seconds` };
		return { silence: `can't be reached (${code})` };
	}
}
