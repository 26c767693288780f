/** Why a request got no answer. */
export interface NetworkFailure {
	/** Follows the name of the host in a sentence. */
	reason: string;
	/** The host may have received the request. */
	mayHaveArrived: boolean;
	isTimeout: boolean;
	/** The next step for the user, where the reason has one of its own. */
	hint?: string;
}

/** The errors of n8n's own guard against requests into its network. It refuses before it connects. */
const GUARD_ERRORS = new Set(['SsrfBlockedIpError', 'SsrfBlockedHostnameError']);

const BLOCKED: NetworkFailure = {
	reason: "can't be reached: this n8n's SSRF protection blocks that address",
	mayHaveArrived: false,
	isTimeout: false,
	hint: 'Nothing was sent. If this n8n is to reach that address, ask its administrator to add it to the environment variable N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.',
};

/** Codes of failures before the request was sent. The host received nothing. */
const NEVER_SENT: Record<string, string> = {
	ECONNREFUSED: 'nothing answers at that address',
	ENOTFOUND: 'its host name is not known',
	EAI_AGAIN: 'its host name could not be looked up',
	ERR_INVALID_URL: 'its URL is malformed',
	CERT_HAS_EXPIRED: 'its certificate has expired',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
	SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate can't be verified",
	ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate belongs to another host',
};

/** Codes that mean the same while connecting. A route can also be lost after the request was sent. */
const NEVER_SENT_WHILE_CONNECTING: Record<string, string> = {
	EHOSTUNREACH: 'there is no route to its host',
	ENETUNREACH: 'there is no route to its network',
};

const TIMEOUT_CODES = new Set(['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT']);

/** @param error what n8n's HTTP helper threw */
export function describeNetworkFailure(error: unknown, timeoutSeconds: number): NetworkFailure {
	const { code, isConnecting, isBlocked } = findSystemError(error);
	if (isBlocked) return BLOCKED;
	const neverSent =
		NEVER_SENT[code] ?? (isConnecting ? NEVER_SENT_WHILE_CONNECTING[code] : undefined);
	if (neverSent)
		return { reason: `can't be reached: ${neverSent}`, mayHaveArrived: false, isTimeout: false };
	return TIMEOUT_CODES.has(code)
		? { reason: `gave no answer within ${timeoutSeconds} s`, mayHaveArrived: true, isTimeout: true }
		: {
				reason: 'broke off the connection before it answered',
				mayHaveArrived: true,
				isTimeout: false,
			};
}

/** Node's code and system call, or the refusal of n8n's guard, at any depth of n8n's wrapping. */
function findSystemError(error: unknown): {
	code: string;
	isConnecting: boolean;
	isBlocked: boolean;
} {
	const seen = new Set<unknown>();
	let code = '';
	let isConnecting = false;
	let isBlocked = false;
	for (let inner = error; inner && !seen.has(inner); ) {
		seen.add(inner);
		const layer = inner as Partial<
			Record<'name' | 'code' | 'httpCode' | 'syscall' | 'cause', unknown>
		>;
		const word = [layer.code, layer.httpCode].find((value) => typeof value === 'string' && value);
		code ||= (word as string | undefined) ?? '';
		isConnecting ||= layer.syscall === 'connect';
		isBlocked ||= GUARD_ERRORS.has(layer.name as string);
		inner = layer.cause;
	}
	return { code, isConnecting, isBlocked };
}
