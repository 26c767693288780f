import { describeNetworkFailure } from '../../nodes/MediaGeneration/api/networkFailure';

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
	it.each<[keyof typeof outcomes, string, string]>([
		['never arrived', 'ECONNREFUSED', 'connect'],
		['never arrived', 'ENOTFOUND', 'getaddrinfo'],
		['never arrived', 'EAI_AGAIN', 'getaddrinfo'],
		['never arrived', 'EHOSTUNREACH', 'connect'],
		['never arrived', 'ENETUNREACH', 'connect'],
		['never arrived', 'CERT_HAS_EXPIRED', ''],
		['never arrived', 'ERR_TLS_CERT_ALTNAME_INVALID', ''],
		['never arrived', 'DEPTH_ZERO_SELF_SIGNED_CERT', ''],
		['never arrived', 'SELF_SIGNED_CERT_IN_CHAIN', ''],
		['never arrived', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', ''],
		['never arrived', 'ERR_INVALID_URL', ''],
		['may have arrived', 'ECONNRESET', 'read'],
		['may have arrived', 'EPIPE', 'write'],
		['may have arrived', 'EHOSTUNREACH', 'read'],
		['may have arrived', 'ENETUNREACH', 'write'],
		['may have arrived', '', ''],
		['timed out', 'ETIMEDOUT', ''],
		['timed out', 'ECONNABORTED', ''],
		['timed out', 'ESOCKETTIMEDOUT', ''],
	])('says that a request %s after %s of %j', (outcome, code, syscall) => {
		const failure = describeNetworkFailure(systemError(code, syscall), 5);
		expect(failure).toEqual(outcomes[outcome]);
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
