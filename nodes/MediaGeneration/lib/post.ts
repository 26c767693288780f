/** The answer to a POST, or why none came. */
export interface Answer {
	status?: number;
	text: string;
	failure?: string;
	isTimeout?: boolean;
}

/**
 * Sends a POST and reads the answer. It uses none of n8n's helpers, because those hold the
 * execution and its data. Redirects are not followed. Nothing is thrown.
 * @param timeout in milliseconds
 */
export async function post(
	url: string,
	{ timeout, ...request }: { timeout: number; headers?: Record<string, string>; body?: string },
): Promise<Answer> {
	const signal = AbortSignal.timeout(timeout);
	try {
		const response = await fetch(url, { ...request, method: 'POST', redirect: 'manual', signal });
		return { status: response.status, text: await response.text() };
	} catch (error) {
		const { message, cause } = error as Error & { cause?: { code?: string } };
		const failure = signal.aborted
			? `does not answer within ${timeout / 1000} seconds`
			: `can't be reached (${cause?.code ?? message})`;
		return { text: '', failure, isTimeout: signal.aborted };
	}
}
