import { parseJson } from './json';

interface PostAnswer {
	status?: number;
	/** Parsed; undefined if it isn't JSON. */
	body?: unknown;
	/** Why no answer came, as a predicate of the server. */
	silence?: string;
}

/**
 * Sends a POST and reads the answer. It doesn't use n8n's helpers, because they keep the execution
 * and its data in memory. Redirects aren't followed. Nothing is thrown.
 * @param timeout in milliseconds
 */
export async function post(
	url: string,
	{ timeout, ...request }: { timeout: number; headers?: Record<string, string>; body?: string },
): Promise<PostAnswer> {
	const signal = AbortSignal.timeout(timeout);
	try {
		const response = await fetch(url, { ...request, method: 'POST', redirect: 'manual', signal });
		return { status: response.status, body: parseJson(await response.text()) };
	} catch (error) {
		// The error's message may contain the URL with its secrets.
		const { code = 'no connection' } = (error as { cause?: { code?: string } }).cause ?? {};
		if (signal.aborted) return { silence: `does not answer within ${timeout / 1000} seconds` };
		return { silence: `can't be reached (${code})` };
	}
}
