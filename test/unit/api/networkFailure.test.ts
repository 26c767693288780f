import { describeNetworkFailure } from '../../../nodes/MediaGeneration/api/networkFailure';

const systemError = (code: string, syscall: string) =>
	Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

describe('describeNetworkFailure', () => {
	const neverSent = expect.stringMatching(/^can't be reached: ./);
	const brokenOff = 'broke off the connection before it answered';
	const outcomes = {
		'never arrived': { reason: neverSent, mayHaveArrived: false, isTimeout: false },
		'may have arrived': { reason: brokenOff, mayHaveArrived: true, isTimeout: false },
		'timed out': { reason: 'gave no answer within 5 s', mayHaveArrived: true, isTimeout: true },
	};
	it.each(['SsrfBlockedIpError', 'SsrfBlockedHostnameError'])(
		"takes %s of n8n's guard for a request that was never sent, with what to set",
		(name) => {
			const blocked = Object.assign(new Error('blocked'), { name });
			for (const error of [blocked, new Error('wrapped', { cause: blocked })])
				expect(describeNetworkFailure(error, 5)).toEqual({
					...outcomes['never arrived'],
					hint: expect.stringContaining('N8N_SSRF_ALLOWED_IP_RANGES') as string,
				});
		},
	);

	it.each<[keyof typeof outcomes, string, string[]]>([
		['never arrived', 'connect', ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']],
		['never arrived', 'getaddrinfo', ['ENOTFOUND', 'EAI_AGAIN']],
		['never arrived', '', ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID']],
		['never arrived', '', ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN']],
		['never arrived', '', ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_INVALID_URL']],
		['may have arrived', 'read', ['ECONNRESET', 'EHOSTUNREACH']],
		['may have arrived', 'write', ['EPIPE', 'ENETUNREACH']],
		['may have arrived', '', ['']],
		['timed out', '', ['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT']],
	])('says that a request %s when %j ends in one of %j', (outcome, syscall, codes) => {
		for (const code of codes) {
			const failure = describeNetworkFailure(systemError(code, syscall), 5);
			expect([code, failure]).toEqual([code, outcomes[outcome]]);
		}
	});

	const cause = systemError('EHOSTUNREACH', 'connect');
	const inner = Object.assign(new Error('inner'), { cause });
	const loop = new Error('loop');
	loop.cause = loop;
	it.each<[string, unknown, boolean]>([
		['a cause', new Error('outer', { cause: inner }), false],
		['httpCode', Object.assign(new Error('outer'), { httpCode: 'ECONNREFUSED' }), false],
		['httpCode beside a number', { code: 7, httpCode: 'ECONNREFUSED' }, false],
		['an error that is its own cause', loop, true],
		['nothing', undefined, true],
	])('looks for code and system call in %s', (_, error, mayHaveArrived) => {
		expect(describeNetworkFailure(error, 5)).toMatchObject({ mayHaveArrived });
	});
});
