import { meaningOf } from '../../nodes/MediaGeneration/service/answers';

describe('meaningOf', () => {
	it.each([
		[401, '', 'does not accept the access token'],
		[402, '', 'too few credits'],
		[422, 'duration is required', 'did not accept a field'],
		[429, 'Too many requests', 'too many requests'],
		[430, 'Rate limit exceeded', 'too many requests'],
		[405, 'call frequency too high', 'too many requests'],
		[429, 'Insufficient credits', 'too few credits'],
		[405, 'method not allowed', 'refused the request'],
		[455, '', 'under maintenance'],
		[500, '', 'internal fault'],
		[502, 'Bad Gateway', 'internal fault'],
		[501, '', 'could not generate'],
		[505, '', 'switched off'],
		[418, 'teapot', 'refused the request'],
	])('of %d %j', (code, text, what) => {
		expect(meaningOf(code, text).what).toContain(what);
		expect(meaningOf(code, text).next).not.toBe('');
	});
});
