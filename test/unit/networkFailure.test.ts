import { describeNetworkFailure } from '../../nodes/MediaGeneration/api/networkFailure';

const systemError = (code: string, syscall: string) =>
	Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

const describeError = (code: string, syscall: string) =>
	describeNetworkFailure(systemError(code, syscall), 5);

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
		expect(describeError(code, syscall)).toEqual({
			reason: expect.stringMatching(/^can't be reached: ./),
			mayHaveArrived: false,
			isTimeout: false,
		});
	});

	it.each([
		['ECONNRESET', 'read'],
		['EPIPE', 'write'],
		['EHOSTUNREACH', 'read'],
		['ENETUNREACH', 'write'],
		['', ''],
	])('is not sure after %s of %j', (code, syscall) => {
		const unsure = { mayHaveArrived: true, isTimeout: false };
		expect(describeError(code, syscall)).toMatchObject(unsure);
	});

	it.each(['ETIMEDOUT', 'ECONNABORTED', 'ESOCKETTIMEDOUT'])('knows the timeout %s', (code) => {
		expect(describeError(code, '')).toEqual({
			reason: 'gave no answer within 5 s',
			mayHaveArrived: true,
			isTimeout: true,
		});
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
