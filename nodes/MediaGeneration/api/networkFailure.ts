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

/** The errors of n8n's guard against requests into its network. It refuses to connect. */
const GUARD_ERRORS = new Set(['SsrfBlockedIpError', 'SsrfBlockedHostnameError']);

const GUARD_HINT =
	'Nothing was sent. If this n8n is to reach that address, ask its administrator to add it to the environment variable N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.';

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
	// A route can also be lost after the request was sent. These are of connecting only.
	'connect EHOSTUNREACH': 'there is no route to its host',
	'connect ENETUNREACH': 'there is no route to its network',
};

const TIMEOUT_CODES = new Set(['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT']);

/** The deepest wrapping of an error that is looked into. */
const DEEPEST = 10;

/** @param error what n8n's HTTP helper threw */
export function describeNetworkFailure(error: unknown, timeoutSeconds: number): NetworkFailure {
	let code = '';
	let syscall: unknown;
	// n8n wraps Node's errors.
	for (let depth = 0, inner = error; inner && depth < DEEPEST; depth++) {
		const layer = inner as Partial<
			Record<'name' | 'code' | 'httpCode' | 'syscall' | 'cause', unknown>
		>;
		if (GUARD_ERRORS.has(layer.name as string))
			return neverSent("this n8n's SSRF protection blocks that address", GUARD_HINT);
		code ||= [layer.code, layer.httpCode].find((value) => typeof value === 'string') ?? '';
		syscall ??= layer.syscall;
		inner = layer.cause;
	}
	const reason = NEVER_SENT[code] ?? NEVER_SENT[`${String(syscall)} ${code}`];
	if (reason) return neverSent(reason);
	const isTimeout = TIMEOUT_CODES.has(code);
	return {
		reason: isTimeout
			? `gave no answer within ${timeoutSeconds} s`
			: 'broke off the connection before it answered',
		mayHaveArrived: true,
		isTimeout,
	};
}

const neverSent = (reason: string, hint?: string): NetworkFailure => ({
	reason: `can't be reached: ${reason}`,
	mayHaveArrived: false,
	isTimeout: false,
	...(hint && { hint }),
});
