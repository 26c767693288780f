import { describeNetworkFailure } from '../../nodes/MediaGeneration/api/networkFailure';

const systemError = (code: string, syscall: string) =>
	Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

describe('describeNetworkFailure', () => {
	it.each([
		['ECONNREFUSED', 'connect'],
		['ENOTFOUND', 'getaddrinfo'],
		['EAI_AGAIN', 'getaddrinfo'],
		['EHOSTUNREACH', 'connect'],
		['ENETUNREACH', 'connect'],
		['CERT_HAS_EXPIRED', ''],
		['ERR_TLS_CERT_ALTNAME_INVALID', ''],
		['DEPTH_ZERO_SELF_SIGNED_CERT', ''],
		['SELF_SIGNED_CERT_IN_CHAIN', ''],
		['UNABLE_TO_VERIFY_LEAF_SIGNATURE', ''],
		['ERR_INVALID_URL', ''],
	])('is sure that nothing arrived after %s of %j', (code, syscall) => {
		const failure = describeNetworkFailure(systemError(code, syscall), 5);
		expect(failure).toMatchObject({ mayHaveArrived: false, isTimeout: false });
		expect(failure.reason).toContain("can't be reached");
	});

	it.each([
		['ECONNRESET', 'read'],
		['EPIPE', 'write'],
		['EHOSTUNREACH', 'read'],
		['ENETUNREACH', 'write'],
		['ERR_CANCELED', ''],
		['', ''],
	])('is not sure after %s of %j', (code, syscall) => {
		const failure = describeNetworkFailure(systemError(code, syscall), 5);
		expect(failure).toMatchObject({ mayHaveArrived: true, isTimeout: false });
	});

	it.each(['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT'])('knows the timeout %s', (code) => {
		expect(describeNetworkFailure(systemError(code, ''), 5)).toEqual({
			reason: 'gave no answer within 5 s',
			mayHaveArrived: true,
			isTimeout: true,
		});
	});

	it('finds code and system call wherever n8n wrapped them', () => {
		const cause = systemError('EHOSTUNREACH', 'connect');
		const wrapped = new Error('outer', { cause: Object.assign(new Error('inner'), { cause }) });
		expect(describeNetworkFailure(wrapped, 5).mayHaveArrived).toBe(false);
		const byHttpCode = Object.assign(new Error('outer'), { httpCode: 'ECONNREFUSED' });
		expect(describeNetworkFailure(byHttpCode, 5).mayHaveArrived).toBe(false);
		const byNumber = Object.assign(byHttpCode, { code: 7 });
		expect(describeNetworkFailure(byNumber, 5).mayHaveArrived).toBe(false);
	});

	it('ends on errors that are their own cause, and on none', () => {
		const loop = new Error('loop');
		loop.cause = loop;
		expect(describeNetworkFailure(loop, 5).mayHaveArrived).toBe(true);
		expect(describeNetworkFailure(undefined, 5).mayHaveArrived).toBe(true);
	});
});
