/** Why a request got no answer. */
interface NetworkFailure {
	/** Follows the name of the host in a sentence. */
	reason: string;
	/** The next step for the user, where the reason has one of its own. */
	hint?: string;
	/** The host certainly received nothing. */
	isRejected: boolean;
}

/** An error of n8n's guard against requests into its network, which refuses to connect. */
const GUARD_ERROR = /^SsrfBlocked(Ip|Hostname)Error$/;

const GUARD_HINT =
	'Nothing was sent. If this n8n is to reach that address, ask its administrator to add it to the environment variable N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.';

/** Failures before the request was sent, by system call and code. The host received nothing. */
const NEVER_SENT: Array<[pattern: RegExp, reason: string, hint?: string]> = [
	[/ GUARD$/, "this n8n's SSRF protection blocks that address", GUARD_HINT],
	[/ ECONNREFUSED$/, 'nothing answers at that address'],
	[/ (ENOTFOUND|EAI_AGAIN)$/, 'its host name is not known'],
	[/ ERR_INVALID_URL$/, 'its URL is malformed'],
	[
		/ (CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT)_/,
		'its certificate has expired, is not trusted, or belongs to another host',
	],
	// A route can also be lost after the request was sent.
	[/^connect E(HOST|NET)UNREACH$/, 'there is no route to its host'],
];

export const SLOW_HINT = "If it is just slow, raise 'Request Timeout (Seconds)' in Options.";

const TIMEOUT = /^(ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/;

/** @param error what n8n's HTTP helper threw: n8n wraps Node's errors */
export function describeNetworkFailure(error: unknown, timeoutSeconds: number): NetworkFailure {
	let code = '';
	let syscall: unknown;
	for (let depth = 0, inner = error; inner && depth < 10; depth++) {
		const layer = inner as Record<string, unknown>;
		if (GUARD_ERROR.test(String(layer.name))) code = 'GUARD';
		code ||= [layer.code, layer.httpCode].find((value) => typeof value === 'string') ?? '';
		syscall ??= layer.syscall;
		inner = layer.cause;
	}
	const failed = `${String(syscall)} ${code}`;
	const [, reason, hint] = NEVER_SENT.find(([pattern]) => pattern.test(failed)) ?? [];
	if (reason) return { reason: `can't be reached: ${reason}`, hint, isRejected: true };
	if (!TIMEOUT.test(code))
		return { reason: 'broke off the connection before it answered', isRejected: false };
	return {
		reason: `gave no answer within ${timeoutSeconds} s`,
		hint: SLOW_HINT,
		isRejected: false,
	};
}
