import { findNetworkFailure } from '../../../nodes/MediaGeneration/api/failure';

const systemError = (code: string, syscall: string) =>
	Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

const neverSent = { kind: 'unreachable', reason: expect.stringMatching(/^can't be reached: ./) };
const brokenOff = { kind: 'lost', reason: 'broke off the connection before it answered' };
const next = expect.stringContaining('Request Timeout') as string;
const timedOut = { kind: 'lost', reason: 'gave no answer within 5 s', next };

it.each<[string, string[], object]>([
	['connect', ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'], neverSent],
	['getaddrinfo', ['ENOTFOUND', 'EAI_AGAIN'], neverSent],
	['', ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_INVALID_URL'], neverSent],
	['read', ['ECONNRESET', 'EHOSTUNREACH'], brokenOff],
	['write', ['EPIPE', 'ENETUNREACH'], brokenOff],
	['', [''], brokenOff],
	['', ['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT'], timedOut],
])('when %j ends in one of %j, it says whether the request may have arrived', (...row) => {
	const [syscall, codes, failure] = row;
	for (const code of codes)
		expect([code, findNetworkFailure(systemError(code, syscall), 5)]).toEqual([code, failure]);
});

const blocked = Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' });

it.each([
	blocked,
	{ name: 'SsrfBlockedHostnameError' },
	Object.assign(new Error('wrapped', { cause: blocked }), { code: 'ECONNRESET' }),
])("takes an error of n8n's guard for a request that was never sent, with what to set", (error) => {
	const what = expect.stringContaining('N8N_SSRF_ALLOWED_IP_RANGES') as string;
	expect(findNetworkFailure(error, 5)).toEqual({ ...neverSent, next: what });
});

const innermost = { cause: new Error('innermost') };
const inner = { cause: Object.assign(systemError('EHOSTUNREACH', 'connect'), innermost) };
const loop = new Error('loop');
loop.cause = loop;
it.each<[string, unknown, string]>([
	['a cause', new Error('outer', { cause: inner }), 'unreachable'],
	['an error that is its own cause', loop, 'lost'],
])('looks for code and system call in %s', (_, error, kind) => {
	expect(findNetworkFailure(error, 5)).toMatchObject({ kind });
});
