import { describeNetworkFailure } from '../../../nodes/MediaGeneration/api/networkFailure';

const systemError = (code: string, syscall: string) =>
	Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

const neverSent = { reason: expect.stringMatching(/^can't be reached: ./), isRejected: true };
const brokenOff = { reason: 'broke off the connection before it answered', isRejected: false };
const hint = expect.stringContaining('Request Timeout') as string;
const timedOut = { reason: 'gave no answer within 5 s', hint, isRejected: false };

it.each<[string, string[], object]>([
	['connect', ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'], neverSent],
	['getaddrinfo', ['ENOTFOUND', 'EAI_AGAIN'], neverSent],
	['', ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_INVALID_URL'], neverSent],
	['', ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'], neverSent],
	['', ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'], neverSent],
	['read', ['ECONNRESET', 'EHOSTUNREACH'], brokenOff],
	['write', ['EPIPE', 'ENETUNREACH'], brokenOff],
	['', [''], brokenOff],
	['', ['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT'], timedOut],
])('when %j ends in one of %j, it says whether the request may have arrived', (...row) => {
	const [syscall, codes, failure] = row;
	for (const code of codes)
		expect([code, describeNetworkFailure(systemError(code, syscall), 5)]).toEqual([code, failure]);
});

const blocked = Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' });

it.each([
	blocked,
	{ name: 'SsrfBlockedHostnameError' },
	Object.assign(new Error('wrapped', { cause: blocked }), { code: 'ECONNRESET' }),
])("takes an error of n8n's guard for a request that was never sent, with what to set", (error) => {
	const what = expect.stringContaining('N8N_SSRF_ALLOWED_IP_RANGES') as string;
	expect(describeNetworkFailure(error, 5)).toEqual({ ...neverSent, hint: what });
});

const innermost = { cause: new Error('innermost') };
const inner = { cause: Object.assign(systemError('EHOSTUNREACH', 'connect'), innermost) };
const loop = new Error('loop');
loop.cause = loop;
it.each<[string, unknown, boolean]>([
	['a cause', new Error('outer', { cause: inner }), true],
	['httpCode beside a number', { code: 7, httpCode: 'ECONNREFUSED' }, true],
	['an error that is its own cause', loop, false],
	['nothing', undefined, false],
])('looks for code and system call in %s', (_, error, isRejected) => {
	expect(describeNetworkFailure(error, 5)).toMatchObject({ isRejected });
});
