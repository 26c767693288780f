/** What happened to a request that got no answer. */
export interface Disconnection {
	/** In words that follow the name of the host. */
	what: string;
	/** Whether the host may have received the request. */
	sent: boolean;
	timedOut: boolean;
}

/** Errors of the connection after which the service surely received nothing. */
const NEVER_SENT: Record<string, string> = {
	ECONNREFUSED: 'nothing answers at that address',
	ENOTFOUND: 'its host name is not known',
	EAI_AGAIN: 'its host name could not be looked up',
	EHOSTUNREACH: 'there is no route to its host',
	ENETUNREACH: 'there is no route to its network',
	ERR_INVALID_URL: 'its URL has not the form of one',
	CERT_HAS_EXPIRED: 'its certificate has expired',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
	SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate can not be verified',
	ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate belongs to another host',
};

const TIMED_OUT = new Set(['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT']);

/** @param error what n8n's HTTP helper threw */
export function disconnectionOf(error: unknown, timeoutSeconds: number): Disconnection {
	const code = codeOf(error);
	const neverSent = NEVER_SENT[code];
	if (neverSent) return { what: `can not be reached: ${neverSent}`, sent: false, timedOut: false };
	return TIMED_OUT.has(code)
		? { what: `gave no answer within ${timeoutSeconds} s`, sent: true, timedOut: true }
		: { what: 'broke off the connection before it answered', sent: true, timedOut: false };
}

/** Node's code of what happened to a connection, wherever n8n's wrapping put it. */
function codeOf(error: unknown): string {
	const seen = new Set<unknown>();
	for (let inner = error; inner && !seen.has(inner); ) {
		seen.add(inner);
		const { code, httpCode, cause } = inner as {
			code?: unknown;
			httpCode?: unknown;
			cause?: unknown;
		};
		for (const word of [code, httpCode]) if (typeof word === 'string' && word) return word;
		inner = cause;
	}
	return '';
}
