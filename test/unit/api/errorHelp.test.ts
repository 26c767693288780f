import { explainRefusal } from '../../../nodes/MediaGeneration/api/errorHelp';

it.each([
	[400, '', 'could not read the request'],
	[401, '', 'does not accept the access token'],
	[402, '', 'too few credits'],
	[403, '', 'turned the request away'],
	[404, '', 'nothing at that address'],
	[405, 'method not allowed', 'does not take this kind of request'],
	[405, 'call frequency too high', 'too many requests'],
	[405, 'too frequent', 'too many requests'],
	[413, '', 'too large for the service'],
	[418, 'teapot', 'refused the request'],
	[422, 'the rate limit of 30 fps is exceeded', 'did not accept a field'],
	[429, 'Too many requests', 'too many requests'],
	[429, 'Insufficient credits', 'too few credits'],
	[430, 'Rate limit exceeded', 'too many requests'],
	[430, 'rate-limited', 'too many requests'],
	[430, 'ratelimit', 'too many requests'],
	[430, 'could not generate', 'refused the request'],
	[430, 'the integrated separator failed', 'refused the request'],
	[430, 'your balance is empty', 'too few credits'],
	[430, 'no credit left', 'too few credits'],
	[433, 'rate limit', 'usage limit of this access token'],
	[455, '', 'under maintenance'],
	[500, '', 'internal fault'],
	[502, 'Bad Gateway', 'internal fault'],
	[501, '', 'could not generate'],
	[505, '', 'switched off'],
])('says of %d %j what to do, and waits out the rate alone', (code, text, message) => {
	for (const httpStatus of [200, code]) {
		const help = explainRefusal(httpStatus, code, text);
		expect(help.message).toContain(message);
		expect(help.message).toContain(text ? `(${code}: ${text})` : `(${code})`);
		expect(help.hint).not.toBe('');
		expect(help.isRateLimited).toBe(message === 'too many requests');
	}
});

it.each([
	['sure', true, [400, 401, 402, 403, 404, 405, 413, 422, 429, 433, 455]],
	['not sure', false, [0, 201, 302, 408, 409, 418, 430, 499, 500, 501, 502, 503, 504, 505]],
])('is %s that these did nothing, in the body or as HTTP status', (_, isRejected, codes) => {
	for (const code of codes)
		for (const httpStatus of [200, code])
			expect([code, explainRefusal(httpStatus, code, '')]).toMatchObject([code, { isRejected }]);
});

it('is sure of a refusal for rate or credits, whatever its code', () => {
	expect(explainRefusal(200, 430, 'Rate limit exceeded').isRejected).toBe(true);
	expect(explainRefusal(405, 405, 'Insufficient credits').isRejected).toBe(true);
});

it.each([300, 302, 408, 499, 500, 502])('is not sure of a code behind HTTP %d', (httpStatus) => {
	expect(explainRefusal(httpStatus, 422, '').isRejected).toBe(false);
	expect(explainRefusal(httpStatus, 429, '').isRateLimited).toBe(false);
});

it.each<[string, string[]]>([
	[
		'did not accept a field',
		[
			'This field is required',
			'This aspect_ratio is not within the range of allowed options',
			'aspect_ratio is required',
			'image_urls[0].url cannot be empty.',
		],
	],
	['too few credits', ['Credits insufficient', 'credits insufficient.']],
	[
		'internal fault',
		[
			'Internal Server Error',
			'Server exception, please try again later or contact customer service',
			'The task was created, but prompt is required',
			'prompt is required. Internal Server Error',
			`${'x'.repeat(300_000)} is`,
			'',
		],
	],
])('takes for "%s" the texts of code 500: %j', (message, texts) => {
	const isRejected = message !== 'internal fault';
	for (const text of texts) {
		const refusal = explainRefusal(200, 500, text);
		expect([text, refusal]).toMatchObject([text, { isRejected, isRateLimited: false }]);
		expect(refusal.message).toContain(message);
		expect(explainRefusal(500, 500, text).isRejected).toBe(false);
	}
});
